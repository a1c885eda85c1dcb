// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_HARDWARE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_HARDWARE_HPP

/// \file
/// Properties of an execution space that Kokkos doesn't provide, with a conservative guess for
/// spaces that are not listed. All of them describe the instance's own device.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <backend/Device.hpp>
#include <cstdint>
#include <limits>

namespace KokkosSoftmax::Impl {

/// The number of multiprocessors of a GPU, or of threads of a host.
template <class Exec>
int multiprocessors(const Exec& exec) {
  if constexpr (is_cuda<Exec>)
    return device_properties(exec).multiProcessorCount;
  else if constexpr (is_hip<Exec>)
    return device_properties(exec).multiProcessorCount;
  else if constexpr (is_host_space<Exec>)
    return exec.concurrency();
  else
    return std::max(1, exec.concurrency() / 1024);
}

/// A kernel that needs nothing.
template <class Exec>
struct EmptyKernel {
  KOKKOS_FUNCTION void operator()(
      const typename Kokkos::TeamPolicy<Exec>::member_type& /*member*/) const {}
};

/// The largest number of lanes of all threads of a team, if the team's kernel leaves it enough
/// registers.
template <class Exec>
int most_lanes_of_team(const Exec& exec) {
  if constexpr (is_cuda<Exec> || is_hip<Exec>)
    return device_properties(exec).maxThreadsPerBlock;
  else
    return Kokkos::TeamPolicy<Exec>(exec, 1, 1, 1)
        .team_size_max(EmptyKernel<Exec>{}, Kokkos::ParallelForTag());
}

/// Bytes of level-0 scratch memory that a team can have if a multiprocessor is to hold `teams`
/// teams and Kokkos allows a team at most `most` bytes. On spaces for which nothing else is known,
/// `most` is taken as all the scratch memory of a multiprocessor.
template <class Exec>
std::size_t scratch_per_team([[maybe_unused]] const Exec& exec, int teams, int most) {
  const auto limit = static_cast<std::size_t>(most);
  if (is_host_space<Exec> || teams == 0) return limit;
  if constexpr (is_cuda<Exec>) {
    constexpr std::size_t of_kokkos = 2048;  // in addition to what a kernel requests
    const std::size_t share = device_properties(exec).sharedMemPerMultiprocessor / teams;
    return share > of_kokkos ? std::min(limit, share - of_kokkos) : 0;
  }
  return limit / teams;
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Bytes of shared memory for a thread block that is not launched by Kokkos (Kokkos gives a team at
/// most 40 KiB). 32 KiB of a multiprocessor's shared memory are left to the first-level cache,
/// because all loads go through that cache: on an H200 rows took a tenth longer with 28 KiB of
/// cache than with 60 KiB. A kernel whose asynchronous copies bypass the cache can do without.
inline int scratch_per_cluster_team(const cudaDeviceProp& device, int teams, bool needs_cache) {
  constexpr std::size_t granularity = 128;  // of allocations
  const std::size_t of_cache = needs_cache ? 32 * 1024 : 0;
  const std::size_t share = (device.sharedMemPerMultiprocessor - of_cache) / teams;
  const std::size_t of_team = share - device.reservedSharedMemPerBlock;
  return static_cast<int>(std::min(needs_cache ? of_team : of_team / granularity * granularity,
                                   device.sharedMemPerBlockOptin));
}
#endif

/// Bytes of a cache line of a GPU. Some GPUs have lines of half this size.
inline constexpr std::int64_t cache_line = 128;

/// Bytes of the last-level cache.
template <class Exec>
std::int64_t last_cache_bytes(const Exec& exec) {
  if constexpr (is_cuda<Exec>)
    return device_properties(exec).l2CacheSize;
  else if constexpr (is_hip<Exec>)
    return device_properties(exec).l2CacheSize;
  else
    return std::int64_t(8) << 20;
}

/// The number of rows that all teams of a multiprocessor work on at one time if the teams work on
/// panels (neighbouring strided rows that one team works on at one time).
inline constexpr int panel_rows_per_multiprocessor = 256;

/// An upper bound for the number of teams in a launch of a split schedule in which each team works
/// on `panel` rows at one time.
template <int panel, class Exec>
int max_split_teams(const Exec& exec) {
  constexpr int gpu_teams = panel > 1 ? panel_rows_per_multiprocessor / panel : 8;
  constexpr int teams_per_multiprocessor = is_host_space<Exec> ? 1 : gpu_teams;
  return std::max(128, teams_per_multiprocessor * multiprocessors(exec));
}

}  // namespace KokkosSoftmax::Impl

#endif
