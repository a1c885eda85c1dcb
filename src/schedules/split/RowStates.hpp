// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWSTATES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWSTATES_HPP

#include <backend/DivideUp.hpp>
#include <schedules/split/Panel.hpp>
#include <schedules/split/Record.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The states of a row in a team. What a group of teams needs of them (PanelStates has the same):
///   Brought                     what a lane brings to a round
///   Merged                      where the merged states of a round are found
///   bring(round, mine, show)    merges over the team; a lane with a row's state calls
///                               show(row in the panel, state)
///   look(members, read)         what the lane sees of the members' messages by
///                               read(member, row in the panel, message)
///   merge_polled(round, members, part)   what the lanes have seen, merged
/// A barrier at least stands in `contribute` and in `merge_polled`, behind all that was written
/// before.
template <class Exec_, class T_, int threads_, int lanes_>
class RowStates {
 public:
  using Exec = Exec_;
  using T = T_;
  static constexpr int threads = threads_;
  static constexpr int lanes = lanes_;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = LogSumExpState<T>;
  using Polled = PolledRound<T>;
  using Contribution = State;
  using Merged = State;
  static constexpr int most_rows = 1;
  static constexpr int max_members = threads * lanes;  // each lane looks at the message of one

  KOKKOS_FORCEINLINE_FUNCTION RowStates(const Member& member, int lane, const Panel& /*panel*/)
      : m_member(member), m_lane(lane), m_states(member.team_scratch(0), 4 * threads) {}

  template <class Publish>
  KOKKOS_FORCEINLINE_FUNCTION void contribute(std::uint32_t round, const Contribution& mine,
                                              const Publish& publish) const {
    const int buffer = static_cast<int>(round % 2) * threads;
    if (m_lane == 0) m_states(buffer + m_member.team_rank()) = mine;
    m_member.team_barrier();
    if (m_member.team_rank() != 0) return;
    const State merged = merge_states<threads, lanes, T>(m_member, m_lane, m_states, buffer);
    if (m_lane == 0) publish(0, merged);
  }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION Polled poll(int members, const Read& read) const {
    Polled seen;
    const int member = m_member.team_rank() * lanes + m_lane;
    if (member < members) seen.there = read(member, 0, seen.part);
    return seen;
  }

  /// Only the threads that have a member's state in one of their lanes bring something.
  KOKKOS_FORCEINLINE_FUNCTION Merged merge_polled(std::uint32_t round, int members,
                                                  const State& part) const {
    const int buffer = (2 + static_cast<int>(round % 2)) * threads;
    const int parts = divide_up(members, lanes);
    if (m_member.team_rank() < parts) {
      const State merged = merge_over_lanes<lanes>(m_member, part);
      if (m_lane == 0) m_states(buffer + m_member.team_rank()) = merged;
    }
    m_member.team_barrier();
    return parts > 1 ? merge_parts(buffer, parts) : m_states(buffer);
  }

  /// The memory, for something else between two barriers.
  KOKKOS_FORCEINLINE_FUNCTION State* data() const { return m_states.data(); }
  static std::size_t scratch_bytes() { return ScratchStates<Exec, T>::shmem_size(4 * threads); }

 private:
  /// For groups of more members than a vector has lanes.
  KOKKOS_FORCEINLINE_FUNCTION State merge_parts(int buffer, int parts) const {
    State part;
    if (m_lane < parts) part = m_states(buffer + m_lane);
    return merge_over_lanes<lanes>(m_member, part);
  }

  const Member& m_member;
  int m_lane;
  ScratchStates<Exec, T> m_states;  // brought and looked at, for two rounds
};

}  // namespace KokkosSoftmax::Impl

#endif
