// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWSTATES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWSTATES_HPP

#include <backend/DivideUp.hpp>
#include <schedules/split/Panel.hpp>
#include <schedules/split/Record.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The states of a row in a team. A group of teams needs the following members, which PanelStates
/// has too:
///   Contribution                what a lane contributes to a round
///   Merged                      the merged states of a round
///   contribute(round, mine, publish)
///       merges over the team; a lane that has a row's state calls publish(row in the panel, state)
///   poll(members, read)
///       what the lane reads of the members' records by read(member, row in the panel, record)
///   merge_polled(round, members, part)
///       merges what the lanes have polled
/// `contribute` and `merge_polled` contain at least one barrier. After it, each thread sees what
/// all threads of the team have written to scratch memory before the call.
template <class Exec_, RowState State_, int threads_, int lanes_>
class RowStates {
 public:
  using Exec = Exec_;
  using State = State_;
  static constexpr int threads = threads_;
  static constexpr int lanes = lanes_;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Polled = PolledRound<State>;
  using Contribution = State;
  using Merged = State;
  static constexpr int most_rows = 1;
  static constexpr int max_members = threads * lanes;  // each lane polls the record of one member

  KOKKOS_FORCEINLINE_FUNCTION RowStates(const Member& member, int lane, const Panel& /*panel*/)
      : m_member(member), m_lane(lane), m_states(member.team_scratch(0), 4 * threads) {}

  template <class Publish>
  KOKKOS_FORCEINLINE_FUNCTION void contribute(std::uint32_t round, const Contribution& mine,
                                              const Publish& publish) const {
    const int buffer = static_cast<int>(round % 2) * threads;
    if (m_lane == 0) m_states(buffer + m_member.team_rank()) = mine;
    m_member.team_barrier();
    if (m_member.team_rank() != 0) return;
    const State merged = merge_states<threads, lanes>(m_member, m_lane, m_states, buffer);
    if (m_lane == 0) publish(0, merged);
  }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION Polled poll(int members, const Read& read) const {
    Polled seen;
    const int member = m_member.team_rank() * lanes + m_lane;
    if (member < members) seen.there = read(member, 0, seen.part);
    return seen;
  }

  /// Only the threads with a member's state in one of their lanes contribute.
  KOKKOS_FORCEINLINE_FUNCTION Merged merge_polled(std::uint32_t round, int members,
                                                  const State& part) const {
    const int buffer = (2 + static_cast<int>(round % 2)) * threads;
    const int parts = divide_up(members, lanes);
    if (m_member.team_rank() < parts) {
      const State merged = merge_parts_over_lanes<lanes>(m_member, part);
      if (m_lane == 0) m_states(buffer + m_member.team_rank()) = merged;
    }
    m_member.team_barrier();
    return parts > 1 ? merge_parts(buffer, parts) : m_states(buffer);
  }

  /// The scratch memory of the states, which can be used for other data between two barriers.
  KOKKOS_FORCEINLINE_FUNCTION State* data() const { return m_states.data(); }
  static std::size_t scratch_bytes() { return ScratchStates<Exec, State>::shmem_size(4 * threads); }

 private:
  /// For groups with more members than a vector has lanes.
  KOKKOS_FORCEINLINE_FUNCTION State merge_parts(int buffer, int parts) const {
    State part;
    if (m_lane < parts) part = m_states(buffer + m_lane);
    return merge_parts_over_lanes<lanes>(m_member, part);
  }

  const Member& m_member;
  int m_lane;
  ScratchStates<Exec, State> m_states;  // contributed and polled states, for two rounds each
};

}  // namespace KokkosSoftmax::Impl

#endif
