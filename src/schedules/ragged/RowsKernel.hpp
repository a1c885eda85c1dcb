// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_ROWSKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_ROWSKERNEL_HPP

/// \file
/// The kernel for ragged rows whose mean length suits a team. Each row has a team of its own, so
/// that no list of rows must be written and read before.

#include <schedules/ragged/ListedRow.hpp>
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
  static constexpr int rows_per_team = 1;

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
      constexpr int threads = RowShape::OfTeams::threads * lanes;
      list_row<Sizes, threads>(m_arguments, row, member.team_rank() * lanes + lane);
    } else if (columns > 0) {
      Team(member, m_arguments, lane).compute(row);
    } else if constexpr (!Op::writes_entries) {
      if (member.team_rank() == 0)
        Op::write_empty_rows(m_arguments, RowsOfVector{r, row.begin, r + 1, row.end}, lane, lanes);
    }
  }

  static std::size_t scratch_bytes() { return Team::scratch_bytes(); }

 private:
  Arguments m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
