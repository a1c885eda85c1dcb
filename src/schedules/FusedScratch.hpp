// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDSCRATCH_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDSCRATCH_HPP

#include <op/SecondRead.hpp>
#include <schedules/ScratchSegment.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// Holds a row in the registers and the level-0 scratch memory of a team.
template <class Exec, class Op, class Source, class Shape>
struct FusedScratchKernel {
  using V = typename Source::Types;
  using State = typename Op::State;
  using Share = ScratchSegment<Exec, Op, Source, Shape>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int rows_per_team = 1;

  ArgumentsOf<Source> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int thread_id = member.team_rank() * lanes + lane;
    const typename Share::Row row(arguments, arguments.row_of_team(member));
    const ScratchStates<Exec, State> states(member.team_scratch(0), Shape::threads);
    Share share(member, row.columns / Shape::width);
    auto mine = merge_over_lanes<lanes>(member, share.load(arguments, row, 0, thread_id));
    second_read_of_lanes<typename Share::RowTile, lanes, EntryNumber::many>(
        member, arguments, 0, thread_id, mine,
        [&] { return row_again<typename Share::Row>(arguments, arguments.row_of_team(member)); });
    const auto all =
        merge_over_team<Shape::threads, lanes, !Op::writes_entries>(member, lane, states, mine);
    if constexpr (!Op::writes_entries) {
      if (thread_id == 0) finish_row<Op>(arguments, all, row.y);
    } else {
      share.store(arguments, row, 0, thread_id, all);
      if (thread_id == 0) finish_beside<Op>(arguments, arguments.row_of_team(member), all);
    }
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Share::scratch_bytes(columns / Shape::width) +
           ScratchStates<Exec, State>::shmem_size(Shape::threads);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
