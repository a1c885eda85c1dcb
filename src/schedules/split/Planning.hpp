// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PLANNING_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_PLANNING_HPP

/// \file
/// How rows are divided over groups of teams.

#include <algorithm>
#include <backend/Hardware.hpp>
#include <limits>
#include <numeric>
#include <schedules/split/Panel.hpp>
#include <schedules/split/TeamGroup.hpp>

namespace KokkosSoftmax::Impl {

/// What a split kernel has to divide and to divide it by.
struct SplitProblem {
  std::int64_t rows;  // or panels of them, see TeamGroup
  Panel panel;
  std::int64_t row_chunks;   // chunks a row
  int chunk_bytes;           // of all rows of a panel
  std::int64_t tile_chunks;  // chunks in the registers of a team
  std::int64_t most_chunks;  // chunks that a team can hold
  int max_teams;             // resident at one time, if nothing else runs
  int max_members;           // of a group
  std::int64_t cache_bytes;
};

/// A round has a number of 30 bits.
inline constexpr std::int64_t max_split_rows = std::int64_t(1) << 30;

/// The fewest chunks that fill whole cache lines. Shares are multiples of it, so that all of them
/// begin at the beginning of a line where the row does.
inline std::int64_t line_chunks(const SplitProblem& p) {
  return cache_line / std::gcd(cache_line, p.chunk_bytes);
}

/// Waiting costs no more than what the work takes alone: as long as one team would need for the
/// row. A poll takes about as long as a team takes for 32 KiB.
template <class Exec>
std::uint32_t split_poll_limit(const SplitProblem& p) {
  if (is_host_space<Exec>) return 1000;
  return static_cast<std::uint32_t>(
      std::min<std::int64_t>(64 + p.row_chunks * p.chunk_bytes / 32768, 1 << 20));
}

/// A group at least, even where not all of its teams are resident at one time: it closes.
inline int groups_of(const SplitProblem& p, std::int64_t teams_per_row) {
  return static_cast<int>(
      std::clamp<std::int64_t>(p.max_teams / teams_per_row, 1, std::max<std::int64_t>(1, p.rows)));
}

/// A team's share of a row in chunks: whole cache lines.
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

/// The fewest teams that can hold a row, each a share of whole cache lines; a team must be able to
/// hold one.
inline std::int64_t fewest_members(const SplitProblem& p) {
  const std::int64_t most_chunks = p.most_chunks - p.most_chunks % line_chunks(p);
  return std::max<std::int64_t>(1, divide_up(p.row_chunks, most_chunks));
}

/// Shares that a team can hold, and as many groups as there can be: the fewest teams a row, or a
/// few more where that saves a round. Beside its chunks a share costs as much as a fifth of a tile
/// (waiting for the others, merging), by measurements on an H200.
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
    const double rounds = rows <= groups ? 1 : rows / groups + 0.5;  // as groups claim their rows
    const auto share = static_cast<double>(share_chunks(p, teams));
    const double cost = rounds * (share + 0.2 * static_cast<double>(p.tile_chunks));
    if (cost >= best_cost) continue;
    best_teams = teams;
    best_cost = cost;
  }
  return make_split_plan<Exec>(p, best_teams);
}

/// Shares of any number of tiles. Where the cache is to hold rows until their second read, as many
/// teams a row as keep the two rows that each group has under way there.
template <class Exec>
SplitPlan plan_split_online(const SplitProblem& p, bool keep_in_cache) {
  const std::int64_t most = std::min(p.max_members, p.max_teams);
  const std::int64_t tiles = std::max<std::int64_t>(1, divide_up(p.row_chunks, p.tile_chunks));
  const std::int64_t row_bytes = p.row_chunks * p.chunk_bytes;
  constexpr std::int64_t rows_under_way = 2;  // of a group
  std::int64_t groups = std::min<std::int64_t>(p.rows, p.max_teams);
  if (keep_in_cache)
    groups = std::clamp<std::int64_t>(p.cache_bytes / (rows_under_way * row_bytes + 1), 1, groups);
  return make_split_plan<Exec>(
      p, std::clamp<std::int64_t>(p.max_teams / groups, 1, std::min<std::int64_t>(most, tiles)));
}

}  // namespace KokkosSoftmax::Impl

#endif
