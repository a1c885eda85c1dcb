// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_UNROLL_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_UNROLL_HPP

/// \file
/// How each compiler is told to unroll a loop.

#include <Kokkos_Macros.hpp>
#include <utility>

// Unrolls a loop fully. A compiler can keep an array in registers only if the loops over it are
// fully unrolled.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__) || defined(__clang__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("GCC unroll 128")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL
#endif

// For a loop over entries in scratch memory while a tile is held in registers: further unrolling
// would leave too few registers.
#if defined(__CUDA_ARCH__)
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE _Pragma("unroll 2")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
#endif

// For a loop that runs seldom in kernels whose registers other code needs, and for a loop with a
// long body.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__)
#define KOKKOSSOFTMAX_IMPL_NO_UNROLL _Pragma("unroll 1")
#else
#define KOKKOSSOFTMAX_IMPL_NO_UNROLL
#endif

namespace KokkosSoftmax::Impl {

/// Calls body(0), body(1), ... body(count - 1), until one returns false. The calls are written out
/// one after another: compilers for GPUs don't unroll every loop that can be left early.
template <int count, class Body>
KOKKOS_FORCEINLINE_FUNCTION void unrolled_while(const Body& body) {
  [&]<int... i>(std::integer_sequence<int, i...>) { static_cast<void>((body(i) && ...)); }
  (std::make_integer_sequence<int, count>{});
}

}  // namespace KokkosSoftmax::Impl

#endif
