// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERPLAN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERPLAN_HPP

/// \file
/// How rows are divided over the teams of clusters: plain arithmetic, without CUDA.

#include <algorithm>
#include <array>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// The length of a row in chunks, the size of a chunk, and the smallest cluster that a kernel can
/// have.
struct ClusterProblem {
  std::int64_t row_chunks;
  int chunk_bytes;
  int fewest_teams = 1;
};

/// The largest number of teams of a cluster on any device. Each device with clusters supports 8.
inline constexpr int most_cluster_teams = 16;

/// What a device has room for.
struct ClusterLimits {
  int max_teams = 0;                    // of a cluster
  int scratch = 0;                      // bytes of scratch memory of a team
  std::int64_t max_chunks = 0;          // of a team
  std::int64_t comfortable_chunks = 0;  // of a team that leave room for a first-level cache
  std::int64_t roomy_chunks = 0;        // of a team; fewer bring no further gain
  std::array<int, most_cluster_teams + 1> resident{};  // clusters at a time, by number of teams
};

struct ClusterPlan {
  int teams;  // of a cluster, which works on one row
  int chunks_per_team;
};

/// The number of chunks of a cache line. Segments are whole cache lines.
inline std::int64_t line_chunks(const ClusterProblem& p) {
  return std::max<std::int64_t>(1, cache_line / p.chunk_bytes);
}

/// The number of teams if segments have up to `chunks` chunks. It is larger than the largest
/// cluster if a row doesn't fit.
inline std::int64_t teams_for(const ClusterProblem& p, const ClusterLimits& limits,
                              std::int64_t chunks) {
  const std::int64_t most = chunks / line_chunks(p) * line_chunks(p);
  return most == 0 ? limits.max_teams + 1 : divide_up(p.row_chunks, most);
}

inline bool fits_cluster(const ClusterProblem& p, const ClusterLimits& limits) {
  return p.fewest_teams <= limits.max_teams &&
         teams_for(p, limits, limits.max_chunks) <= limits.max_teams;
}

/// The number of teams of a cluster for a row that fits. In general, these are as few teams as hold
/// the row with up to `comfortable_chunks` each, because each additional team has to be waited for.
/// If even the largest cluster has too few teams for that, it is taken. Some more teams are taken
/// if clusters of that size leave clearly less of the device empty. (For clusters of 9 teams of 4
/// warps, 13 % of the places for teams on an H200 stay empty.)
inline std::int64_t teams_of_cluster(const ClusterProblem& p, const ClusterLimits& limits) {
  const auto at_most = [&](std::int64_t chunks) {
    return std::clamp<std::int64_t>(teams_for(p, limits, chunks), p.fewest_teams, limits.max_teams);
  };
  const auto slots = [&](std::int64_t teams) { return teams * limits.resident[teams]; };
  const std::int64_t fewest = at_most(limits.comfortable_chunks);
  const std::int64_t most = std::max(fewest, at_most(limits.roomy_chunks));
  std::int64_t most_places = 0;
  for (std::int64_t teams = fewest; teams <= most; ++teams)
    most_places = std::max(most_places, slots(teams));
  std::int64_t teams = fewest;
  while (teams < most && 100 * slots(teams) < 93 * most_places) ++teams;
  return teams;
}

inline ClusterPlan make_cluster_plan(const ClusterProblem& p, const ClusterLimits& limits) {
  const std::int64_t teams = teams_of_cluster(p, limits);
  const std::int64_t lines = divide_up(divide_up(p.row_chunks, teams), line_chunks(p));
  return {static_cast<int>(teams), static_cast<int>(lines * line_chunks(p))};
}

}  // namespace KokkosSoftmax::Impl

#endif
