// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SPLIT_PANEL_HPP
#define KOKKOSSOFTMAX_SRC_SPLIT_PANEL_HPP

/// \file
/// Panels: neighbouring strided rows that a team works on at one time.

#include <Hardware.hpp>
#include <algorithm>
#include <cstdint>
#include <numeric>

namespace KokkosSoftmax::Impl {

inline std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How the slots of a team (loads that its lanes have in a row) are dealt out to rows.
struct Panel {
  int rows = 1;
  int sharers = 1;  // slots of a row
};

/// The rows that lie side by side, and what there is for a panel of them.
struct PanelProblem {
  std::int64_t neighbours;
  bool contiguous;  // the first row's next entry follows the last row's
  std::int64_t entry_bytes;
  int most_rows;
  int slots;  // of a team
};

/// Pieces of memory that don't begin where a cache line does have parts of lines at both ends: they
/// should be long. All that is contiguous is best taken as one piece.
inline int panel_rows(const PanelProblem& p) {
  const std::int64_t line = cache_line / p.entry_bytes;
  const bool aligned = p.neighbours % line == 0;
  const std::int64_t most = aligned ? std::max(1, p.most_rows / 2) : p.most_rows;
  const std::int64_t panels = divide_up(p.neighbours, most);
  const std::int64_t rows = divide_up(p.neighbours, panels);
  return static_cast<int>(panels == 1 ? rows : std::min(divide_up(rows, line) * line, most));
}

/// As many sharers as there are slots for. Where memory is contiguous rather a few less, so that
/// the team goes over it in steps of whole cache lines.
inline Panel make_panel(const PanelProblem& p) {
  const int rows = panel_rows(p);
  const int all = p.slots / rows;
  const auto line = static_cast<int>(cache_line / p.entry_bytes);
  const int of_lines = all - all % (line / std::gcd(line, rows));
  const bool in_lines = p.contiguous && rows == p.neighbours && 4 * of_lines >= 3 * all;
  return {rows, in_lines ? of_lines : all};
}

}  // namespace KokkosSoftmax::Impl

#endif
