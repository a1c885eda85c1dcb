// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERKERNEL_HPP

#include <backend/DivideUp.hpp>
#include <op/FillMasked.hpp>
#include <schedules/cluster/AsyncSegment.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/ClusterPlan.hpp>
#include <schedules/cluster/StateExchange.hpp>
#include <schedules/cluster/TileSegment.hpp>
#include <team/TeamReduce.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Holds a row in the registers and the shared memory of the teams of a cluster. Each team holds
/// its segment and sends its state to all other teams. For CUDA only.
template <class Exec, class Op, class Source, class Shape>
struct ClusterKernel;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec, class Op, class Source, class Shape>
struct ClusterKernel {
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Share = std::conditional_t<has_row<Source>, TileSegment<Exec, Op, Source, Shape>,
                                   AsyncSegment<Exec, Op, Source, Shape>>;
  using Row = typename Share::Row;
  using State = typename Op::State;
  using States = ScratchStates<Exec, State>;
  using Exchange = StateExchange<State>;
  static constexpr int team_lanes = Shape::threads * Shape::lanes;
  static constexpr int min_teams = Shape::min_teams;  // per multiprocessor
  static constexpr int max_teams = Exchange::max_teams;
  static constexpr double comfortable_part = Share::comfortable_part;
  static constexpr double roomy_part = Share::roomy_part;
  static constexpr int rows_per_team = 1;

  ArgumentsOf<Source> arguments;
  int chunks_per_team;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const ClusterMember& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int thread_id = member.team_rank() * lanes + lane;
    const States of_threads(reinterpret_cast<State*>(member.scratch()), Shape::threads);
    Exchange& exchange = *reinterpret_cast<Exchange*>(member.scratch() + place_of_exchange);
    if (thread_id == 0) exchange.init();
    member.arrive();
    Row row(arguments, arguments.row_of_team(member));
    const int chunks = chunks_of_team(member, row);
    const std::int64_t begin = std::int64_t(member.rank_in_cluster()) * chunks;
    if (begin + chunks < row.chunks) row.end = begin + chunks;
    Share share(member.scratch() + place_of_share, chunks_per_team);
    const State mine =
        merge_over_lanes<lanes>(member, share.load(arguments, row, begin, thread_id));
    const State team = merge_over_team<Shape::threads, lanes>(member, lane, of_threads, mine);
    const State all = merge_over_cluster(member, lane, exchange, team);
    share.store(arguments, row, begin, thread_id, all);
    if constexpr (limits_rows<Source>)
      fill_masked<Op>(arguments, row, all, member.rank_in_cluster() * team_lanes + thread_id,
                      member.cluster_size() * team_lanes);
    if (member.rank_in_cluster() == 0 && thread_id == 0)
      finish_beside<Op>(arguments, arguments.row_of_team(member), all);
  }

  std::size_t scratch_bytes() const {
    if constexpr (has_row<Source>)
      return place_of_share + Share::scratch_bytes(arguments);
    else
      return place_of_share + Share::scratch_bytes(chunks_per_team);
  }
  /// The largest number of chunks of a segment, if the team has `scratch` bytes of scratch memory.
  static std::int64_t most_chunks(int scratch) {
    return Share::most_chunks(static_cast<std::size_t>(scratch) - place_of_share);
  }

  static ClusterProblem problem(std::int64_t columns) {
    const std::int64_t chunks = divide_up(columns, Shape::width);
    return {.row_chunks = chunks > 0 ? chunks : 1, .chunk_bytes = chunk_bytes};
  }

 private:
  static constexpr int chunk_bytes = Shape::width * static_cast<int>(sizeof(typename V::X));
  /// The states of the threads stand at the beginning of the scratch memory.
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t in_whole(std::size_t bytes) {
    return divide_up(bytes, alignment) * alignment;
  }
  static constexpr std::size_t place_of_exchange = in_whole(Shape::threads * sizeof(State));
  static constexpr std::size_t place_of_share = place_of_exchange + in_whole(sizeof(Exchange));
  static_assert(alignof(Exchange) <= alignment);

  /// The number of chunks of a segment. Rows of different numbers of columns are divided anew,
  /// so that all teams of the cluster have work.
  KOKKOS_FORCEINLINE_FUNCTION int chunks_of_team([[maybe_unused]] const ClusterMember& member,
                                                 [[maybe_unused]] const Row& row) const {
    if constexpr (limits_rows<Source>) {
      constexpr int line = static_cast<int>(cache_line) / chunk_bytes;
      const int teams = member.cluster_size();
      const int chunks = row.chunks > 0 ? static_cast<int>(row.chunks) : 1;
      return divide_up(divide_up(chunks, line), teams) * line;
    } else {
      return chunks_per_team;
    }
  }

  /// Returns the same state in all threads, because all add in the same order. A team can end
  /// before the others, because it has received all that is sent to it.
  KOKKOS_FORCEINLINE_FUNCTION static State merge_over_cluster(const ClusterMember& member, int lane,
                                                              Exchange& exchange,
                                                              const State& team) {
    const int teams = member.cluster_size();
    if (teams == 1) return team;
    member.wait();  // the other teams may not have started before
    if (member.team_rank() == 0 && lane == 0) exchange.expect(teams);
    if (member.team_rank() == 0 && lane < teams) exchange.send(member, lane, team);
    exchange.wait();
    State part;
    if (lane % max_teams < teams) part = exchange.of_team(lane % max_teams);
    return merge_over_lanes<max_teams>(member, part);
  }
};
#endif

}  // namespace KokkosSoftmax::Impl

#endif
