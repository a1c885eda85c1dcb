// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_HARDWARE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_HARDWARE_HPP

/// \file
/// What Kokkos doesn't tell about an execution space, each with a careful guess for spaces that
/// aren't listed. All of it is asked of the instance's own device.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <backend/Device.hpp>
#include <cstdint>
#include <limits>

namespace KokkosSoftmax::Impl {

/// Multiprocessors of a GPU, threads of a host.
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

/// Level-0 scratch that a team can have where a multiprocessor is to hold so many of them and
/// Kokkos gives a team `most` at most. That is taken to be all that a multiprocessor has where
/// nothing says more.
template <class Exec>
std::size_t scratch_per_team([[maybe_unused]] const Exec& exec, int teams, int most) {
  const auto limit = static_cast<std::size_t>(most);
  if (is_host_space<Exec> || teams == 0) return limit;
  if constexpr (is_cuda<Exec>) {
    constexpr std::size_t of_kokkos = 2048;  // beside what a kernel asks for
    const std::size_t share = device_properties(exec).sharedMemPerMultiprocessor / teams;
    return share > of_kokkos ? std::min(limit, share - of_kokkos) : 0;
  }
  return limit / teams;
}

#if defined(KOKKOS_ENABLE_CUDA)
/// Shared memory of a thread block that isn't launched by Kokkos, which gives a team 40 KiB at
/// most. 32 KiB of it are left to the first-level cache, through which all loads go: with 28 KiB of
/// cache instead of 60 rows took a tenth longer on an H200.
inline int scratch_per_cluster_team(const cudaDeviceProp& device, int teams) {
  constexpr std::size_t of_cache = 32 * 1024;
  const std::size_t share = (device.sharedMemPerMultiprocessor - of_cache) / teams;
  return static_cast<int>(
      std::min(share - device.reservedSharedMemPerBlock, device.sharedMemPerBlockOptin));
}
#endif

/// Bytes of a cache line of GPUs; some have half of it.
inline constexpr std::int64_t cache_line = 128;

/// Bytes of the last cache before memory.
template <class Exec>
std::int64_t last_cache_bytes(const Exec& exec) {
  if constexpr (is_cuda<Exec>)
    return device_properties(exec).l2CacheSize;
  else if constexpr (is_hip<Exec>)
    return device_properties(exec).l2CacheSize;
  else
    return std::int64_t(8) << 20;
}

/// The rows that all teams of a multiprocessor have under way where they work on panels of rows.
inline constexpr int panel_rows_per_multiprocessor = 256;

/// An upper bound of the teams that a launch of a split schedule has, each with `panel` rows.
template <int panel, class Exec>
int max_split_teams(const Exec& exec) {
  constexpr int gpu_teams = panel > 1 ? panel_rows_per_multiprocessor / panel : 8;
  constexpr int teams_per_multiprocessor = is_host_space<Exec> ? 1 : gpu_teams;
  return std::max(128, teams_per_multiprocessor * multiprocessors(exec));
}

}  // namespace KokkosSoftmax::Impl

#endif
