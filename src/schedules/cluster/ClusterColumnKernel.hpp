// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERCOLUMNKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERCOLUMNKERNEL_HPP

/// \file
/// The schedule `cluster_column`: as `column`, with each row divided over the teams of a cluster.

#include <schedules/Column.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/ClusterPlan.hpp>
#include <schedules/cluster/StateExchange.hpp>

namespace KokkosSoftmax::Impl {

/// Holds neighbouring strided rows in the registers of the teams of a cluster: one read, one write.
/// Each team holds some of the columns, and sends its states of all rows to all other teams. For
/// CUDA only.
template <class Exec, class Op, class Source, class Shape>
struct ClusterColumnKernel;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec, class Op, class Source, class Shape>
struct ClusterColumnKernel
    : ColumnMembers<ColumnTeam<Exec, HeldState<Op>, Source, Shape, ClusterMember>, Shape> {
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Team = ColumnTeam<Exec, HeldState<Op>, Source, Shape, ClusterMember>;
  using Members = ColumnMembers<Team, Shape>;
  using Tiles = typename Team::Tiles;
  using State = typename Team::State;
  using Traits = StateTraits<State>;
  using Exchange = StateExchange<State, Team::rows>;
  static_assert(Op::writes_entries, "columns that are read once needn't be held");
  static_assert(!keeps_digits<State>, "merged_state() doesn't settle sums near 0");
  static constexpr int team_lanes = Shape::team_size * Shape::lanes;
  /// Larger clusters of teams whose rows overlap are slower than larger teams (measured on an
  /// H200).
  static constexpr int max_teams = Team::in_sectors ? 8 : Exchange::max_teams;
  static constexpr int min_teams = Shape::min_teams;  // per multiprocessor
  static constexpr double comfortable_part = 1;
  static constexpr double roomy_part = 1;

  using Members::arguments;
  int columns_per_team;

  ClusterColumnKernel(const ArgumentsOf<Source>& arguments_, int columns_per_team_)
      : Members(arguments_), columns_per_team(columns_per_team_) {}

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const ClusterMember& member) const {
    const Team team(member, arguments, Members::panel(member));
    const bool is_first_lane = member.team_rank() == 0 && lane_number<Shape::lanes>(member) == 0;
    Exchange& exchange = Exchange::in(member.team_scratch(0));
    if (is_first_lane) exchange.init();
    member.arrive();
    const std::int64_t first =
        static_cast<std::int64_t>(member.rank_in_cluster()) * columns_per_team;
    auto rows = team.lane_rows();
    end_rows(rows, first + columns_per_team);
    auto tiles = team.tiles();
    tiles.load(arguments, rows.row, first, team.thread());
    State mine[Tiles::rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k)
      mine[k] = reduce_tile<Op, State, 1>(member, tiles[k], arguments.function);
    auto merged = team.template merge<Op>(mine);
    const int teams = member.cluster_size();
    member.wait();  // the other teams may not have started before
    if (is_first_lane) exchange.expect(teams);
    for (int to = team.thread(); to < teams; to += Shape::threads) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Tiles::rows; ++k) exchange.send(member, to, merged.all[k], team.slot(k));
    }
    exchange.wait();
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) {
      merged.all[k] = merged_state(exchange, teams, team.slot(k));
      merged.factor[k] = factor_to(reference_of_state(merged.all[k]), mine[k]);
    }
    write_held_columns<Op>(arguments, team, rows, first, tiles, merged);
    if (member.rank_in_cluster() == 0)
      team.template finish_beside_lane<Op>(
          [&](int k) { return merged_state(exchange, teams, team.slot(k)); });
  }

  static std::size_t scratch_bytes() {
    return Team::scratch_bytes() + sizeof(Exchange) + alignof(Exchange);
  }
  /// The largest number of columns of a team.
  static std::int64_t most_chunks(int /*scratch*/) { return Tiles::chunks; }
  /// A team can begin at any column, because each column begins at another cache line. There are at
  /// least two teams, because a team in no cluster can't send anything (st.async).
  static ClusterProblem problem(std::int64_t columns) {
    return {.row_chunks = columns, .chunk_bytes = cache_line, .fewest_teams = 2};
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static void end_rows(typename Team::Rows& rows, std::int64_t end) {
    for (auto& row : rows.row) row.end = end < row.chunks ? end : row.chunks;
  }

  /// The state of the row, from those of its teams. The result is the same in all teams, because
  /// all add in the same order.
  KOKKOS_FORCEINLINE_FUNCTION static State merged_state(const Exchange& exchange, int teams,
                                                        int slot) {
    T max = Traits::max(State{});
    for (int t = 0; t < teams; ++t) max = larger(max, Traits::max(exchange.of_team(t, slot)));
    T sum(0);
    for (int t = 0; t < teams; ++t)
      sum += sum_relative_to(Traits::reference_of(max), exchange.of_team(t, slot));
    return Traits::make(max, sum);
  }
};
#endif

}  // namespace KokkosSoftmax::Impl

#endif
