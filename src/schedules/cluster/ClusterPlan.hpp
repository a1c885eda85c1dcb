// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERPLAN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERPLAN_HPP

/// \file
/// How rows are divided over the teams of clusters. Plain arithmetic, without CUDA.

#include <algorithm>
#include <array>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// A row, and the pieces in which a team takes its share of it.
struct ClusterProblem {
  std::int64_t row_chunks;
  int chunk_bytes;
};

/// The most teams of a cluster that a device may have; 8 is what each with clusters has.
inline constexpr int most_cluster_teams = 16;

/// What a device has room for.
struct ClusterLimits {
  int max_teams = 0;                    // of a cluster
  std::int64_t max_chunks = 0;          // of a team
  std::int64_t comfortable_chunks = 0;  // that leave room for a first-level cache
  std::int64_t roomy_chunks = 0;        // that leave so much that fewer bring nothing
  std::array<int, most_cluster_teams + 1> resident{};  // clusters, by the number of their teams
};

struct ClusterPlan {
  int teams;  // of a cluster, which has one row
  int chunks_per_team;
};

/// Shares are whole cache lines.
inline std::int64_t line_chunks(const ClusterProblem& p) {
  return std::max<std::int64_t>(1, cache_line / p.chunk_bytes);
}

/// The teams for shares of up to `chunks`; more than a cluster can have where a row doesn't fit.
inline std::int64_t teams_for(const ClusterProblem& p, const ClusterLimits& limits,
                              std::int64_t chunks) {
  const std::int64_t most = chunks / line_chunks(p) * line_chunks(p);
  return most == 0 ? limits.max_teams + 1 : divide_up(p.row_chunks, most);
}

inline bool fits_cluster(const ClusterProblem& p, const ClusterLimits& limits) {
  return teams_for(p, limits, limits.max_chunks) <= limits.max_teams;
}

/// As few teams as hold a row in comfort, as each one more has to be waited for; all there can be
/// where these are too few for comfort; some more where clusters of that size leave clearly fewer
/// places of the device empty (an H200 has no room for 13 % of those for 9 teams of 4 warps). For a
/// row that fits.
inline std::int64_t teams_of_cluster(const ClusterProblem& p, const ClusterLimits& limits) {
  const auto at_most = [&](std::int64_t chunks) {
    return std::min<std::int64_t>(teams_for(p, limits, chunks), limits.max_teams);
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
