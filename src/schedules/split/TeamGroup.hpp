// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_TEAMGROUP_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_TEAMGROUP_HPP

/// \file
/// Groups of teams that divide rows among them. docs/split.md describes the protocol and explains
/// why it can't deadlock. In short: a team waits without bound only for teams that have started,
/// and a group that isn't complete after a bounded wait is closed with the members that it has.

#include <row/Chunk.hpp>
#include <schedules/split/Record.hpp>
#include <schedules/split/SplitPlan.hpp>
#include <schedules/split/Workspace.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The membership of one team in a group. All functions are called by all threads of the team
/// together. `States` is RowStates for teams that work on one row at a time, and PanelStates for
/// teams that work on panels of rows. A panel counts as one row here.
template <class States>
class TeamGroup {
 public:
  using Exec = typename States::Exec;
  using Member = typename States::Member;
  using State = typename States::State;
  using Contribution = typename States::Contribution;
  using Merged = typename States::Merged;
  using Polled = typename States::Polled;
  static constexpr int threads = States::threads;
  static constexpr int lanes = States::lanes;
  static constexpr int most_rows = States::most_rows;  // of a panel
  static constexpr int max_members = States::max_members;

  enum class Outcome { complete, closed, left_out };

  KOKKOS_FORCEINLINE_FUNCTION TeamGroup(const Member& member, int lane, const SplitWorkspace& space,
                                        const SplitPlan& plan)
      : m_member(member),
        m_space(space),
        m_plan(plan),
        m_lane(lane),
        m_number(member.league_rank() / plan.teams_per_row),
        m_index(member.league_rank() - m_number * plan.teams_per_row),
        m_members(plan.teams_per_row),
        m_states(member, lane, plan.panel),
        m_words(member.team_scratch(0), scratch_words) {
    if (is_first()) m_arrival = Kokkos::atomic_fetch_add(group_word(), 1u);
    m_epoch = LaunchWord(load_relaxed(m_space.launches)).epoch;
  }

  KOKKOS_FORCEINLINE_FUNCTION int index() const { return m_index; }
  KOKKOS_FORCEINLINE_FUNCTION int members() const { return m_members; }
  KOKKOS_FORCEINLINE_FUNCTION const States& states() const { return m_states; }

  /// The k-th of the group's own rows, which are not claimed.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t own_row(std::uint32_t k) const {
    return static_cast<std::uint32_t>(m_number) + k * static_cast<std::uint32_t>(m_plan.groups);
  }

  /// Claims a row after the `own_rows` own rows of each group. Only the first lane of the group's
  /// first team claims a row. Multiprocessors differ in the bandwidth that they get, so that fast
  /// groups take more rows.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_row(std::uint32_t own_rows) const {
    if (!is_first() || m_index != 0) return 0u;
    return own_rows * static_cast<std::uint32_t>(m_plan.groups) +
           Kokkos::atomic_fetch_add(m_space.claimed, 1u);
  }

  /// Merges the contributions of the team's lanes and publishes the result as the team's record of
  /// `round`, together with the row that claim_row returned.
  KOKKOS_FORCEINLINE_FUNCTION void publish(std::uint32_t round, const Contribution& mine,
                                           std::uint32_t claimed_row) {
    if (most_rows > 1 && round == 0 && is_first()) m_words(arrival_word) = m_arrival;
    m_states.contribute(round, mine, [&](int row, const State& merged) {
      // If there is only one row, the lane with its state is the first lane.
      if (!is_closed_word(most_rows > 1 ? m_words(arrival_word) : m_arrival))
        Record::publish(words(m_index, row, round), tag(round), {merged, claimed_row});
    });
  }

  /// What this lane reads of the records of the round.
  KOKKOS_FORCEINLINE_FUNCTION Polled poll(std::uint32_t round) const {
    return m_states.poll(m_members, [&](int member, int row, RoundRecord<State>& record) {
      return Record::read(words(member, row, round), tag(round), record);
    });
  }

  /// The merged states of all members, and the row that was published with them.
  struct Gathered {
    Merged all;
    std::uint32_t row;
  };

  /// Waits for the records of all members and merges them. Only for a group that is known to be
  /// complete or closed. `seen` is an earlier poll of the round: a poll that follows many loads is
  /// answered after them.
  KOKKOS_FORCEINLINE_FUNCTION Gathered gather(std::uint32_t round, Polled seen) {
    while (!seen.there) {
      before_next_poll();
      seen = poll(round);
    }
    return merge_over_group(round, seen.part);
  }

  /// gather for the first round, which settles which teams are in the group. `result` is valid if
  /// the group is complete.
  KOKKOS_FORCEINLINE_FUNCTION Outcome join_group(std::uint32_t round, Merged& result) {
    Polled seen;
    std::uint32_t closed_word = is_first() && is_closed_word(m_arrival) ? m_arrival : 0u;
    closed_word = max_word_over_lanes<lanes>(m_member, closed_word);
    bool all_started = false;
    for (std::uint32_t polls = 0; closed_word == 0u; ++polls) {
      if (polls > 0) before_next_poll();
      if (!seen.there || polls == 0) seen = poll(round);  // records that are there stay there
      if (max_word_over_lanes<lanes>(m_member, seen.there ? 0u : 1u) == 0u) break;
      if (polls >= m_plan.poll_limit && !all_started) {
        const std::uint32_t word = max_word_over_lanes<lanes>(m_member, m_lane == 0 ? close() : 0u);
        if (is_closed_word(word))
          closed_word = word;
        else
          all_started = true;
      }
    }
    return broadcast_outcome(round, closed_word, seen.part, result);
  }

  /// The team doesn't access the workspace after this call. The last team that leaves prepares the
  /// workspace for the next launch.
  KOKKOS_FORCEINLINE_FUNCTION void leave() const {
    if (!is_first()) return;
    const auto teams = static_cast<std::uint32_t>(m_plan.groups * m_plan.teams_per_row);
    if (Kokkos::atomic_fetch_add(m_space.finished, 1u) != teams - 1) return;
    for (int g = 0; g < m_plan.groups; ++g) store_relaxed(m_space.groups + g, 0u);
    store_relaxed(m_space.finished, 0u);
    store_relaxed(m_space.claimed, 0u);
    std::uint32_t epoch = m_epoch + m_plan.rows + first_slow_round;  // no group has more rounds
    if (epoch > max_epoch) {                                         // before tags repeat
      for (int w = 0; w < m_space.all_words; ++w)
        store_relaxed(m_space.words + w, std::uint64_t(0));
      Kokkos::memory_fence();
      epoch = 0;
    }
    store_relaxed(m_space.launches, LaunchWord::of(m_space.launch, epoch));
  }

  /// The number of rounds that a team can have published before it finds the group closed. The
  /// rounds of a closed group begin with this number.
  static constexpr std::uint32_t first_slow_round = 1;

  static std::size_t scratch_bytes() {
    return States::scratch_bytes() + ScratchWords::shmem_size(scratch_words);
  }

 private:
  using Record = TaggedRecord<State, most_rows>;
  using ScratchWords = Kokkos::View<std::uint32_t*, typename Exec::scratch_memory_space,
                                    Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  // A group's word. The low half counts arrivals. The team that closes the group writes the number
  // of members to the high half, together with the highest bit.
  static constexpr std::uint32_t closed_bit = 0x80000000u;
  static constexpr std::uint32_t arrivals_mask = 0xffffu;
  static constexpr std::uint32_t max_epoch = 0x7fffffffu;

  /// Words in scratch memory: the row that is received with a round, for two rounds, and m_arrival,
  /// for all lanes of a team with a panel.
  static constexpr int arrival_word = 2;
  static constexpr int scratch_words = most_rows > 1 ? 3 : 2;

  KOKKOS_FORCEINLINE_FUNCTION static bool is_closed_word(std::uint32_t word) {
    return (word & closed_bit) != 0u;
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_first() const {
    return m_lane == 0 && m_member.team_rank() == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t* group_word() const {
    return m_space.groups + m_number;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t tag(std::uint32_t round) const {
    return m_epoch + 1u + round;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t* words(int member, int row, std::uint32_t round) const {
    constexpr std::uint32_t ring = SplitWorkspace::ring;
    const std::uint32_t slot = round % ring + (m_slow ? ring : 0u);
    // The members' states are stored side by side, so that the lanes of a vector read few sectors.
    const std::int64_t group = std::int64_t(m_number) * m_plan.teams_per_row;
    return m_space.words + group * SplitWorkspace::words_per_team * most_rows +
           (slot * m_plan.teams_per_row + member) * Record::words * most_rows + row;
  }

  /// Closes the group, unless all of its teams have arrived or it is already closed. Returns the
  /// group's word after that.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t close() const {
    std::uint32_t word = load_relaxed(group_word());
    for (;;) {
      const std::uint32_t arrivals = word & arrivals_mask;
      if (is_closed_word(word) || arrivals == static_cast<std::uint32_t>(m_plan.teams_per_row))
        return word;
      const std::uint32_t closed = closed_bit | arrivals << 16 | arrivals;
      const std::uint32_t found = Kokkos::atomic_compare_exchange(group_word(), word, closed);
      if (found == word) return closed;
      word = found;
    }
  }

  /// Returns the merged states of the group to every thread.
  KOKKOS_FORCEINLINE_FUNCTION Gathered merge_over_group(std::uint32_t round,
                                                        const RoundRecord<State>& part) {
    const int parity = static_cast<int>(round % 2);
    if (is_first()) m_words(parity) = part.row;
    const Merged all = m_states.merge_polled(round, m_members, part.state);
    return {all, m_words(parity)};
  }

  /// Combines what the threads of the team have found: the group is closed if one thread has found
  /// it closed.
  KOKKOS_FORCEINLINE_FUNCTION Outcome broadcast_outcome(std::uint32_t round,
                                                        std::uint32_t closed_word,
                                                        const RoundRecord<State>& part,
                                                        Merged& result) {
    result = merge_over_group(round, part).all;
    ScratchWords found(reinterpret_cast<std::uint32_t*>(m_states.data()), threads + 1);
    m_member.team_barrier();
    if (m_lane == 0) found(m_member.team_rank()) = closed_word;
    if (is_first()) found(threads) = m_arrival;
    m_member.team_barrier();
    closed_word = 0u;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 0; t < threads; t += lanes)
      if (t + m_lane < threads) closed_word = larger_word(closed_word, found(t + m_lane));
    closed_word = max_word_over_lanes<lanes>(m_member, closed_word);
    const std::uint32_t arrival = found(threads);
    m_member.team_barrier();
    if (closed_word == 0u) return Outcome::complete;
    if (is_closed_word(arrival)) return Outcome::left_out;
    m_slow = true;
    m_index = static_cast<int>(arrival & arrivals_mask);
    m_members = static_cast<int>((closed_word & ~closed_bit) >> 16);
    return Outcome::closed;
  }

  const Member& m_member;
  const SplitWorkspace& m_space;
  const SplitPlan& m_plan;
  int m_lane;
  int m_number;
  int m_index;
  int m_members;
  bool m_slow = false;
  std::uint32_t m_arrival = 0;  // the group's word before this team arrived; only in the first lane
  std::uint32_t m_epoch;
  States m_states;
  ScratchWords m_words;
};

}  // namespace KokkosSoftmax::Impl

#endif
