// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERDEVICE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERDEVICE_HPP

/// \file
/// The calls of CUDA that launch a kernel in clusters of thread blocks, for which Kokkos has no
/// policy.

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <backend/Device.hpp>
#include <backend/Hardware.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/ClusterPlan.hpp>
#include <stdexcept>
#include <string>
#endif

namespace KokkosSoftmax::Impl {

/// Launches a kernel, whose teams have the size of a Shape, in clusters, and queries what a device
/// has room for.
template <class Kernel, class Shape>
class ClusterDevice;

#if defined(KOKKOS_ENABLE_CUDA)
// A kernel parameter that stays in constant memory even if its address is taken.
#if defined(__NVCC__)
#define KOKKOSSOFTMAX_IMPL_GRID_CONSTANT __grid_constant__
#else  // clang before version 20 doesn't support it
#define KOKKOSSOFTMAX_IMPL_GRID_CONSTANT
#endif

/// The body is empty if it is compiled for a GPU without clusters. It is never launched there.
template <class Kernel>
__global__ void __launch_bounds__(Kernel::team_lanes, Kernel::min_teams)
    run_in_clusters([[maybe_unused]] const KOKKOSSOFTMAX_IMPL_GRID_CONSTANT Kernel kernel,
                    [[maybe_unused]] int scratch_bytes) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  extern __shared__ __align__(16) unsigned char scratch[];
  kernel(ClusterMember(scratch, scratch_bytes));
#endif
}

/// The configuration of a launch of `clusters` clusters of `teams` teams, on the stream of an
/// instance.
struct ClusterConfig {
  cudaLaunchConfig_t config{};
  cudaLaunchAttribute size{};

  ClusterConfig(const Kokkos::Cuda& exec, dim3 team, int clusters, int teams, int scratch_bytes) {
    size.id = cudaLaunchAttributeClusterDimension;
    size.val.clusterDim = {static_cast<unsigned>(teams), 1, 1};
    config.gridDim = dim3(static_cast<unsigned>(clusters * teams));
    config.blockDim = team;
    config.dynamicSmemBytes = static_cast<std::size_t>(scratch_bytes);
    config.stream = exec.cuda_stream();
    config.attrs = &size;
    config.numAttrs = teams > 1 ? 1 : 0;  // a cluster of one team is an ordinary thread block
  }
  ClusterConfig(const ClusterConfig&) = delete;  // config points to size
  ClusterConfig& operator=(const ClusterConfig&) = delete;
};

template <class Kernel, class Shape>
class ClusterDevice {
 public:
  /// Queried once per kernel and device, because the query takes longer than a launch. Makes the
  /// device the current device of the thread, as a launch by Kokkos does.
  static const ClusterLimits& limits(const Kokkos::Cuda& exec) {
    static PerDevice<ClusterLimits> of_device;
    cudaSetDevice(exec.cuda_device());
    return of_device.of(exec, [&] { return ask_device(exec); });
  }

  /// Launches `clusters` clusters once. `label` is the kernel's label, for the error message.
  static void launch(const Kokkos::Cuda& exec, const std::string& label, int clusters, int teams,
                     int scratch, const Kernel& kernel) {
    const ClusterConfig cluster(exec, team, clusters, teams, scratch);
    const cudaError_t error =
        cudaLaunchKernelEx(&cluster.config, run_in_clusters<Kernel>, kernel, scratch);
    if (works(error)) return;
    throw std::runtime_error("KokkosSoftmax: " + label + " can't be launched (" +
                             cudaGetErrorString(error) +
                             "): use Algorithm::automatic on a working device");
  }

 private:
  static constexpr dim3 team{Shape::lanes, Shape::team_size, 1};

  static constexpr bool can_keep_columns = requires { requires Kernel::can_keep_columns; };

  static ClusterLimits ask_device(const Kokkos::Cuda& exec) {
    const cudaDeviceProp& device = device_properties(exec);
    const auto kernel = run_in_clusters<Kernel>;
    cudaFuncAttributes compiled{};
    if (device.major < 9 || !works(cudaFuncGetAttributes(&compiled, kernel)) ||
        compiled.ptxVersion < 90)
      return {};
    const int scratch = scratch_per_cluster_team(device, Shape::min_teams, !can_keep_columns);
    if (!works(
            cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, scratch)) ||
        !works(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1)))
      return {};
    const auto chunks_in = [&](double part) {
      return Kernel::most_chunks(static_cast<int>(scratch * part));
    };
    ClusterLimits limits{.scratch = scratch,
                         .max_chunks = chunks_in(1),
                         .comfortable_chunks = chunks_in(Kernel::comfortable_part),
                         .roomy_chunks = chunks_in(Kernel::roomy_part)};
    for (int teams = 1; teams <= Kernel::max_teams; ++teams) {
      limits.resident[teams] = resident_clusters(exec, teams, scratch);
      if (limits.resident[teams] > 0) limits.max_teams = teams;
    }
    return limits;
  }

  static int resident_clusters(const Kokkos::Cuda& exec, int teams, int scratch) {
    const auto kernel = run_in_clusters<Kernel>;
    int resident = 0;
    if (teams == 1) {  // for which cudaOccupancyMaxActiveClusters gives 0
      const bool known = works(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
          &resident, kernel, Kernel::team_lanes, static_cast<std::size_t>(scratch)));
      return known ? resident * device_properties(exec).multiProcessorCount : 0;
    }
    const ClusterConfig cluster(exec, team, 1, teams, scratch);
    return works(cudaOccupancyMaxActiveClusters(&resident, kernel, &cluster.config)) ? resident : 0;
  }

  /// Whether a call succeeded. If not, clears the last error of CUDA.
  static bool works(cudaError_t error) {
    if (error != cudaSuccess) cudaGetLastError();
    return error == cudaSuccess;
  }
};
#endif

}  // namespace KokkosSoftmax::Impl

#endif
