// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANEL_HPP

/// \file
/// Panels: neighbouring strided rows that a team works on at one time.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <cstdint>
#include <numeric>

namespace KokkosSoftmax::Impl {

/// How the slots of a team (loads that its lanes have in a row) are dealt out to rows.
struct Panel {
  int rows = 1;
  int lanes_per_row = 1;  // slots of a row
};

/// The rows that lie side by side, and what there is for a panel of them.
struct PanelProblem {
  std::int64_t neighbours;
  bool contiguous;  // the first row's next entry follows the last row's
  std::int64_t entry_bytes;
  int most_rows;
  int slots;      // of a team
  int max_teams;  // resident at one time
};

/// The part of the device that so many panels occupy, each divided over a whole number of teams.
inline double occupied_by(std::int64_t panels, int max_teams) {
  if (panels <= max_teams) return static_cast<double>(panels * (max_teams / panels)) / max_teams;
  return static_cast<double>(panels) /
         static_cast<double>(divide_up(panels, max_teams) * max_teams);
}

/// Pieces of memory that don't begin where a cache line does have parts of lines at both ends: they
/// should be long, and begin where a sector does if they can. All that is contiguous is best taken
/// as one piece. Smaller panels where they occupy more of the device.
inline int panel_rows(const PanelProblem& p) {
  if (p.most_rows == 1) return 1;
  const std::int64_t line = cache_line / p.entry_bytes;
  const bool in_lines = p.neighbours % line == 0;
  const std::int64_t most = in_lines ? p.most_rows / 2 : p.most_rows;
  if (p.neighbours <= most) return static_cast<int>(p.neighbours);
  const std::int64_t step = in_lines ? line : line / 4;
  const auto rows_of = [&](std::int64_t panels) {
    return std::min(divide_up(divide_up(p.neighbours, panels), step) * step, most);
  };
  const std::int64_t fewest = divide_up(p.neighbours, most);
  // as many panels as leave each of them as many teams, or as are taken in the same time
  const std::int64_t full = fewest <= p.max_teams ? p.max_teams / (p.max_teams / fewest)
                                                  : divide_up(fewest, p.max_teams) * p.max_teams;
  const auto occupied = [&](std::int64_t panels) {
    return occupied_by(divide_up(p.neighbours, rows_of(panels)), p.max_teams);
  };
  constexpr double worth_it = 0.05;
  return static_cast<int>(rows_of(occupied(full) < occupied(fewest) + worth_it ? fewest : full));
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
