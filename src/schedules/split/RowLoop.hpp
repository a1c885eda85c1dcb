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
template <class Team, class Arguments, class Group>
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

  KOKKOS_FORCEINLINE_FUNCTION RowLoop(const Member& member, int lane, const Arguments& arguments,
                                      const SplitWorkspace& workspace, const SplitPlan& plan)
      : m_member(member),
        m_arguments(arguments),
        m_plan(plan),
        m_lane(lane),
        m_share(plan.chunks_per_team),
        m_group(member, lane, workspace, plan) {}

  /// Works on the rows of the group, which has none if there are more groups than rows.
  KOKKOS_FORCEINLINE_FUNCTION void run() {
    if (there(m_group.own_row(0))) run_rounds(Phase::joining, 3);
    m_group.leave();
  }

  static std::size_t scratch_bytes(const SplitPlan&) { return Group::scratch_bytes(); }

  /// The largest number of chunks of a segment, given the team's bytes of scratch memory.
  static std::int64_t most_chunks(std::size_t /*scratch*/) {
    return std::numeric_limits<std::int64_t>::max();
  }

 protected:
  /// Works on all rows of a group that was closed, see run_rounds().
  KOKKOS_FORCEINLINE_FUNCTION void run_closed(std::uint32_t own_rows) {
    enlarge_share();
    run_rounds(Phase::closed, own_rows);
  }

  KOKKOS_FORCEINLINE_FUNCTION bool there(std::uint32_t row) const { return row < m_plan.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin() const { return m_group.index() * m_share; }

  /// Ends a ChunkedRow at the end of the team's segment.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION void cut_to_share(Row& row) const {
    const std::int64_t end = begin() + m_share;
    if (end < row.end) row.end = end;
  }

  const Member& m_member;
  const Arguments& m_arguments;
  const SplitPlan& m_plan;
  int m_lane;
  std::int64_t m_share;
  Group m_group;

 private:
  enum class Phase { joining, complete, closed };

  /// Works on rows: first on the `own_rows` own rows of the group, then on rows that it claims. The
  /// group has at least one row.
  ///
  /// The rounds of a complete group overlap: while the group's states of one row are being
  /// exchanged, each team sums its segment of the next row. The second read finds the row still in
  /// the cache. The rounds of a closed group don't overlap. If a group was closed while the team
  /// was joining it, the team starts again with the first row and a larger segment.
  ///
  /// The number of a claimed row is received with the record of the row that is written one round
  /// before, and nothing is claimed before it is settled which teams are in the group. So the
  /// first rows can't be claimed.
  ///
  /// There is one loop for all phases, so that a kernel has the code of sum() and write() once.
  KOKKOS_FORCEINLINE_FUNCTION void run_rounds(Phase phase, const std::uint32_t own_rows) {
    std::uint32_t k = 0;                      // number, in the group, of the row that is summed
    std::uint32_t next = m_group.own_row(0);  // the row that is summed
    std::uint32_t row = next;                 // the row that is written
    Merged all;                               // its state
    for (;;) {
      const bool overlaps = phase == Phase::complete;
      const bool all_is_known = overlaps && k == 1;  // since the team joined the group
      const std::uint32_t round = k + (phase == Phase::closed ? Group::first_slow_round : 0u);
      typename Group::Polled seen;
      if (there(next)) {
        const bool claims = phase != Phase::joining && k + (overlaps ? 2 : 1) >= own_rows;
        const std::uint32_t claimed = claims ? m_group.claim_row(own_rows) : 0u;
        const typename Group::Contribution mine = team().sum(next);
        if (overlaps && !all_is_known) seen = m_group.poll(round - 1);
        m_group.publish(round, mine, claimed);
      } else if (!all_is_known) {
        seen = m_group.poll(round - 1);
      }
      if (phase == Phase::joining) {
        const auto outcome = m_group.join_group(0, all);
        if (outcome == Group::Outcome::left_out) return;
        if (outcome == Group::Outcome::closed) {
          enlarge_share();
          phase = Phase::closed;
        } else {
          phase = Phase::complete;
          next = m_group.own_row(++k);
        }
        continue;
      }
      if (!overlaps) {
        row = next;
        seen = m_group.poll(round);
      }
      std::uint32_t received = 0;
      if (!all_is_known) {
        const auto gathered = m_group.gather(overlaps ? round - 1 : round, seen);
        all = gathered.all;
        received = gathered.row;
      }
      team().write(row, all);
      row = next;
      ++k;
      next = k < own_rows ? m_group.own_row(k) : received;
      if (!there(overlaps ? row : next)) return;
    }
  }

  /// Fewer members have larger segments.
  KOKKOS_FORCEINLINE_FUNCTION void enlarge_share() {
    m_share = (m_arguments.problem.columns / Team::RowTile::width + m_group.members()) /
              m_group.members();
  }

  KOKKOS_FORCEINLINE_FUNCTION const Team& team() const { return static_cast<const Team&>(*this); }
};

/// The kernel whose teams are objects of class `Team`.
template <class Team, class Arguments>
struct SplitKernel {
  static constexpr int max_members = Team::max_members;
  static constexpr int most_rows = Team::most_rows;
  static constexpr bool holds_shares = Team::holds_shares;
  static constexpr bool one_row_per_group = Team::one_row_per_group;

  Arguments arguments;
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
