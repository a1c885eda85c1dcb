// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANELSTATES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PANELSTATES_HPP

#include <row/Chunk.hpp>
#include <schedules/split/Panel.hpp>
#include <schedules/split/Record.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The states of a panel's rows in a team, with the same interface as RowStates. Each lane
/// contributes `slots` states. The slots are assigned to the rows in turn, see Panel.
template <class Exec_, RowState State_, int threads_, int lanes_, int most_rows_, int slots_>
class PanelStates {
 public:
  using Exec = Exec_;
  using State = State_;
  static constexpr int threads = threads_;
  static constexpr int lanes = lanes_;
  static constexpr int slots = slots_;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Polled = PolledRound<State>;
  static constexpr int most_rows = most_rows_;
  static constexpr int max_members = threads * lanes;
  static_assert(most_rows <= threads * lanes, "each row needs a lane");

  /// The states of the lane's slots.
  struct Contribution {
    State slot[slots];
  };
  /// The merged states of all rows, valid until the next round is gathered.
  using Merged = ScratchStates<Exec, State>;

  KOKKOS_FORCEINLINE_FUNCTION PanelStates(const Member& member, int lane, const Panel& panel)
      : m_member(member),
        m_panel(panel),
        m_lane(lane),
        m_contributed(member.team_scratch(0), slots * threads * lanes),
        m_merged(member.team_scratch(0), most_rows) {}

  /// The number of this lane's slot k among the slots that share its row. Slots that are left over
  /// have the numbers from `lanes_per_row` on.
  KOKKOS_FORCEINLINE_FUNCTION int lane_in_row(int k) const { return slot_number(k) / m_panel.rows; }
  KOKKOS_FORCEINLINE_FUNCTION int row(int k) const { return slot_number(k) % m_panel.rows; }

  template <class Publish>
  KOKKOS_FORCEINLINE_FUNCTION void contribute(std::uint32_t /*round*/, const Contribution& mine,
                                              const Publish& publish) const {
    m_member.team_barrier();  // until all lanes have used the states of an earlier round
    for (int k = 0; k < slots; ++k) m_contributed(slot_number(k)) = mine.slot[k];
    merge_lanes_of_row<slots>(m_panel.lanes_per_row);
    if (number() < m_panel.rows) publish(number(), m_contributed(number()));
  }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION Polled poll(int members, const Read& read) const {
    Polled seen;
    if (number() / m_panel.rows < pollers()) poll_some(members, read, seen);
    return seen;
  }

  KOKKOS_FORCEINLINE_FUNCTION Merged merge_polled(std::uint32_t /*round*/, int members,
                                                  const State& part) const {
    m_member.team_barrier();  // as in contribute
    m_contributed(number()) = part;
    merge_lanes_of_row<1>(members < pollers() ? members : pollers());
    if (number() < m_panel.rows) m_merged(number()) = m_contributed(number());
    m_member.team_barrier();
    return m_merged;
  }

  /// The scratch memory of the states, which can be used for other data between two barriers.
  KOKKOS_FORCEINLINE_FUNCTION State* data() const { return m_contributed.data(); }
  static std::size_t scratch_bytes() {
    return ScratchStates<Exec, State>::shmem_size(slots * threads * lanes) +
           ScratchStates<Exec, State>::shmem_size(most_rows);
  }

 private:
  /// The number of this lane in the team.
  KOKKOS_FORCEINLINE_FUNCTION int number() const { return m_member.team_rank() * lanes + m_lane; }
  /// Neighbouring lanes have neighbouring slots, and the slots of a vector are consecutive.
  KOKKOS_FORCEINLINE_FUNCTION int slot_number(int k) const {
    return (m_member.team_rank() * slots + k) * lanes + m_lane;
  }
  /// The number of lanes per row that poll records. Lanes are assigned to the rows in turn, like
  /// slots.
  KOKKOS_FORCEINLINE_FUNCTION int pollers() const { return threads * lanes / m_panel.rows; }

  template <class Read>
  KOKKOS_FORCEINLINE_FUNCTION void poll_some(int members, const Read& read, Polled& seen) const {
    constexpr int at_a_time = 8;  // so that few loads wait for one another
    const int poller = number() / m_panel.rows;
    const int row = number() % m_panel.rows;
    for (int first = poller; first < members; first += at_a_time * pollers()) {
      RoundRecord<State> record[at_a_time];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < at_a_time; ++k) {
        const int member = first + k * pollers();
        if (member < members && !read(member, row, record[k])) seen.there = false;
      }
      merge(seen.part.state, record);
      if (first == 0) seen.part.row = record[0].row;
    }
  }

  /// Determines the largest entry first, like merge_over_lanes. If the records were merged one
  /// by one, and each record's maximum were slightly larger than the one before, the rounding
  /// errors of many similar exponentials would add up.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION static void merge(State& state,
                                                const RoundRecord<State> (&record)[count]) {
    using Traits = StateTraits<State>;
    auto max = Traits::max(state);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < count; ++k) max = larger(max, Traits::max(record[k].state));
    const auto reference = Traits::reference_of(max);
    auto sum = sum_relative_to(reference, state);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < count; ++k) sum += sum_relative_to(reference, record[k].state);
    const State merged = Traits::make(max, sum);
    state = is_merged_near_zero(merged) ? settled(merged, state, record) : merged;
  }

  /// The merged state, which is near 0, of a state and records.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION static State settled(
      const State& merged, [[maybe_unused]] const State& state,
      [[maybe_unused]] const RoundRecord<State> (&record)[count]) {
    if constexpr (keeps_digits<State>) {
      const auto terms_of = [&](const State& part) {
        return TermsNearZero<State>::of_part(merged.max, part.max,
                                             sum_relative_to(merged.max, part));
      };
      TermsNearZero<State> terms = terms_of(state);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < count; ++k) terms.add(terms_of(record[k].state));
      return terms.settled(merged);
    }
    return merged;
  }

  /// Merges the first `count` states of each row into the row's first state, in a tree with one
  /// barrier per level. Each lane has `each` states.
  template <int each>
  KOKKOS_FORCEINLINE_FUNCTION void merge_lanes_of_row(int count) const {
    m_member.team_barrier();
    while (count > 1) {
      const int half = (count + 1) / 2;
      for (int k = 0; k < each; ++k) {
        const int slot = number() + k * threads * lanes;
        if (slot >= (count - half) * m_panel.rows) break;
        State merged = m_contributed(slot);
        merged.merge(m_contributed(slot + half * m_panel.rows));
        m_contributed(slot) = merged;
      }
      m_member.team_barrier();
      count = half;
    }
  }

  const Member& m_member;
  const Panel& m_panel;
  int m_lane;
  ScratchStates<Exec, State> m_contributed;
  Merged m_merged;
};

}  // namespace KokkosSoftmax::Impl

#endif
