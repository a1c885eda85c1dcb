// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_CLUSTERLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_CLUSTERLAUNCH_HPP

/// \file
/// The launch of a kernel in clusters of thread blocks, for which Kokkos has no policy.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
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
    return !context.options.reproducible && limits.max_teams > 0 &&
           fits_cluster(cluster_problem(context), limits);
  }

  static void prepare(const Exec&) {}

  /// Launches the kernel once, or several times if there are more teams than a launch can have.
  static void launch(const ContextOf<Exec, Kernel>& context) {
    const ClusterPlan plan =
        make_cluster_plan(cluster_problem(context), Device::limits(context.exec));
    const auto scratch = static_cast<int>(Kernel::scratch_bytes(plan.chunks_per_team));
    const std::int64_t max_clusters = (std::int64_t(1) << 30) / plan.teams;
    Kernel kernel{context.arguments, plan.chunks_per_team};
    for (; kernel.arguments.first_row < context.problem().rows;
         kernel.arguments.first_row += max_clusters) {
      const std::int64_t rows = context.problem().rows - kernel.arguments.first_row;
      const auto clusters = static_cast<int>(std::min(rows, max_clusters));
      const std::string& name = kernel_label<Op>(algorithm, context.problem().function);
      const LabelledKernel label(context.exec, name);
      Device::launch(context.exec, name, clusters, plan.teams, scratch, kernel);
    }
  }

 private:
  static ClusterProblem cluster_problem(const ContextOf<Exec, Kernel>& context) {
    const std::int64_t chunks = divide_up(context.problem().columns, Shape::width);
    return {.row_chunks = std::max<std::int64_t>(1, chunks),
            .chunk_bytes = Shape::width * static_cast<int>(sizeof(typename V::X))};
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
