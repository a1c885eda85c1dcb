// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SUBGROUP_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SUBGROUP_HPP

#include <op/CrossEntropy.hpp>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <op/TileFor.hpp>

namespace KokkosSoftmax::Impl {

/// Holds a row in the registers of the lanes of one team thread. A thread works on
/// `rows_per_thread` rows at one time, so that enough loads are in flight if the rows are short.
/// Needs no barrier and no scratch memory.
template <class Exec, class Op, class Source, class Shape>
struct SubgroupKernel {
  using V = typename Source::Types;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Share = TileFor<Op, Source, Shape::items, Shape::width, Shape::lanes, Shape::access>;
  using Row = typename Share::Row;
  static_assert(!limits_rows<Source> || !Op::writes_entries, "masked columns aren't filled here");
  static constexpr int rows_per_team = Shape::threads * Shape::rows_per_thread;

  ArgumentsOf<Source> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    // A loss finds several places per row. With several outer axes, that takes much code.
    if constexpr (is_loss<Op>)
      if (arguments.problem.outer_rank == 1) return compute<true>(member);
    compute<false>(member);
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) { return 0; }

 private:
  /// `one_axis`: whether the problem is known to have one outer axis.
  template <bool one_axis>
  KOKKOS_FORCEINLINE_FUNCTION void compute(const Member& member) const {
    constexpr int rows = Shape::rows_per_thread;
    const int lane = lane_number<Shape::lanes>(member);
    const std::int64_t team = member.league_rank();
    const std::int64_t first = arguments.first_row + team * rows_per_team + member.team_rank();
    static_assert(!is_loss<Op> || rows == 1, "one label is loaded early");
    LabelEntry<Op, one_axis> label(arguments, existing(first));
    Share share[rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k)
      share[k].load(arguments, row<one_axis>(existing(first + k * Shape::threads)), 0, lane);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) {
      auto state =
          reduce_tile<Op, HeldState<Op>, Shape::lanes>(member, share[k], arguments.function);
      label.load_entry(arguments);
      const std::int64_t r = first + k * Shape::threads;
      second_read_of_lanes<Share, Shape::lanes, EntryNumber::few>(
          member, arguments, 0, lane, state,
          [&] { return row_again<Row>(arguments, existing(r)); });
      if constexpr (is_loss<Op>) {
        finish_loss_of_lanes<Op, Shape::lanes>(member, share[k], arguments, r,
                                               row<one_axis>(existing(r)), label, lane, state);
      } else if (r < arguments.problem.rows) {
        finish_tile<Op>(arguments, share[k], Row(arguments, r), lane, lane == 0, state);
        if (lane == 0) finish_beside<Op>(arguments, r, state);
      }
    }
  }

  template <bool one_axis>
  KOKKOS_FORCEINLINE_FUNCTION Row row(std::int64_t r) const {
    return Row(arguments, r, arguments.template row<one_axis>(r));
  }

  /// Row r, or the last one for threads without a row. They compute it without writing results,
  /// which takes fewer instructions than to fill their registers with -inf.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t existing(std::int64_t r) const {
    const std::int64_t last = arguments.problem.rows - 1;
    return r < last ? r : last;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
