// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_ROWSKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_ROWSKERNEL_HPP

/// \file
/// The kernel for ragged rows whose mean length suits a team. Each row has a team of its own, so
/// that no list of rows must be written and read before.

#include <schedules/ragged/Shape.hpp>
#include <schedules/ragged/TeamRows.hpp>

namespace KokkosSoftmax::Impl {

/// Computes one row per team, and lists the rows that are too long for such a team.
template <class Exec, class Op, class RowShape, class Sizes>
class RaggedRowsKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Team = TeamRows<Exec, Op, RowShape>;

  std::int64_t first_row = 0;  // of this launch

  explicit RaggedRowsKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = RowShape::lanes;
    const int lane = lane_number<lanes>(member);
    const auto& offset = m_arguments.problem.offset;
    const std::int64_t r = first_row + member.league_rank();
    const RowPart row{r, offset(r), offset(r + 1)};
    const std::int64_t columns = row.end - row.begin;
    if (columns > RowShape::longest_of_team) {
      list(row, member.team_rank() * lanes + lane);
    } else if (columns > 0) {
      Team(member, m_arguments, lane).compute(row);
    } else if constexpr (!Op::writes_entries) {
      if (member.team_rank() == 0)
        Op::write_empty_rows(m_arguments, RowsOfVector{r, row.begin, r + 1, row.end}, lane, lanes);
    }
  }

  static std::size_t scratch_bytes() { return Team::scratch_bytes(); }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void list(const RowPart& row, int thread_id) const {
    const RaggedLists& lists = m_arguments.work;
    if (row.end - row.begin <= Sizes::longest_of_team) {
      if (thread_id == 0) lists.add(row);
      return;
    }
    const RaggedWindows windows(m_arguments.problem.offset, m_arguments.problem.rows,
                                Sizes::window);
    if (thread_id == 0) lists.add_long_row(windows, row.row);
    constexpr int threads = RowShape::OfTeams::threads * RowShape::lanes;
    const std::int64_t first = windows.window_of(row.row);
    const std::int64_t last = first + windows.continuations(row.row);
    for (std::int64_t w = first + 1 + thread_id; w <= last; w += threads) {
      const RowPart part = windows.continued_part(w, row.row);
      if (part.begin < part.end) lists.add(LongRowPart{part, w, first});
    }
  }

  Arguments m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
