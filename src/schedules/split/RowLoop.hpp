// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWLOOP_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_ROWLOOP_HPP

/// \file
/// The loop of a team over the rows that its group divides among its teams, and the kernel that
/// runs this loop.

#include <limits>
#include <row/RowArgs.hpp>
#include <schedules/split/TeamGroup.hpp>

namespace KokkosSoftmax::Impl {

/// The rounds of a team in its group, independent of how a team processes its segment of a row.
/// `Team` derives from this class and has
///   Contribution sum(row)   what the lane contributes to the state of the row, see RowStates
///   void write(row, all)    writes the segment's output, given the merged states of all teams
/// `Team` has its own versions of the constants below if these values don't apply to it.
template <class Team, class V, class Group>
class RowLoop {
 public:
  using State = typename Group::State;
  using Merged = typename Group::Merged;
  using Member = typename Group::Member;
  static constexpr int most_rows = Group::most_rows;      // that a team works on at one time
  static constexpr int max_members = Group::max_members;  // of a group
  /// Whether a segment must fit the registers and the scratch memory of a team.
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

  /// Works on the rows of the group. Consecutive rounds overlap: while the group's states of one
  /// row are being exchanged, each team sums its segment of the next row. The second read finds the
  /// row still in the cache.
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
      case Group::Outcome::closed:  // starts again, with larger segments
        run_closed(own_rows);
    }
    m_group.leave();
  }

  static std::size_t scratch_bytes(const SplitPlan&) { return Group::scratch_bytes(); }

  /// The largest number of chunks of a segment, given the team's bytes of scratch memory.
  static std::int64_t most_chunks(std::size_t /*scratch*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

 protected:
  /// The number of rows of a group that are not claimed. The number of a claimed row is received
  /// with an earlier round, and nothing is claimed before it is settled which teams are in the
  /// group. So the first rows can't be claimed.
  static constexpr std::uint32_t own_rows = 3;

  /// Runs the rounds of a complete group. The first row has been summed, and `all` is its merged
  /// state.
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

  /// Works on all rows of a group that was closed: first on its `own` own rows, then on the rows
  /// that it claims.
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

  /// Ends a ChunkedRow at the end of the team's segment.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void cut_to_share(Row& row) const {
    const std::int64_t end = begin() + m_share;
    if (end < row.end) row.end = end;
  }

  /// Sums the team's segment of a row and publishes the result as the record of `round`. Before
  /// publishing, polls the records of the earlier round `poll_round`, unless that is 0.
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

/// The kernel whose teams are objects of class `Team`.
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
