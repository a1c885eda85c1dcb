// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_SECTORPANEL_HPP
#define KOKKOSSOFTMAX_SRC_ROW_SECTORPANEL_HPP

/// \file
/// The rows of teams in AccessMode::whole_sectors, and the entries of y that each team writes.
///
/// GPUs write memory in sectors of 32 bytes. If two teams write a part of a sector each, the L2
/// cache often evicts the sector between the two writes. Then the sector is read from memory and
/// written twice. This happens in each column at each border between teams that isn't a border of
/// sectors.
///
/// So each sector is written by the team in whose rows it begins, even if it ends in rows of the
/// next team. A team therefore also reduces the first rows of the next team: the rows of teams
/// overlap. They don't if y is x, because a team would read entries that the next team has
/// overwritten.
///
/// The rows of the innermost outer axis are neighbours in memory. They are a *run*.

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// How the rows of a call are divided among teams.
template <class Y>
class SectorPanels {
 public:
  static constexpr int sector = 32 / static_cast<int>(sizeof(Y));  // in entries

  /// Whether there are runs in x and in y.
  template <class Problem>
  static bool serves(const Problem& problem) {
    const auto& fastest = problem.outer[problem.outer_rank - 1];
    return fastest.x_stride == 1 && fastest.y_stride == 1;
  }
  template <class Problem>
  static bool is_in_place(const Problem& problem) {
    return static_cast<const void*>(problem.x) == static_cast<const void*>(problem.y);
  }

  /// For teams of at most `rows` rows.
  template <class Problem>
  SectorPanels(const Problem& problem, int rows)
      : m_run(problem.outer[problem.outer_rank - 1].extent),
        m_runs(problem.rows / m_run),
        m_overlap(is_in_place(problem) ? 0 : sector),
        m_distance(rows - m_overlap) {
    m_teams_of_run = m_run <= m_overlap ? 1 : (m_run - m_overlap - 1) / m_distance + 1;
  }

  std::int64_t teams() const { return m_runs * m_teams_of_run; }

  /// The number of neighbouring rows.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t run() const { return m_run; }
  /// The number of the run that a team works on. `team` must fit 31 bits: a division of 64 bits
  /// takes as long as a memory access.
  KOKKOS_FORCEINLINE_FUNCTION int run_of_team(int team) const {
    return m_runs == 1 ? 0 : team / static_cast<int>(m_teams_of_run);
  }
  KOKKOS_FORCEINLINE_FUNCTION int team_of_run(int team) const {
    return team - run_of_team(team) * static_cast<int>(m_teams_of_run);
  }
  /// The number of rows from a team's first row to that of the next team.
  KOKKOS_FORCEINLINE_FUNCTION int distance() const { return m_distance; }
  KOKKOS_FORCEINLINE_FUNCTION bool overlap() const { return m_overlap != 0; }

 private:
  std::int64_t m_run;
  std::int64_t m_runs;
  std::int64_t m_teams_of_run;
  int m_overlap;
  int m_distance;
};

/// The rows of one team.
template <class Y>
class SectorPanel {
 public:
  static constexpr int sector = SectorPanels<Y>::sector;

  /// Of at most `rows` rows.
  KOKKOS_FORCEINLINE_FUNCTION SectorPanel(const SectorPanels<Y>& panels, int team, int rows)
      : m_distance(panels.distance()) {
    const std::int64_t first = static_cast<std::int64_t>(panels.team_of_run(team)) * m_distance;
    const std::int64_t left = panels.run() - first;
    m_first_row = panels.run_of_team(team) * panels.run() + first;
    m_rows = left < rows ? static_cast<int>(left) : rows;
    m_is_first = !panels.overlap() || first == 0;
    m_is_last = !panels.overlap() || left <= rows;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row() const { return m_first_row; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return m_rows; }

  KOKKOS_FORCEINLINE_FUNCTION bool is_row(int index) const { return index < m_rows; }
  /// Whether the team writes what is written once per row, for the team's row number `index`.
  KOKKOS_FORCEINLINE_FUNCTION bool has_row(int index) const {
    return index < (m_is_last ? m_rows : m_distance);
  }

  /// The entries of a column that the team writes: those of its rows from `begin` to before `end`.
  struct Written {
    int begin, end;
  };
  /// For the column in which the entry of the row number `index` is at `y`.
  KOKKOS_FORCEINLINE_FUNCTION Written written(const Y* y, int index) const {
    const auto position = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(y) / sizeof(Y));
    // From the first row of the team
    const auto to_sector =
        static_cast<int>((static_cast<unsigned>(index) - position) & (sector - 1));
    return {m_is_first ? 0 : to_sector, m_is_last ? m_rows : to_sector + m_distance};
  }

 private:
  std::int64_t m_first_row;
  int m_distance;
  int m_rows;
  bool m_is_first;
  bool m_is_last;
};

}  // namespace KokkosSoftmax::Impl

#endif
