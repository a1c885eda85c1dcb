// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLIMITS_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLIMITS_HPP

#include <Kokkos_Core.hpp>
#include <backend/Device.hpp>
#include <backend/Hardware.hpp>
#include <cstddef>

namespace KokkosSoftmax::Impl {

/// The second launch bound is a number of teams per multiprocessor on CUDA only.
template <class Exec, class Shape>
using PolicyOf = Kokkos::TeamPolicy<
    Exec, Kokkos::LaunchBounds<Shape::threads * Shape::lanes,
                               is_cuda<Exec> && Shape::min_teams != 0 ? Shape::min_teams : 1>>;

/// What a device has room for when it runs a kernel.
struct TeamLimits {
  bool team_fits = false;
  std::size_t scratch = 0;  // bytes per team

  /// Callers query this once per kernel and device, because the query takes longer than a launch.
  template <class Shape, class Exec, class Kernel>
  static TeamLimits of(const Exec& exec, const Kernel& kernel, std::size_t least_scratch) {
    using Policy = PolicyOf<Exec, Shape>;
    if (Shape::lanes > Policy::vector_length_max()) return {};
    Policy policy(exec, 1, 1, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(least_scratch));
    const int most = policy.team_size_max(kernel, Kokkos::ParallelForTag());
    if (Shape::threads > most) return {};
    const Policy whole(exec, 1, Shape::threads, Shape::lanes);
    return {true, scratch_per_team(exec, Shape::min_teams, whole.scratch_size_max(0))};
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
