// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_CLUSTERS_CLUSTERPLAN_HPP
#define KOKKOSSOFTMAX_SRC_CLUSTERS_CLUSTERPLAN_HPP

/// \file
/// How rows are divided over the teams of clusters. Plain arithmetic, without CUDA.

#include <DivideUp.hpp>
#include <Hardware.hpp>
#include <algorithm>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// A row, and the pieces in which a team takes its share of it.
struct ClusterProblem {
  std::int64_t row_chunks;
  int chunk_bytes;
  std::int64_t tile_chunks;  // that a team has in registers at one time
};

/// What a device has room for.
struct ClusterLimits {
  int max_teams = 0;            // of a cluster
  std::int64_t max_chunks = 0;  // of a team
};

struct ClusterPlan {
  int teams;  // of a cluster, which has one row
  int chunks_per_team;
};

/// Shares are whole cache lines.
inline std::int64_t line_chunks(const ClusterProblem& p) {
  return std::max<std::int64_t>(1, cache_line / p.chunk_bytes);
}

/// Alike for all teams but the last.
inline std::int64_t cluster_share(const ClusterProblem& p, std::int64_t teams) {
  return divide_up(divide_up(p.row_chunks, teams), line_chunks(p)) * line_chunks(p);
}

/// More than a cluster can have where a row doesn't fit.
inline std::int64_t fewest_teams(const ClusterProblem& p, const ClusterLimits& limits) {
  const std::int64_t most = limits.max_chunks / line_chunks(p) * line_chunks(p);
  return most == 0 ? limits.max_teams + 1 : divide_up(p.row_chunks, most);
}

/// The part of the places of a team's tiles that have an entry; the others take as long.
inline double filled_by(const ClusterProblem& p, std::int64_t teams) {
  const std::int64_t share = cluster_share(p, teams);
  return static_cast<double>(share) /
         static_cast<double>(divide_up(share, p.tile_chunks) * p.tile_chunks);
}

/// As few teams as hold a row, as each one more has to be waited for, unless more of them have
/// fuller tiles; by measurements on an H200.
inline ClusterPlan make_cluster_plan(const ClusterProblem& p, const ClusterLimits& limits) {
  constexpr double worth_it = 0.1;
  const std::int64_t fewest = fewest_teams(p, limits);
  const std::int64_t most = std::min<std::int64_t>(2 * fewest, limits.max_teams);
  std::int64_t teams = fewest;
  for (std::int64_t more = fewest + 1; more <= most; ++more)
    if (filled_by(p, more) > filled_by(p, teams) + worth_it) teams = more;
  return {static_cast<int>(teams), static_cast<int>(cluster_share(p, teams))};
}

}  // namespace KokkosSoftmax::Impl

#endif
