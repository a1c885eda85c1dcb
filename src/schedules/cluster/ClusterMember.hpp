// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERMEMBER_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERMEMBER_HPP

#include <Kokkos_Core.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
namespace KokkosSoftmax::Impl {

/// A team of a cluster. A cluster consists of thread blocks that the GPU starts together on
/// neighbouring multiprocessors, and that can access each other's shared memory (CUDA, compute
/// capability 9.0). The class has the part of the interface of Kokkos' team member that the
/// schedules use. As in Kokkos, the lanes of a vector are numbered by threadIdx.x and the threads
/// of a team by threadIdx.y.
class ClusterMember {
 public:
  using Scratch = Kokkos::Cuda::scratch_memory_space;

  KOKKOS_FORCEINLINE_FUNCTION ClusterMember(void* memory, int bytes)
      : m_memory(static_cast<char*>(memory)), m_scratch(memory, bytes) {}

  KOKKOS_FORCEINLINE_FUNCTION const Scratch& team_scratch(int) const {
    return m_scratch.set_team_thread_mode(0, 1, 0);
  }
  /// The scratch memory as a whole, from a multiple of 16 bytes on. Offsets that are constants take
  /// no instructions, and the compiler knows where the pointer points to.
  KOKKOS_FORCEINLINE_FUNCTION char* scratch() const { return m_memory; }
  KOKKOS_FORCEINLINE_FUNCTION int team_rank() const { return read<Register::team_rank>(); }
  KOKKOS_FORCEINLINE_FUNCTION int league_rank() const { return read<Register::cluster>(); }
  /// The number of clusters of the launch.
  KOKKOS_FORCEINLINE_FUNCTION int league_size() const { return read<Register::clusters>(); }
  KOKKOS_FORCEINLINE_FUNCTION int rank_in_cluster() const { return read<Register::rank>(); }
  KOKKOS_FORCEINLINE_FUNCTION int cluster_size() const { return read<Register::size>(); }

  KOKKOS_FORCEINLINE_FUNCTION void team_barrier() const {
#if defined(__CUDA_ARCH__)
    __syncthreads();
#endif
  }

  /// When a thread returns from `wait`, all threads of the cluster have called `arrive`. This
  /// doesn't order what they have written before: a barrier that orders that takes a microsecond
  /// under load.
  KOKKOS_FORCEINLINE_FUNCTION void arrive() const {
#if defined(__CUDA_ARCH__)
    __syncwarp();  // `aligned`: the lanes of a warp call it together
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
  }
  KOKKOS_FORCEINLINE_FUNCTION void wait() const {
#if defined(__CUDA_ARCH__)
    __syncwarp();
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
  }

 private:
  enum class Register { team_rank, cluster, clusters, rank, size };

  char* m_memory;
  Scratch m_scratch;

  template <Register which>
  KOKKOS_FORCEINLINE_FUNCTION static int read() {
    int value = 0;
#if defined(__CUDA_ARCH__)
    if constexpr (which == Register::team_rank) value = static_cast<int>(threadIdx.y);
    if constexpr (which == Register::cluster) asm("mov.u32 %0, %%clusterid.x;" : "=r"(value));
    if constexpr (which == Register::clusters) asm("mov.u32 %0, %%nclusterid.x;" : "=r"(value));
    if constexpr (which == Register::rank) asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(value));
    if constexpr (which == Register::size) asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(value));
#endif
    return value;
  }
};

}  // namespace KokkosSoftmax::Impl
#endif

#endif
