// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SPLIT_ROWGROUP_HPP
#define KOKKOSSOFTMAX_SRC_SPLIT_ROWGROUP_HPP

/// \file
/// Teams that share rows. docs/split.md has the protocol and why it can't deadlock; in short: a
/// team waits without bound only for teams that have started, and a group that isn't complete after
/// a bounded wait is closed with the members it has.

#include <RowReduction.hpp>
#include <split/Workspace.hpp>

namespace KokkosSoftmax::Impl {

/// How a launch is divided: group g has the teams [g * teams_per_row, (g + 1) * teams_per_row) of
/// the league, and works on the rows g, g + groups, ... first and then on rows that it claims.
struct SplitPlan {
  int groups = 1;
  int teams_per_row = 1;
  std::int64_t chunks_per_team = 0;  // of a row, where the group is complete
  std::uint32_t rows = 1;
  std::uint32_t patience = 0;  // polls until a group is closed
};

/// Loads and stores that other teams see; each word is valid by itself, so that no order is needed.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word peek(const Word* word) {
  KOKKOS_IF_ON_DEVICE((return *static_cast<const volatile Word*>(word);))
  KOKKOS_IF_ON_HOST((return Kokkos::atomic_load(word);))
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void poke(Word* word, Word value) {
  KOKKOS_IF_ON_DEVICE((*static_cast<volatile Word*>(word) = value;))
  KOKKOS_IF_ON_HOST((Kokkos::atomic_store(word, value);))
}

/// What a team tells its group in a round.
template <class T>
struct RoundMessage {
  LogSumExpState<T> state;
  std::uint32_t row = 0;  // of a later round; in the message of the group's first team
};

/// A message as words of 32 bits beside a tag of 32 bits, so that a reader knows of each word
/// whether it is the one it waits for. `stride` messages are interleaved, word by word.
template <class T, int stride>
struct TaggedMessage {
  static constexpr int state_words = sizeof(LogSumExpState<T>) / sizeof(std::uint32_t);
  static constexpr int words = state_words + 1;
  static_assert(words <= SplitWorkspace::words_per_message);
  struct Halves {
    std::uint32_t half[state_words];
  };

  KOKKOS_FORCEINLINE_FUNCTION static void publish(std::uint64_t* to, std::uint32_t tag,
                                                  const RoundMessage<T>& message) {
    const std::uint64_t high = std::uint64_t(tag) << 32;
    const auto halves = Kokkos::bit_cast<Halves>(message.state);
    for (int w = 0; w < state_words; ++w) poke(to + w * stride, high | halves.half[w]);
    poke(to + state_words * stride, high | message.row);
  }

  /// False where a word isn't there yet.
  KOKKOS_FORCEINLINE_FUNCTION static bool read(const std::uint64_t* from, std::uint32_t tag,
                                               RoundMessage<T>& message) {
    std::uint32_t half[words];
    bool there = true;
    for (int w = 0; w < words; ++w) {
      const std::uint64_t word = peek(from + w * stride);
      there = there && static_cast<std::uint32_t>(word >> 32) == tag;
      half[w] = static_cast<std::uint32_t>(word);
    }
    Halves halves;
    for (int w = 0; w < state_words; ++w) halves.half[w] = half[w];
    message = {Kokkos::bit_cast<LogSumExpState<T>>(halves), half[state_words]};
    return there;
  }
};

/// One team's membership of a group. All functions are called by all threads of the team together.
/// A team works on one row at a time, or on a panel of as many as it has lanes: then each lane
/// brings the state of its own row. A panel counts as a row here.
template <class Exec, class T, int threads, int lanes, int panel = 1>
class RowGroup {
  static_assert(panel == 1 || panel == lanes);

 public:
  static constexpr int rows_per_team = panel;
  /// Each lane of a team looks at the state of one member, or each thread at those of some.
  static constexpr int max_members = panel == 1 ? threads * lanes : 32 * threads;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = LogSumExpState<T>;

  enum class Outcome { complete, closed, left_out };

  KOKKOS_FORCEINLINE_FUNCTION RowGroup(const Member& member, int lane, const SplitWorkspace& space,
                                       const SplitPlan& plan)
      : m_member(member),
        m_space(space),
        m_plan(plan),
        m_lane(lane),
        m_number(member.league_rank() / plan.teams_per_row),
        m_index(member.league_rank() - m_number * plan.teams_per_row),
        m_members(plan.teams_per_row),
        m_states(member.team_scratch(0), 4 * round_states),
        m_rows(member.team_scratch(0), 2) {
    if (is_first()) m_arrival = Kokkos::atomic_fetch_add(group_word(), 1u);
    m_epoch = peek(m_space.epoch);
  }

  KOKKOS_FORCEINLINE_FUNCTION int index() const { return m_index; }
  KOKKOS_FORCEINLINE_FUNCTION int members() const { return m_members; }

  /// The group's k-th row where nobody has to claim it.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t own_row(std::uint32_t k) const {
    return static_cast<std::uint32_t>(m_number) + k * static_cast<std::uint32_t>(m_plan.groups);
  }

  /// Claims a row behind the groups' `own_rows` own ones, in the first lane of the group's first
  /// team. Multiprocessors differ in the bandwidth that they get: groups that are fast take more
  /// rows.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t claim_row(std::uint32_t own_rows) const {
    if (!is_first() || m_index != 0) return 0u;
    return own_rows * static_cast<std::uint32_t>(m_plan.groups) +
           Kokkos::atomic_fetch_add(m_space.claimed, 1u);
  }

  /// Merges the states of the team's threads and shows them to the group as its part of `round`,
  /// beside what claim_row gave.
  KOKKOS_FORCEINLINE_FUNCTION void publish(std::uint32_t round, const State& mine,
                                           std::uint32_t claimed_row) {
    const int buffer = static_cast<int>(round % 2) * round_states;
    if (has_state()) m_states(buffer + place(m_member.team_rank())) = mine;
    m_member.team_barrier();
    if (m_member.team_rank() != 0) return;
    const State merged = merge_threads(buffer);
    const std::uint32_t arrival =
        panel > 1 ? max_word_over_lanes<lanes>(m_member, m_arrival) : m_arrival;
    if (has_state() && !is_closed_word(arrival))
      Message::publish(words(m_index, round), tag(round), {merged, claimed_row});
  }

  /// What this lane sees of the round's messages.
  struct Look {
    RoundMessage<T> part;
    bool there = true;
  };
  KOKKOS_FORCEINLINE_FUNCTION Look look(std::uint32_t round) const {
    Look seen;
    if constexpr (panel == 1) {
      const int member = member_of_lane();
      if (member < m_members)
        seen.there = Message::read(words(member, round), tag(round), seen.part);
    } else {
      for (int member = m_member.team_rank(); member < m_members; member += threads) {
        RoundMessage<T> message;
        if (!Message::read(words(member, round), tag(round), message)) seen.there = false;
        seen.part.state.merge(message.state);
        if (member == 0) seen.part.row = message.row;
      }
    }
    return seen;
  }

  /// The states of all members merged, and the row that came with them. Only for a group that is
  /// known to be complete or closed. `seen` is an earlier look at the round: a look after many
  /// loads is answered after them.
  KOKKOS_FORCEINLINE_FUNCTION RoundMessage<T> gather(std::uint32_t round, Look seen) {
    while (!seen.there) seen = look(round);
    return merge_over_group(round, seen.part);
  }

  /// gather for the first round, which settles who is in the group. `result` is there if the group
  /// is complete.
  KOKKOS_FORCEINLINE_FUNCTION Outcome settle(std::uint32_t round, State& result) {
    Look seen;
    std::uint32_t closed_word = is_first() && is_closed_word(m_arrival) ? m_arrival : 0u;
    closed_word = max_word_over_lanes<lanes>(m_member, closed_word);
    bool all_started = false;
    for (std::uint32_t polls = 0; closed_word == 0u; ++polls) {
      if (!seen.there || polls == 0) seen = look(round);  // what is there isn't asked again
      if (max_word_over_lanes<lanes>(m_member, seen.there ? 0u : 1u) == 0u) break;
      if (polls >= m_plan.patience && !all_started) {
        const std::uint32_t word = max_word_over_lanes<lanes>(m_member, m_lane == 0 ? close() : 0u);
        if (is_closed_word(word))
          closed_word = word;
        else
          all_started = true;
      }
    }
    return agree(round, closed_word, seen.part, result);
  }

  /// From here on the team doesn't touch the workspace. The last one to leave prepares it for the
  /// next launch.
  KOKKOS_FORCEINLINE_FUNCTION void leave() const {
    if (!is_first()) return;
    const auto teams = static_cast<std::uint32_t>(m_plan.groups * m_plan.teams_per_row);
    if (Kokkos::atomic_fetch_add(m_space.finished, 1u) != teams - 1) return;
    for (int g = 0; g < m_plan.groups; ++g) poke(m_space.groups + g, 0u);
    poke(m_space.finished, 0u);
    poke(m_space.claimed, 0u);
    std::uint32_t epoch = m_epoch + m_plan.rows + first_slow_round;  // no group has more rounds
    if (epoch > max_epoch) {                                         // before tags come round
      for (int w = 0; w < m_space.all_words; ++w) poke(m_space.words + w, std::uint64_t(0));
      epoch = 0;
    }
    poke(m_space.epoch, epoch);
  }

  /// Rounds of the fast way that can have been published when a group is found closed.
  static constexpr std::uint32_t first_slow_round = 1;

  static std::size_t scratch_bytes() {
    return ScratchStates<Exec, T>::shmem_size(4 * round_states) + ScratchRows::shmem_size(2);
  }

 private:
  using Message = TaggedMessage<T, panel>;
  using ScratchRows = Kokkos::View<std::uint32_t*, typename Exec::scratch_memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  // A group's word: arrivals in the low half; the closing team puts the number of members into the
  // high half, with the highest bit.
  static constexpr std::uint32_t closed_bit = 0x80000000u;
  static constexpr std::uint32_t arrivals_mask = 0xffffu;
  static constexpr std::uint32_t max_epoch = 0x7fffffffu;

  /// In scratch: the states that the threads bring to a round.
  static constexpr int round_states = threads * panel;
  KOKKOS_FORCEINLINE_FUNCTION int place(int thread) const {
    return panel == 1 ? thread : thread * panel + m_lane;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_state() const { return panel > 1 || m_lane == 0; }

  KOKKOS_FORCEINLINE_FUNCTION static bool is_closed_word(std::uint32_t word) {
    return (word & closed_bit) != 0u;
  }

  KOKKOS_FORCEINLINE_FUNCTION bool is_first() const {
    return m_lane == 0 && m_member.team_rank() == 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t* group_word() const {
    return m_space.groups + m_number;
  }
  KOKKOS_FORCEINLINE_FUNCTION int member_of_lane() const {
    return m_member.team_rank() * lanes + m_lane;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t tag(std::uint32_t round) const {
    return m_epoch + 1u + round;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::uint64_t* words(int member, std::uint32_t round) const {
    constexpr std::uint32_t ring = SplitWorkspace::ring;
    const std::uint32_t place = round % ring + (m_slow ? ring : 0u);
    // the members' states side by side, so that a vector's lanes read few sectors
    const std::int64_t group = std::int64_t(m_number) * m_plan.teams_per_row;
    return m_space.words + group * SplitWorkspace::words_per_team * panel +
           (place * m_plan.teams_per_row + member) * Message::words * panel +
           (panel == 1 ? 0 : m_lane);
  }

  /// The states of the first `count` threads in a buffer, merged: those of a row, or lane by lane.
  KOKKOS_FORCEINLINE_FUNCTION State merge_threads(int buffer, int count = threads) const {
    State all;
    if constexpr (panel == 1) {
      all = merge_states<threads, lanes, T>(m_member, m_lane, m_states, buffer);
    } else {
      // the largest first, as merge_over_lanes
      for (int t = 0; t < count; ++t) all.max = larger(all.max, m_states(buffer + place(t)).max);
      for (int t = 0; t < count; ++t) {
        const State part = m_states(buffer + place(t));
        all.sum += part.sum * rescaling(part.max, all.max);
      }
    }
    return all;
  }

  /// Closes the group unless all its teams have arrived or it is closed already; the group's word
  /// after that.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t close() const {
    std::uint32_t word = peek(group_word());
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

  /// One barrier: every thread gets the merged state of the group. Only the threads that have a
  /// member's state in one of their lanes bring something.
  KOKKOS_FORCEINLINE_FUNCTION RoundMessage<T> merge_over_group(std::uint32_t round,
                                                               const RoundMessage<T>& part) {
    const int parity = static_cast<int>(round % 2);
    const int buffer = (2 + parity) * round_states;
    if (is_first()) m_rows(parity) = part.row;
    if constexpr (panel > 1) {
      m_states(buffer + place(m_member.team_rank())) = part.state;
      m_member.team_barrier();
      return {merge_threads(buffer, m_members < threads ? m_members : threads), m_rows(parity)};
    }
    const int parts = (m_members + lanes - 1) / lanes;
    if (m_member.team_rank() < parts) {
      const State merged = merge_over_lanes<lanes>(m_member, part.state);
      if (m_lane == 0) m_states(buffer + m_member.team_rank()) = merged;
    }
    m_member.team_barrier();
    const State all = parts > 1 ? merge_parts(buffer, parts) : m_states(buffer);
    return {all, m_rows(parity)};
  }

  /// For groups of more members than a vector has lanes.
  KOKKOS_FORCEINLINE_FUNCTION State merge_parts(int buffer, int parts) const {
    State part;
    if (m_lane < parts) part = m_states(buffer + m_lane);
    return merge_over_lanes<lanes>(m_member, part);
  }

  /// The team's threads bring together what each has found: closed if one has found that.
  KOKKOS_FORCEINLINE_FUNCTION Outcome agree(std::uint32_t round, std::uint32_t closed_word,
                                            const RoundMessage<T>& part, State& result) {
    result = merge_over_group(round, part).state;
    ScratchRows found(reinterpret_cast<std::uint32_t*>(m_states.data()), threads + 1);
    m_member.team_barrier();
    if (m_lane == 0) found(m_member.team_rank()) = closed_word;
    if (is_first()) found(threads) = m_arrival;
    m_member.team_barrier();
    closed_word = max_word_over_lanes<lanes>(m_member, m_lane < threads ? found(m_lane) : 0u);
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
  std::uint32_t m_arrival = 0;  // the group's word before this team arrived; in the first lane
  std::uint32_t m_epoch;
  ScratchStates<Exec, T> m_states;
  ScratchRows m_rows;
};

}  // namespace KokkosSoftmax::Impl

#endif
