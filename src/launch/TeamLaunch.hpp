// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLAUNCH_HPP

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/TeamLimits.hpp>

namespace KokkosSoftmax::Impl {

/// Launches a kernel with the constants of a Shape by a team policy, which is the same for all such
/// kernels.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, class Op, class V>
struct TeamLaunch {
  static bool fits_device(const ContextOf<Exec, Kernel>& context) {
    if constexpr (requires { Kernel::max_columns; })
      if (context.problem().columns > Kernel::max_columns) return false;
    const TeamLimits& limits = TeamLimits::of(context.exec);
    if constexpr (counts_teams)
      if (Kernel(context.arguments).teams() > max_teams) return false;
    return limits.has_room_for_team<Shape>() &&
           Kernel::scratch_bytes(context.problem().columns) <= limits.scratch<Shape>(context.exec);
  }

  static void prepare(const Exec&) {}

  /// Launches the kernel once, or several times if there are more teams than a league can have.
  static void launch(const ContextOf<Exec, Kernel>& context) {
    if constexpr (counts_teams) {
      const Kernel kernel{context.arguments};
      launch_once(context, kernel, kernel.teams());
    } else {
      launch_parts(context);
    }
  }

 private:
  /// Whether a kernel tells how many teams work on a call. Otherwise each team works on the same
  /// number of rows.
  static constexpr bool counts_teams = requires(const Kernel& kernel) { kernel.teams(); };
  /// On CUDA, the number of teams of a launch must fit 31 bits; on other backends, the number of
  /// threads must.
  static constexpr std::int64_t max_teams =
      (std::int64_t(1) << 30) / (is_cuda<Exec> ? 1 : Shape::team_size * Shape::lanes);

  static void launch_parts(const ContextOf<Exec, Kernel>& context) {
    constexpr std::int64_t rows_per_team = Kernel::rows_per_team;
    Kernel kernel{context.arguments};
    for (; kernel.arguments.first_row < context.problem().rows;
         kernel.arguments.first_row += max_teams * rows_per_team) {
      const std::int64_t rows = context.problem().rows - kernel.arguments.first_row;
      launch_once(context, kernel, std::min(divide_up(rows, rows_per_team), max_teams));
    }
  }

  static void launch_once(const ContextOf<Exec, Kernel>& context, const Kernel& kernel,
                          std::int64_t teams) {
    PolicyOf<Exec, Shape, Kernel> policy(context.exec, static_cast<int>(teams), Shape::team_size,
                                         Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(context.problem().columns)));
    Kokkos::parallel_for(kernel_label<Op>(algorithm, context.problem().function), policy, kernel);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
