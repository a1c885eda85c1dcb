// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERMERGE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERMERGE_HPP

#include <backend/DivideUp.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/StateExchange.hpp>
#include <team/TeamReduce.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
namespace KokkosSoftmax::Impl {

/// Merges the states of all lanes of a cluster, row by row. The first part of each team's scratch
/// memory is for it: the states of the threads, and what the teams exchange. A row is a turn. With
/// `turns` = 2, a cluster can have many turns: what one turn has written is still read by slow
/// lanes when the next turn writes, but no longer two turns later, because all teams have to take
/// part in the turn between.
template <class Exec, class State, class Shape, int turns>
class ClusterMerge {
  using Exchange = StateExchange<State>;
  using States = ScratchStates<Exec, State>;
  static constexpr int lanes = Shape::lanes;
  static constexpr int threads = Shape::threads;
  static constexpr std::size_t alignment = 16;
  static_assert(alignof(Exchange) <= alignment);
  static constexpr std::size_t in_whole(std::size_t bytes) {
    return divide_up(bytes, alignment) * alignment;
  }
  static constexpr std::size_t place_of_exchange = in_whole(turns * threads * sizeof(State));

 public:
  static constexpr int max_teams = Exchange::max_teams;
  static constexpr std::size_t scratch_bytes =
      place_of_exchange + in_whole(turns * sizeof(Exchange));

  /// Called by all lanes.
  KOKKOS_FORCEINLINE_FUNCTION ClusterMerge(const ClusterMember& member, int lane)
      : m_member(member), m_lane(lane) {
    if (is_first_lane())
      for (int turn = 0; turn < turns; ++turn) exchange(turn).init();
    member.arrive();
  }

  /// Returns the state of a row, given those of the lanes. The turns are numbered from 0 on.
  KOKKOS_FORCEINLINE_FUNCTION State merge(int turn, const State& mine) const {
    const States states(reinterpret_cast<State*>(m_member.scratch()) + turn % turns * threads,
                        threads);
    return merge_over_cluster(
        turn, merge_over_team<threads, lanes>(m_member, m_lane, states,
                                              merge_over_lanes<lanes>(m_member, mine)));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION bool is_first_lane() const {
    return m_member.team_rank() == 0 && m_lane == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION Exchange& exchange(int turn) const {
    return reinterpret_cast<Exchange*>(m_member.scratch() + place_of_exchange)[turn % turns];
  }

  /// Returns the same state in all threads, because all add in the same order. A team can end
  /// before the others, because it has received all that is sent to it.
  KOKKOS_FORCEINLINE_FUNCTION State merge_over_cluster(int turn, const State& team) const {
    const int teams = m_member.cluster_size();
    if (teams == 1) return team;
    if (turn == 0) m_member.wait();  // the other teams may not have started before
    Exchange& of_turn = exchange(turn);
    if (is_first_lane()) of_turn.expect(teams);
    if (m_member.team_rank() == 0 && m_lane < teams) of_turn.send(m_member, m_lane, team);
    of_turn.wait(turn / turns % 2);
    State part;
    if (m_lane % max_teams < teams) part = of_turn.of_team(m_lane % max_teams);
    return merge_over_lanes<max_teams>(m_member, part);
  }

  const ClusterMember& m_member;
  int m_lane;
};

}  // namespace KokkosSoftmax::Impl
#endif

#endif
