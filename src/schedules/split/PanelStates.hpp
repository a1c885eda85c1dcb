// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANELSTATES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANELSTATES_HPP

#include <row/Chunk.hpp>
#include <schedules/split/Panel.hpp>
#include <schedules/split/Record.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The states of a panel's rows in a team, with the interface of RowStates: each lane brings
/// `slots` states, which are dealt out to the rows in turn.
template <class Exec_, class T_, int threads_, int lanes_, int most_rows_, int slots_>
class PanelStates {
 public:
  using Exec = Exec_;
  using T = T_;
  static constexpr int threads = threads_;
  static constexpr int lanes = lanes_;
  static constexpr int slots = slots_;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = LogSumExpState<T>;
  using Look = RoundLook<T>;
  static constexpr int most_rows = most_rows_;
  static constexpr int max_members = threads * lanes;
  static_assert(most_rows <= threads * lanes, "each row needs a lane");

  /// Those of the lane's slots.
  struct Brought {
    State slot[slots];
  };
  /// Those of all rows, until the next round is gathered.
  using Merged = ScratchStates<Exec, T>;

  KOKKOS_FORCEINLINE_FUNCTION PanelStates(const Member& member, int lane, const Panel& panel)
      : m_member(member),
        m_panel(panel),
        m_lane(lane),
        m_brought(member.team_scratch(0), slots * threads * lanes),
        m_merged(member.team_scratch(0), most_rows) {}

  /// The number of this lane's slot k among those that share its row; slots that are left over have
  /// numbers behind them.
  KOKKOS_FORCEINLINE_FUNCTION int sharer(int k) const { return slot_number(k) / m_panel.rows; }
  KOKKOS_FORCEINLINE_FUNCTION int row(int k) const { return slot_number(k) % m_panel.rows; }

  template <class Show>
  KOKKOS_FORCEINLINE_FUNCTION void bring(std::uint32_t /*round*/, const Brought& mine,
                                         const Show& show) const {
    m_member.team_barrier();  // until all have done with the states of an earlier round
    for (int k = 0; k < slots; ++k) m_brought(slot_number(k)) = mine.slot[k];
    merge_sharers<slots>(m_panel.sharers);
    if (number() < m_panel.rows) show(number(), m_brought(number()));
  }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION Look look(int members, const Read& read) const {
    Look seen;
    if (number() / m_panel.rows < lookers()) look_at_some(members, read, seen);
    return seen;
  }

  KOKKOS_FORCEINLINE_FUNCTION Merged merge_looks(std::uint32_t /*round*/, int members,
                                                 const State& part) const {
    m_member.team_barrier();  // as in bring
    m_brought(number()) = part;
    merge_sharers<1>(members < lookers() ? members : lookers());
    if (number() < m_panel.rows) m_merged(number()) = m_brought(number());
    m_member.team_barrier();
    return m_merged;
  }

  /// The memory, for something else between two barriers.
  KOKKOS_FORCEINLINE_FUNCTION State* data() const { return m_brought.data(); }
  static std::size_t scratch_bytes() {
    return ScratchStates<Exec, T>::shmem_size(slots * threads * lanes) +
           ScratchStates<Exec, T>::shmem_size(most_rows);
  }

 private:
  /// Of this lane in the team.
  KOKKOS_FORCEINLINE_FUNCTION int number() const { return m_member.team_rank() * lanes + m_lane; }
  /// Neighbouring lanes have neighbouring slots, and a vector all of its slots one behind the
  /// other.
  KOKKOS_FORCEINLINE_FUNCTION int slot_number(int k) const {
    return (m_member.team_rank() * slots + k) * lanes + m_lane;
  }
  /// Lanes are dealt out to the rows as slots are, to look at messages: so many a row.
  KOKKOS_FORCEINLINE_FUNCTION int lookers() const { return threads * lanes / m_panel.rows; }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION void look_at_some(int members, const Read& read, Look& seen) const {
    constexpr int at_a_time = 8;  // so that few wait for one another
    const int looker = number() / m_panel.rows;
    const int row = number() % m_panel.rows;
    for (int first = looker; first < members; first += at_a_time * lookers()) {
      RoundMessage<T> message[at_a_time];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < at_a_time; ++k) {
        const int member = first + k * lookers();
        if (member < members && !read(member, row, message[k])) seen.there = false;
      }
      merge(seen.part.state, message);
      if (first == 0) seen.part.row = message[0].row;
    }
  }

  /// As merge_over_lanes the largest reference first: one by one the roundings of many like
  /// exponentials would add up, where each message's maximum is a bit larger than the one before.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION static void merge(State& state,
                                                const RoundMessage<T> (&message)[count]) {
    T max = state.max;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < count; ++k) max = larger(max, message[k].state.max);
    T sum = state.sum * rescaling(state.max, max);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < count; ++k)
      sum += message[k].state.sum * rescaling(message[k].state.max, max);
    state = {max, sum};
  }

  /// Merges the first `count` states of each row, of `each` a lane, into the first one, in a tree
  /// of barriers.
  template <int each>
  KOKKOS_FORCEINLINE_FUNCTION void merge_sharers(int count) const {
    m_member.team_barrier();
    while (count > 1) {
      const int half = (count + 1) / 2;
      for (int k = 0; k < each; ++k) {
        const int place = number() + k * threads * lanes;
        if (place >= (count - half) * m_panel.rows) break;
        State merged = m_brought(place);
        merged.merge(m_brought(place + half * m_panel.rows));
        m_brought(place) = merged;
      }
      m_member.team_barrier();
      count = half;
    }
  }

  const Member& m_member;
  const Panel& m_panel;
  int m_lane;
  ScratchStates<Exec, T> m_brought;
  Merged m_merged;
};

}  // namespace KokkosSoftmax::Impl

#endif
