// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLAUNCH_HPP

#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/LaunchParts.hpp>
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
    if constexpr (counts_teams<Kernel>)
      if (Kernel(context.arguments).teams() > max_teams) return false;
    return limits.has_room_for_team<Shape>() &&
           Kernel::scratch_bytes(context.problem().columns) <= limits.scratch<Shape>(context.exec);
  }

  static void prepare(const ContextOf<Exec, Kernel>&) {}

  /// Launches the kernel once, or several times if there are more teams than a league can have.
  static void launch(const ContextOf<Exec, Kernel>& context) {
    launch_parts(Kernel{context.arguments}, max_teams,
                 [&](const Kernel& kernel, int teams) { launch_once(context, kernel, teams); });
  }

 private:
  static constexpr std::int64_t max_teams = max_league_size<Exec, Shape>;

  static void launch_once(const ContextOf<Exec, Kernel>& context, const Kernel& kernel, int teams) {
    PolicyOf<Exec, Shape, Kernel> policy(context.exec, teams, Shape::team_size, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(context.problem().columns)));
    Kokkos::parallel_for(kernel_label<Op>(algorithm, context.problem().function), policy, kernel);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
