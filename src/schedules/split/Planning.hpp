// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PLANNING_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PLANNING_HPP

/// \file
/// Plans how rows are divided over groups of teams.

#include <algorithm>
#include <backend/Hardware.hpp>
#include <limits>
#include <numeric>
#include <schedules/split/Panel.hpp>
#include <schedules/split/TeamGroup.hpp>

namespace KokkosSoftmax::Impl {

/// The rows that a split kernel works on, and the limits of the kernel and the device.
struct SplitProblem {
  std::int64_t rows;  // or panels, see TeamGroup
  Panel panel;
  std::int64_t row_chunks;   // chunks per row
  int chunk_bytes;           // of one chunk of each row of a panel
  std::int64_t tile_chunks;  // chunks of a row in the registers of a team
  std::int64_t most_chunks;  // chunks of a row that a team can hold
  int max_teams;             // resident at one time, if nothing else runs
  int max_members;           // of a group
  std::int64_t cache_bytes;
};

/// The number of a round has 30 bits.
inline constexpr std::int64_t max_split_rows = std::int64_t(1) << 30;

/// The smallest number of chunks that fills whole cache lines. Segments are multiples of it: if the
/// row begins at a cache line, so does each segment.
inline std::int64_t line_chunks(const SplitProblem& p) {
  return cache_line / std::gcd(cache_line, p.chunk_bytes);
}

/// The number of polls after which a group is closed. The polls take about as long as one team
/// would need for the row by itself, so that waiting costs no more than the work alone. One poll
/// takes about as long as a team takes for 32 KiB.
template <class Exec>
std::uint32_t split_poll_limit(const SplitProblem& p) {
  if (is_host_space<Exec>) return 1000;
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(64 + p.row_chunks * p.chunk_bytes / 32768, 1 << 20));
}

/// The number of groups. There is at least one group, even if not all of its teams can be resident
/// at one time: such a group is closed.
inline int groups_of(const SplitProblem& p, std::int64_t teams_per_row) {
  return static_cast<int>(
      std::clamp<std::int64_t>(p.max_teams / teams_per_row, 1, std::max<std::int64_t>(1, p.rows)));
}

/// A team's segment of a row in chunks: whole cache lines.
inline std::int64_t share_chunks(const SplitProblem& p, std::int64_t teams_per_row) {
  return divide_up(divide_up(p.row_chunks, teams_per_row), line_chunks(p)) * line_chunks(p);
}

template <class Exec>
SplitPlan make_split_plan(const SplitProblem& p, std::int64_t teams_per_row) {
  SplitPlan plan;
  plan.teams_per_row = static_cast<int>(teams_per_row);
  plan.groups = groups_of(p, teams_per_row);
  plan.panel = p.panel;
  plan.chunks_per_team = share_chunks(p, teams_per_row);
  plan.rows = static_cast<std::uint32_t>(p.rows);
  plan.poll_limit = split_poll_limit<Exec>(p);
  return plan;
}

/// The smallest number of teams that can hold a row, each with a segment of whole cache lines. A
/// team must be able to hold at least line_chunks(p).
inline std::int64_t fewest_members(const SplitProblem& p) {
  const std::int64_t most_chunks = p.most_chunks - p.most_chunks % line_chunks(p);
  return std::max<std::int64_t>(1, divide_up(p.row_chunks, most_chunks));
}

/// Plans segments that a team can hold, and as many groups as possible: the fewest teams per row,
/// or a few more if that saves a round. In addition to its chunks, a segment costs as much as a
/// fifth of a tile, for waiting for the other teams and for merging (measured on an H200).
template <class Exec>
SplitPlan plan_split_in_one_read(const SplitProblem& p) {
  constexpr int tries = 8;
  const std::int64_t fewest = fewest_members(p);
  const std::int64_t most = std::min<std::int64_t>({p.max_members, p.max_teams, fewest + tries});
  std::int64_t best_teams = fewest;
  double best_cost = std::numeric_limits<double>::infinity();
  for (std::int64_t teams = fewest; teams <= most; ++teams) {
    const double groups = groups_of(p, teams);
    const auto rows = static_cast<double>(p.rows);
    const double rounds = rows <= groups ? 1 : rows / groups + 0.5;  // since groups claim rows
    const auto share = static_cast<double>(share_chunks(p, teams));
    const double cost = rounds * (share + 0.2 * static_cast<double>(p.tile_chunks));
    if (cost >= best_cost) continue;
    best_teams = teams;
    best_cost = cost;
  }
  return make_split_plan<Exec>(p, best_teams);
}

/// Plans segments of any number of tiles. With `keep_in_cache`, the rows should stay in the cache
/// until their second read. Then each row gets so many teams that the two rows that each group has
/// in progress fit the cache.
template <class Exec>
SplitPlan plan_split_online(const SplitProblem& p, bool keep_in_cache) {
  const std::int64_t most = std::min(p.max_members, p.max_teams);
  const std::int64_t tiles = std::max<std::int64_t>(1, divide_up(p.row_chunks, p.tile_chunks));
  const std::int64_t row_bytes = p.row_chunks * p.chunk_bytes;
  constexpr std::int64_t rows_under_way = 2;  // per group
  std::int64_t groups = std::min<std::int64_t>(p.rows, p.max_teams);
  if (keep_in_cache)
    groups = std::clamp<std::int64_t>(p.cache_bytes / (rows_under_way * row_bytes + 1), 1, groups);
  return make_split_plan<Exec>(
      p, std::clamp<std::int64_t>(p.max_teams / groups, 1, std::min<std::int64_t>(most, tiles)));
}

}  // namespace KokkosSoftmax::Impl

#endif
