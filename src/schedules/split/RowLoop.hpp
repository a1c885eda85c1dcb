// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWLOOP_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWLOOP_HPP

/// \file
/// What teams that share rows do row after row, and their kernel.

#include <limits>
#include <row/RowArgs.hpp>
#include <schedules/split/TeamGroup.hpp>

namespace KokkosSoftmax::Impl {

/// The rounds of a team in its group, whatever a team does with its share of a row. Team, which
/// derives from it, has
///   Brought sum(row)        what the lane brings of its share of a row, see RowStates
///   void write(row, all)    the share's output from the merged states of all
/// and brings constants of its own where those here don't hold.
template <class Team, class V, class Group>
class RowLoop {
 public:
  using State = typename Group::State;
  using Merged = typename Group::Merged;
  using Member = typename Group::Member;
  static constexpr int most_rows = Group::most_rows;      // of a team at one time
  static constexpr int max_members = Group::max_members;  // of a group
  /// Whether a share has to fit what a team can hold on chip.
  static constexpr bool holds_shares = false;
  /// Whether there must be as many groups as rows.
  static constexpr bool one_row_per_group = false;

  KOKKOS_FORCEINLINE_FUNCTION RowLoop(const Member& member, int lane, const RowArgs<V>& arguments,
                                      const SplitWorkspace& workspace, const SplitPlan& plan)
      : m_member(member),
        m_arguments(arguments),
        m_plan(plan),
        m_lane(lane),
        m_share(plan.chunks_per_team),
        m_group(member, lane, workspace, plan) {}

  /// Rows of the group. A round lags behind the next: while the group's states of one row are on
  /// their way, each team sums its share of the next one, and the second read finds the row still
  /// in the cache.
  KOKKOS_FORCEINLINE_FUNCTION void run() {
    std::uint32_t row = m_group.own_row(0);
    sum_and_publish(row, 0, 0u);
    Merged all;
    switch (m_group.join_group(0, all)) {
      case Group::Outcome::left_out:
        break;
      case Group::Outcome::complete:
        run_complete(row, all);
        break;
      case Group::Outcome::closed:  // all over again, in larger shares
        run_closed(own_rows);
    }
    m_group.leave();
  }

  static std::size_t scratch_bytes(const SplitPlan&) { return Group::scratch_bytes(); }

  /// The longest share that a team can have in one piece, given its scratch.
  static std::int64_t most_chunks(std::size_t /*scratch*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

 protected:
  /// Rows of a group that nobody claims: those whose numbers can't have come with a settled round.
  static constexpr std::uint32_t own_rows = 3;

  /// From the first row on, which is summed and whose states are merged to `all`.
  KOKKOS_FORCEINLINE_FUNCTION void run_complete(std::uint32_t row, const Merged& all) {
    std::uint32_t next = m_group.own_row(1);
    std::uint32_t after = m_group.own_row(2);
    if (there(next)) sum_and_publish(next, 1, m_group.claim_row(own_rows));
    team().write(row, all);
    for (std::uint32_t round = 1; there(next); ++round) {
      row = next;
      next = after;
      const auto seen = there(next)
                            ? sum_and_publish(next, round + 1, m_group.claim_row(own_rows), round)
                            : m_group.poll(round);
      const auto gathered = m_group.gather(round, seen);
      after = gathered.row;
      team().write(row, gathered.all);
    }
  }

  /// All rows of a group that was closed: its `own` own ones before those that it claims.
  KOKKOS_FORCEINLINE_FUNCTION void run_closed(std::uint32_t own) {
    m_share = (m_arguments.problem.columns / Team::RowTile::width + m_group.members()) /
              m_group.members();
    std::uint32_t row = m_group.own_row(0);
    for (std::uint32_t k = 0; there(row); ++k) {
      const std::uint32_t round = Group::first_slow_round + k;
      const bool next_is_own = k + 1 < own;
      sum_and_publish(row, round, next_is_own ? 0u : m_group.claim_row(own));
      const auto gathered = m_group.gather(round, m_group.poll(round));
      team().write(row, gathered.all);
      row = next_is_own ? m_group.own_row(k + 1) : gathered.row;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION bool there(std::uint32_t row) const { return row < m_plan.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin() const { return m_group.index() * m_share; }

  /// Ends a ChunkedRow where the team's share of it does.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void cut_to_share(Row& row) const {
    const std::int64_t end = begin() + m_share;
    if (end < row.end) row.end = end;
  }

  /// Looks at the messages of an earlier round on the way, where `poll_round` is one.
  KOKKOS_FORCEINLINE_FUNCTION typename Group::Polled sum_and_publish(std::uint32_t row,
                                                                     std::uint32_t round,
                                                                     std::uint32_t claimed,
                                                                     std::uint32_t poll_round = 0) {
    const typename Group::Contribution mine = team().sum(row);
    typename Group::Polled seen;
    if (poll_round != 0) seen = m_group.poll(poll_round);
    m_group.publish(round, mine, claimed);
    return seen;
  }

  const Member& m_member;
  const RowArgs<V>& m_arguments;
  const SplitPlan& m_plan;
  int m_lane;
  std::int64_t m_share;
  Group m_group;

 private:
  KOKKOS_FORCEINLINE_FUNCTION const Team& team() const { return static_cast<const Team&>(*this); }
};

/// The kernel of a kind of team.
template <class Team, class V>
struct SplitKernel {
  static constexpr int max_members = Team::max_members;
  static constexpr int most_rows = Team::most_rows;
  static constexpr bool holds_shares = Team::holds_shares;
  static constexpr bool one_row_per_group = Team::one_row_per_group;

  RowArgs<V> arguments;
  SplitWorkspace workspace;
  SplitPlan plan;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    Team(member, arguments, workspace, plan).run();
  }

  static std::size_t scratch_bytes(const SplitPlan& plan) { return Team::scratch_bytes(plan); }
  static std::int64_t most_chunks(std::size_t scratch) { return Team::most_chunks(scratch); }
};

}  // namespace KokkosSoftmax::Impl

#endif
