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
    const auto launch_once = [&](const Kernel& part, int clusters) {
      const std::string& name = kernel_label<Op>(algorithm, context.problem().function);
      const LabelledKernel label(context.exec, name);
      Device::launch(context.exec, name, clusters, division.teams,
                     static_cast<int>(part.scratch_bytes()), part);
    };
    if constexpr (can_keep_columns)
      if (const int clusters = clusters_that_keep_columns(context, division); clusters > 0)
        return launch_once(keeping_columns(kernel), clusters);
    launch_parts(kernel, max_clusters(division), launch_once);
  }

 private:
  static ClusterProblem cluster_problem(const ContextOf<Exec, Kernel>& context) {
    return Kernel::problem(context.problem().columns);
  }
  static ClusterPlan plan(const ContextOf<Exec, Kernel>& context) {
    return make_cluster_plan(cluster_problem(context), Device::limits(context.exec));
  }

  static constexpr bool can_keep_columns = requires { requires Kernel::can_keep_columns; };
  static Kernel keeping_columns(Kernel kernel) {
    kernel.keep_columns();
    return kernel;
  }
  /// The number of clusters that keep what the rows share, or 0 if each cluster should work on one
  /// row.
  static int clusters_that_keep_columns(const ContextOf<Exec, Kernel>& context,
                                        const ClusterPlan& plan) {
    constexpr int fewest_rows = 4;  // of a cluster
    const ClusterLimits& limits = Device::limits(context.exec);
    const int resident = limits.resident[static_cast<std::size_t>(plan.teams)];
    const Kernel kernel = keeping_columns(Kernel{context.arguments, plan.chunks_per_team});
    const bool serves = context.arguments.rows_share_inputs() &&
                        kernel.scratch_bytes() <= static_cast<std::size_t>(limits.scratch);
    const bool has_rows = context.problem().rows >= std::int64_t(fewest_rows) * resident;
    return serves && has_rows && keeping_columns_pays(context, plan) ? resident : 0;
  }
  /// Whether that is faster (measured on an H200, see docs/trials.md). Doubles are faster except in
  /// clusters of one team. Other types are slower if all rows are aligned and fill the slots of
  /// their teams, except if they are long.
  static bool keeping_columns_pays(const ContextOf<Exec, Kernel>& context,
                                   const ClusterPlan& plan) {
    using X = typename V::X;
    if (sizeof(X) == sizeof(double)) return plan.teams > 1;
    constexpr std::int64_t longest = sizeof(X) == sizeof(float) ? 32768 : 16384;
    constexpr std::int64_t slots =
        std::int64_t(Shape::team_size) * Shape::lanes * Shape::items * Shape::width;  // of a team
    const std::int64_t columns = context.problem().columns;
    const bool are_aligned =
        Shape::access == AccessMode::guarded_vectors || context.rows_are_lines();
    const bool fill_slots = 10 * columns >= 9 * slots * plan.teams;
    return !(are_aligned && fill_slots && columns <= longest);
  }

  /// The largest number of clusters of a launch.
  static std::int64_t max_clusters(const ClusterPlan& plan) {
    return (std::int64_t(1) << 30) / plan.teams;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
