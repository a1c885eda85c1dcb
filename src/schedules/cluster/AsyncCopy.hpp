// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCCOPY_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCCOPY_HPP

/// \file
/// Copies from a device's global memory to scratch memory that don't pass through registers (PTX
/// ISA, cp.async). If the instruction doesn't exist (in tests on a host), the copies are made
/// immediately.

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// Copies *from to *to. The copy is complete when wait_for_copies() returns, for the calling lane
/// only. `through_cache`: the copy goes through the first-level cache. Copies of less than 16 bytes
/// always do.
template <bool through_cache, class Slot>
KOKKOS_FORCEINLINE_FUNCTION void copy_async(Slot* to, const Slot* from) {
  static_assert(sizeof(Slot) == 4 || sizeof(Slot) == 8 || sizeof(Slot) == 16);
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  const auto there = static_cast<std::uint32_t>(__cvta_generic_to_shared(to));
  const auto here = __cvta_generic_to_global(from);
  if constexpr (through_cache || sizeof(Slot) < 16)
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(there), "l"(here),
                 "n"(sizeof(Slot))
                 : "memory");
  else
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(there), "l"(here) : "memory");
#else
  *to = *from;
#endif
}

/// Waits until all copies of the calling lane are complete.
KOKKOS_FORCEINLINE_FUNCTION void wait_for_copies() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
