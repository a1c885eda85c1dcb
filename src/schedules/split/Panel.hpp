// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANEL_HPP

/// \file
/// Panels. A panel consists of the neighbouring strided rows that a team works on at one time.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <cstdint>
#include <numeric>

namespace KokkosSoftmax::Impl {

/// How the slots of a team are assigned to the rows of a panel: in turn, so that slot s belongs to
/// row s % rows. A lane has one or several slots, and each slot processes some columns of one row.
struct Panel {
  int rows = 1;
  int lanes_per_row = 1;  // slots that share a row
};

/// The rows that lie side by side and are to be divided into panels, and the limits of a panel.
struct PanelProblem {
  std::int64_t neighbours;
  bool contiguous;  // the first row's next entry follows the last row's in memory
  std::int64_t entry_bytes;
  int most_rows;
  int slots;      // of a team
  int max_teams;  // resident at one time
};

/// The fraction of the device that `panels` panels occupy if each is divided over a whole number of
/// teams.
inline double occupied_by(std::int64_t panels, int max_teams) {
  if (panels <= max_teams) return static_cast<double>(panels * (max_teams / panels)) / max_teams;
  return static_cast<double>(panels) /
         static_cast<double>(divide_up(panels, max_teams) * max_teams);
}

/// The number of rows of a panel. A panel reads one piece of memory per column. Pieces that don't
/// begin at a cache line contain parts of cache lines at both ends. Such pieces should be long, and
/// they should begin at a sector if possible. If all neighbours fit a panel, they are best taken as
/// one piece. Panels are smaller than possible if they then occupy more of the device.
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
  // The largest number of panels that leaves as many teams to each panel as the fewest panels do
  // or, if there are more panels than teams, that is processed in the same number of rounds.
  const std::int64_t full = fewest <= p.max_teams ? p.max_teams / (p.max_teams / fewest)
                                                  : divide_up(fewest, p.max_teams) * p.max_teams;
  const auto occupied = [&](std::int64_t panels) {
    return occupied_by(divide_up(p.neighbours, rows_of(panels)), p.max_teams);
  };
  constexpr double worth_it = 0.05;
  return static_cast<int>(rows_of(occupied(full) < occupied(fewest) + worth_it ? fewest : full));
}

/// Gives each row as many slots as there are. If the memory of the panel is contiguous, each row
/// gets a few slots less, so that the team advances in steps of whole cache lines, unless more than
/// a quarter of the slots would be left over.
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
