// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_TWO_PASS_PLAN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_TWO_PASS_PLAN_HPP

/// \file
/// How the entries of a call are divided among the teams of one pass of `two_pass_column`.
///
/// The rows of the innermost outer axis are neighbours in memory: a *run*. The columns of a run
/// whose entries begin at the same place of an aligned block of memory (a sector or a cache line)
/// are a *phase*: with a stride of S entries and blocks of B entries, these are every n-th column,
/// where n = B / gcd(B, S). A *part* consists of some columns of a phase, and a *panel* of some
/// rows of a run that begin and end at blocks in all columns of the phase. So no two teams access
/// the same block, except at the ends of runs. This holds for x in the first pass, and for y in the
/// second one.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <bit>
#include <cstdint>
#include <numeric>

namespace KokkosSoftmax::Impl {

/// The entries that a team works on. It has the members of a panel that ColumnTeam asks for: its
/// rows have the numbers from `begin` to before `end`, because the first panel of a run starts
/// before the run does.
class PassPart {
 public:
  std::int64_t number;  // of the part in its run
  std::int64_t first_column;
  std::int64_t step;  // from column to column
  std::int64_t columns;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row() const { return m_first_row; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_row(int index) const {
    return index >= m_begin && index < m_end;
  }
  /// Whether the team writes what is written once per row. ColumnTeam asks for it.
  KOKKOS_FORCEINLINE_FUNCTION bool has_row(int index) const { return is_row(index); }
  KOKKOS_FORCEINLINE_FUNCTION bool has_rows() const { return m_begin < m_end; }
  /// Whether one of `count` rows from `index` on exists.
  KOKKOS_FORCEINLINE_FUNCTION bool has_some_of(int index, int count) const {
    return index < m_end && index + count > m_begin && has_rows();
  }
  KOKKOS_FORCEINLINE_FUNCTION int begin() const { return m_begin; }

  /// How many of the part's columns a row has. It can end before the last one, see limits_rows.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t visible(const Row& row) const {
    if constexpr (!Row::is_limited) {
      return columns;
    } else {
      const std::int64_t left = row.columns - first_column;
      const std::int64_t below = left <= 0 ? 0 : step == 1 ? left : (left + step - 1) / step;
      return below < columns ? below : columns;
    }
  }

  /// Cuts a row to the part: its entries are those of the row in the part's columns.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void cut(Row& row, bool exists) const {
    row.chunks = row.end = exists ? columns : 0;
    row.columns = exists ? visible(row) : 0;
    row.x += first_column * row.x_stride;
    row.y += first_column * row.y_stride;
    row.numbers.set(first_column, step);
    row.x_stride *= step;
    row.y_stride *= step;
  }

 private:
  friend class PassPlan;

  std::int64_t m_first_row;
  int m_begin;
  int m_end;
};

/// The limits of a pass.
struct PassLimits {
  int panel_rows = 1;                 ///< at most
  int tile_columns = 1;               ///< that a team loads at one time
  std::int64_t columns_of_phase = 1;  ///< at least, if smaller blocks permit it
  std::int64_t columns_of_part = 1;   ///< at least, if a phase has several parts
  std::int64_t teams = 1;             ///< at least, if the parts permit it
  bool are_teams_at_most = false;     ///< `teams` is the most, if panels and phases permit it
};

/// The array whose blocks a pass doesn't share between teams.
struct PassArray {
  std::uintptr_t address;
  std::int64_t stride;  // of columns, in bytes
  int entry_bytes;

  template <class Entry>
  PassArray(const Entry* first, std::int64_t stride_in_entries)
      : address(reinterpret_cast<std::uintptr_t>(first)),
        stride(stride_in_entries * static_cast<int>(sizeof(Entry))),
        entry_bytes(sizeof(Entry)) {}
};

class PassPlan {
 public:
  static constexpr int sector_bytes = 32;

  PassPlan(const PassArray& array, std::int64_t rows, std::int64_t run, std::int64_t columns,
           const PassLimits& limits)
      : m_run(run), m_columns(columns), m_panel_rows(limits.panel_rows) {
    m_block = cache_line;
    const auto phases_of = [&](int block) {
      return block / static_cast<int>(std::gcd<std::int64_t>(block, array.stride));
    };
    while (m_block > sector_bytes && phases_of(m_block) * limits.columns_of_phase > columns)
      m_block /= 2;
    m_phase_bits = std::countr_zero(static_cast<unsigned>(phases_of(m_block)));
    const int phases = 1 << m_phase_bits;
    m_runs = rows / run;
    // The first panel begins at a block, and so up to a block before the run.
    const int before = phases == 1 && m_runs == 1 ? static_cast<int>(array.address % m_block)
                                                  : m_block - array.entry_bytes;
    m_panels = divide_up(run + before / array.entry_bytes, m_panel_rows);
    const std::int64_t of_phase = divide_up(columns, phases);
    const std::int64_t most = std::max<std::int64_t>(1, of_phase / limits.columns_of_part);
    const std::int64_t teams_of_part = m_runs * m_panels * phases;
    const std::int64_t wanted = limits.are_teams_at_most ? limits.teams / teams_of_part
                                                         : divide_up(limits.teams, teams_of_part);
    const std::int64_t of_part = divide_up(of_phase, std::clamp<std::int64_t>(wanted, 1, most));
    m_columns_of_part = divide_up(of_part, limits.tile_columns) * limits.tile_columns;
    m_parts_of_phase = divide_up(of_phase, m_columns_of_part);
  }

  std::int64_t teams() const { return m_runs * m_panels * parts(); }
  std::int64_t parts() const { return m_parts_of_phase << m_phase_bits; }

  /// The part of a team, if `first` is the address of the first entry of a row in the array that
  /// is aligned: first(r) for row r. `stride` is the distance of columns there. The number of rows
  /// can be 0.
  template <class First>
  KOKKOS_FORCEINLINE_FUNCTION PassPart part_of_team(int team, std::int64_t stride,
                                                    const First& first) const {
    const int panels = static_cast<int>(m_panels);
    const int phases = 1 << m_phase_bits;
    int rest = team / panels;
    const int panel = team - rest * panels;
    const int phase = rest & (phases - 1);
    rest >>= m_phase_bits;
    const int run = m_runs == 1 ? 0 : rest / static_cast<int>(m_parts_of_phase);
    const int number = rest - run * static_cast<int>(m_parts_of_phase);
    PassPart part;
    part.number = number * phases + phase;
    const std::int64_t begin = number * m_columns_of_part;
    const std::int64_t left = ((m_columns - phase + phases - 1) >> m_phase_bits) - begin;
    part.first_column = phase + begin * phases;
    part.step = phases;
    part.columns = left < 0 ? 0 : left < m_columns_of_part ? left : m_columns_of_part;
    const auto* const p = first(run * m_run) + phase * stride;
    const int offset =
        static_cast<int>((reinterpret_cast<std::uintptr_t>(p) & (m_block - 1)) / sizeof(*p));
    const std::int64_t first_row = static_cast<std::int64_t>(panel) * m_panel_rows - offset;
    part.m_first_row = run * m_run + first_row;
    part.m_begin = first_row < 0 ? -static_cast<int>(first_row) : 0;
    part.m_end =
        m_run - first_row < m_panel_rows ? static_cast<int>(m_run - first_row) : m_panel_rows;
    return part;
  }

 private:
  std::int64_t m_run;
  std::int64_t m_runs;
  std::int64_t m_columns;
  std::int64_t m_columns_of_part;
  std::int64_t m_parts_of_phase;
  std::int64_t m_panels;  // of a run in a phase
  int m_panel_rows;
  int m_phase_bits;
  int m_block;  // bytes
};

}  // namespace KokkosSoftmax::Impl

#endif
