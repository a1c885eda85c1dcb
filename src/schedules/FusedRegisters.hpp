// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDREGISTERS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDREGISTERS_HPP

#include <op/CrossEntropy.hpp>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <op/TileFor.hpp>

namespace KokkosSoftmax::Impl {

/// Holds a row in the registers of a team, with one barrier. Each thread of the team sums its part
/// of the row against the largest entry of that part. Then all threads merge the states of the
/// parts.
template <class Exec, class Op, class Source, class Shape>
struct FusedRegistersKernel {
  using V = typename Source::Types;
  using State = HeldState<Op>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Share = TeamTileFor<Op, Source, Shape>;
  using Row = typename Share::Row;
  static constexpr int rows_per_team = 1;

  ArgumentsOf<Source> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int thread_id = member.team_rank() * lanes + lane;
    const Row row(arguments, arguments.row_of_team(member));
    LabelEntry<Op> label(arguments, arguments.row_of_team(member));
    Share share;
    share.load(arguments, row, 0, thread_id);
    label.load_entry(arguments);
    State mine = reduce_tile<Op, State, lanes>(member, share, arguments.function);
    second_read_of_lanes<Share, lanes, EntryNumber::few>(
        member, arguments, 0, thread_id, mine,
        [&] { return row_again<Row>(arguments, arguments.row_of_team(member)); });
    const ScratchStates<Exec, State> states(member.team_scratch(0), Shape::threads);
    const auto all =
        merge_over_team<Shape::threads, lanes, !Op::writes_entries>(member, lane, states, mine);
    if constexpr (is_loss<Op>) {
      finish_with_label(member, label, share, row, thread_id, lane, all);
    } else {
      if (!Op::writes_entries && member.team_rank() > 0) return;
      finish_tile<Op>(arguments, share, row, thread_id, thread_id == 0, all,
                      factor_to(reference_of_state(all), mine));
      if (thread_id == 0) finish_beside<Op>(arguments, arguments.row_of_team(member), all);
    }
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) {
    return ScratchStates<Exec, State>::shmem_size(Shape::threads) +
           total_bytes<Exec, Op>(Shape::threads);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void finish_with_label(const Member& member,
                                                     const LabelEntry<Op>& label,
                                                     const Share& share, const Row& row,
                                                     int thread_id, int lane,
                                                     const State& all) const {
    RowTotal<Op> total;
    total.add(share, arguments, row, 0, thread_id);
    const auto of_row = total_of_team<Exec, Op, Shape::threads, Shape::lanes>(member, lane, total,
                                                                              arguments.smoothing);
    if (thread_id == 0) label.finish(arguments, all, of_row);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
