// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PROCESSOR_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PROCESSOR_HPP

/// \file
/// The processor that the kernels run on.

#include <host/Instructions.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Whether the vendor of the processor is AMD.
KOKKOSSOFTMAX_HOST_FUNCTION bool is_amd() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amd");
#else
  return false;
#endif
}

/// Whether the processor's own prefetchers read contiguous rows in less time than prefetches far
/// ahead do: those of AMD's Zen 4, not those of Zen 5. Earlier processors of AMD are treated like
/// Zen 4, and later ones like Zen 5.
KOKKOSSOFTMAX_HOST_FUNCTION bool prefers_own_prefetchers() {
#if defined(__x86_64__)
  return __builtin_cpu_is("amdfam19h") || __builtin_cpu_is("amdfam17h") ||
         __builtin_cpu_is("amdfam15h") || __builtin_cpu_is("amdfam10h") ||
         __builtin_cpu_is("btver2") || __builtin_cpu_is("btver1");
#else
  return false;
#endif
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
