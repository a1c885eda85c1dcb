// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_LAUNCHPARTS_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_LAUNCHPARTS_HPP

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// Whether a kernel tells how many teams work on a call. Otherwise each team works on the same
/// number of rows.
template <class Kernel>
inline constexpr bool counts_teams = requires(const Kernel& kernel) {
  kernel.teams();
};

/// Calls launch_once(kernel, teams) for all rows of a call: once, or several times if there are
/// more than `max_teams` teams. A kernel that counts its teams can be launched only once. For
/// clusters, a team is a cluster.
template <class Kernel, class LaunchOnce>
void launch_parts(Kernel kernel, std::int64_t max_teams, const LaunchOnce& launch_once) {
  if constexpr (counts_teams<Kernel>) {
    launch_once(kernel, static_cast<int>(kernel.teams()));
  } else {
    constexpr std::int64_t rows_per_team = Kernel::rows_per_team;
    const std::int64_t all = kernel.arguments.problem.rows;
    for (; kernel.arguments.first_row < all;
         kernel.arguments.first_row += max_teams * rows_per_team) {
      const std::int64_t rows = all - kernel.arguments.first_row;
      launch_once(kernel, static_cast<int>(std::min(divide_up(rows, rows_per_team), max_teams)));
    }
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
