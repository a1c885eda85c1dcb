// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_TWO_PASS_KERNELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_TWO_PASS_KERNELS_HPP

/// \file
/// The kernels of the schedule `two_pass_column`: the first one reduces parts of strided rows, the
/// second one merges the states of a row's parts, and the third one reads the entries again and
/// writes the output. Operations that write one number per row have no third kernel. No team waits
/// for another one.

#include <op/FinishRow.hpp>
#include <op/SecondRead.hpp>
#include <schedules/Column.hpp>
#include <schedules/two_pass/Plan.hpp>
#include <team/TeamOfRow.hpp>
#include <team/ThreadsOfLane.hpp>

namespace KokkosSoftmax::Impl {

/// A team in one of the two passes.
template <class Exec, class Op, class Source, class Shape>
using PassTeam = ColumnTeam<Exec, typename Op::State, Source, Shape,
                            typename Kokkos::TeamPolicy<Exec>::member_type, PassPart>;

/// The lane's rows, cut to the columns of the part.
template <class Team>
KOKKOS_FORCEINLINE_FUNCTION typename Team::Rows rows_in_part(const Team& team,
                                                             const PassPart& part) {
  static_assert(Team::Tiles::slots == 1);
  auto rows = team.lane_rows();
  part.cut(rows.row[0], team.has_rows());
  return rows;
}

/// The first pass. states[p * rows + r] is the state of part p of row r.
template <class Exec, class Op, class Source, class Shape_>
struct TwoPassReduceKernel {
  using Shape = Shape_;
  using State = typename Op::State;
  using Team = PassTeam<Exec, Op, Source, Shape>;
  using Tiles = typename Team::Tiles;
  static constexpr int rows_per_team = Team::rows;
  static constexpr int columns_per_tile = Tiles::chunks;

  ArgumentsOf<Source> arguments;
  PassPlan plan;
  State* states;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const auto& problem = arguments.problem;
    const PassPart part = plan.part_of_team(member.league_rank(), problem.x_column_stride,
                                            [&](std::int64_t r) { return arguments.row(r).x; });
    if (!part.has_rows()) return;
    const Team team(member, arguments, part);
    const auto rows = rows_in_part(team, part);
    State mine[Tiles::rows];
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      reduce_columns<typename Output::Exp>(arguments, team, rows, rows.row[0].end, mine,
                                           [](int, const auto&, std::int64_t) {});
    });
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) settle(team, part, k, mine[k]);
    const auto merged = team.template merge<Op>(mine);
    if (team.thread() != 0) return;
    State* const to = states + part.number * problem.rows;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k)
      if (team.is_row(k)) to[team.row_number(k)] = merged.all[k];
  }

  static std::size_t scratch_bytes() { return Team::scratch_bytes(); }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void settle(const Team& team, const PassPart& part, int k,
                                          State& state) const {
    second_read_of_thread<typename Tiles::RowTile>(arguments, 0, team.thread(), state, [&] {
      auto row = row_again<typename Tiles::RowTile::Row>(
          arguments, team.is_row(k) ? team.row_number(k) : team.spare_row());
      part.cut(row, team.is_row(k));
      return row;
    });
  }
};

/// Merges the states of the parts of each row, and writes the number of the row, or what a call
/// asks for beside y. Each lane has a row, and the threads of a team divide its parts. The merged
/// states follow those of the parts in memory, for the second pass. All sources share this kernel,
/// because no entry is read.
template <class Exec, class Op, class Shape_>
struct TwoPassMergeKernel {
  using Shape = Shape_;
  using State = typename Op::State;
  using Group =
      ThreadsOfLane<Exec, typename StateTraits<State>::Value, Shape::threads, Shape::lanes>;
  static constexpr int rows_per_team = Shape::lanes;

  RowArgs<typename Op::Types> arguments;
  std::int64_t parts;
  State* states;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Group::Member& member) const {
    const Group group(member);
    const std::int64_t rows = arguments.problem.rows;
    const std::int64_t r =
        static_cast<std::int64_t>(member.league_rank()) * rows_per_team + group.lane();
    const bool is_row = r < rows;
    const State* const of_row = states + (is_row ? r : 0);
    const State merged =
        merge_parts<State>(group, parts, [&](std::int64_t p) { return of_row[p * rows]; });
    if (!is_row || group.number() != 0) return;
    if constexpr (Op::writes_entries) {
      states[parts * rows + r] = merged;
      finish_beside<Op>(arguments, r, merged);
    } else {
      finish_row<Op>(arguments, merged, arguments.row(r).y);
    }
  }

  static std::size_t scratch_bytes() { return Group::scratch_bytes(); }
};

/// The second pass. The teams and the tiles of a team go backwards, because the entries that were
/// read last are still in the cache.
template <class Exec, class Op, class Source, class Shape_>
struct TwoPassWriteKernel {
  using Shape = Shape_;
  using State = typename Op::State;
  using Team = PassTeam<Exec, Op, Source, Shape>;
  using Tiles = typename Team::Tiles;
  static constexpr int rows_per_team = Team::rows;
  static constexpr int columns_per_tile = Tiles::chunks;

  ArgumentsOf<Source> arguments;
  PassPlan plan;
  const State* of_rows;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const PassPart part = plan.part_of_team(member.league_size() - 1 - member.league_rank(),
                                            arguments.problem.y_column_stride,
                                            [&](std::int64_t r) { return arguments.row(r).y; });
    if (!part.has_rows()) return;
    const Team team(member, arguments, part);
    const auto rows = rows_in_part(team, part);
    State all[Tiles::rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k)
      if (team.is_row(k)) all[k] = of_rows[team.row_number(k)];
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      write_columns<Op, EntryOutput<Op, Output>>(arguments, team, rows, rows.row[0].end, all);
    });
  }

  static std::size_t scratch_bytes() { return 0; }
};

/// The kernels of the schedule. The second pass has fewer entries in flight per lane, because it
/// writes as many as it reads. With more threads per team, the merge was slower (measured on an
/// H200).
template <class Exec, class Op, class Source, class Shape>
struct TwoPassColumnKernels {
  static_assert(Shape::items > 1);
  static constexpr bool has_second_pass = Op::writes_entries;
  static constexpr bool makes_rows_of_source = has_row<Source> || limits_rows<Source>;
  static constexpr int merging_threads = Shape::lanes == 1 ? 1 : 8;
  using MergeShape = Impl::Shape<merging_threads, Shape::lanes, 1, 1, AccessMode::scalar>;
  using WriteShape = Impl::Shape<Shape::threads, Shape::lanes, Shape::items / 2, Shape::width,
                                 Shape::access, Shape::min_teams>;
  using State = typename Op::State;
  using Reduce = TwoPassReduceKernel<Exec, Op, Source, Shape>;
  using Merge = TwoPassMergeKernel<Exec, Op, MergeShape>;
  using Write = TwoPassWriteKernel<Exec, Op, Source, WriteShape>;

  ArgumentsOf<Source> arguments;  // never made; for ContextOf
};

}  // namespace KokkosSoftmax::Impl

#endif
