// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_CLUSTERLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_CLUSTERLAUNCH_HPP

/// \file
/// The launch of a kernel in clusters of thread blocks, for which Kokkos has no policy.

#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/LaunchParts.hpp>
#include <schedules/cluster/ClusterDevice.hpp>
#include <schedules/cluster/ClusterPlan.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// Launches a kernel with the constants of a Shape in clusters.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, class Op, class V>
struct ClusterLaunch {
  using Device = ClusterDevice<Kernel, Shape>;

  static bool fits_device(const ContextOf<Exec, Kernel>& context) {
    const ClusterLimits& limits = Device::limits(context.exec);
    if (context.options.reproducible || limits.max_teams == 0 ||
        !fits_cluster(cluster_problem(context), limits))
      return false;
    const ClusterPlan division = plan(context);
    const Kernel kernel{context.arguments, division.chunks_per_team};
    if constexpr (counts_teams<Kernel>)
      if (kernel.teams() > max_clusters(division)) return false;
    return kernel.scratch_bytes() <= static_cast<std::size_t>(limits.scratch);
  }

  static void prepare(const ContextOf<Exec, Kernel>&) {}

  static void launch(const ContextOf<Exec, Kernel>& context) {
    const ClusterPlan division = plan(context);
    const Kernel kernel{context.arguments, division.chunks_per_team};
    const auto scratch = static_cast<int>(kernel.scratch_bytes());
    const auto launch_once = [&](const Kernel& part, int clusters) {
      const std::string& name = kernel_label<Op>(algorithm, context.problem().function);
      const LabelledKernel label(context.exec, name);
      Device::launch(context.exec, name, clusters, division.teams, scratch, part);
    };
    launch_parts(kernel, max_clusters(division), launch_once);
  }

 private:
  static ClusterProblem cluster_problem(const ContextOf<Exec, Kernel>& context) {
    return Kernel::problem(context.problem().columns);
  }
  static ClusterPlan plan(const ContextOf<Exec, Kernel>& context) {
    return make_cluster_plan(cluster_problem(context), Device::limits(context.exec));
  }
  /// The largest number of clusters of a launch.
  static std::int64_t max_clusters(const ClusterPlan& plan) {
    return (std::int64_t(1) << 30) / plan.teams;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
