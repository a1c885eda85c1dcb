// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_ONLINE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_ONLINE_HPP

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/CrossEntropy.hpp>
#include <op/FinishRow.hpp>
#include <op/SecondRead.hpp>
#include <op/TileFor.hpp>

namespace KokkosSoftmax::Impl {

/// One team works on a row of any length. The tiles of the row pass through registers, and the
/// running state (max, sum) is rescaled if a tile contains a larger entry (see OnlineSum). The
/// second pass reads the row backwards: if the row is wider than the cache, its end is still in the
/// cache.
template <class Exec, class Op, class Source, class Shape>
struct OnlineKernel {
  using V = typename Source::Types;
  using State = typename Op::State;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using RowTile = LoopTileFor<Op, Source, Shape>;
  using Row = typename RowTile::Row;
  static_assert(!limits_rows<Source> || !Op::writes_entries, "masked columns aren't filled here");
  static constexpr int rows_per_team = 1;

  ArgumentsOf<Source> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int thread_id = member.team_rank() * lanes + lane;
    const Row row(arguments, arguments.row_of_team(member));

    LabelEntry<Op> label(arguments, arguments.row_of_team(member));
    label.load_entry(arguments);
    RowTotal<Op> total;
    const State mine =
        with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
          return reduce<typename Output::Exp>(row, thread_id, total);
        });
    State of_lanes = merge_over_lanes<lanes>(member, mine);
    second_read_of_lanes<RowTile, lanes, EntryNumber::many>(
        member, arguments, 0, thread_id, of_lanes,
        [&] { return row_again<Row>(arguments, arguments.row_of_team(member)); });
    const ScratchStates<Exec, State> states(member.team_scratch(0), Shape::threads);
    const auto all =
        merge_over_team<Shape::threads, lanes, !Op::writes_entries>(member, lane, states, of_lanes);

    if constexpr (is_loss<Op>) {
      const auto of_row =
          total_of_team<Exec, Op, Shape::threads, lanes>(member, lane, total, arguments.smoothing);
      if (thread_id == 0) label.finish(arguments, all, of_row);
    } else if constexpr (!Op::writes_entries) {
      if (thread_id == 0) finish_row<Op>(arguments, all, row.y);
    } else {
      with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
        write(row, thread_id, all, EntryOutput<Op, Output>(all, arguments.empty_rows));
      });
      if (thread_id == 0) finish_beside<Op>(arguments, arguments.row_of_team(member), all);
    }
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) {
    return ScratchStates<Exec, State>::shmem_size(Shape::threads) +
           total_bytes<Exec, Op>(Shape::threads);
  }

 private:
  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION State reduce(const Row& row, int thread_id,
                                           RowTotal<Op>& total) const {
    OnlineSum<Exp, State> sum;
    const std::int64_t end = row.read_end(Source(arguments));
    for (std::int64_t first = 0; first == 0 || first < end; first += RowTile::chunks) {
      RowTile tile;
      tile.load(arguments, row, first, thread_id);
      sum.add(tile);
      total.add(tile, arguments, row, first, thread_id);
    }
    return sum.state();
  }

  template <class Output, class All>
  KOKKOS_FORCEINLINE_FUNCTION void write(const Row& row, int thread_id,
                                         [[maybe_unused]] const All& all,
                                         const Output& output) const {
    const std::int64_t last =
        row.chunks > 0 ? (row.chunks - 1) / RowTile::chunks * RowTile::chunks : 0;
    for (std::int64_t first = last; first >= 0; first -= RowTile::chunks) {
      RowTile tile;
      tile.load(arguments, row, first, thread_id);
      tile.store(row, first, thread_id, output);
      finish_masked<Op, RowTile>(arguments, row, first, thread_id, all);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
