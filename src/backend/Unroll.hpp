// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_UNROLL_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_UNROLL_HPP

/// \file
/// Macros that tell each compiler to unroll a loop.

// Unrolls a loop fully. A compiler can keep an array in registers only if the loops over it are
// fully unrolled.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__) || defined(__clang__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("GCC unroll 128")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL
#endif

// The same for a loop with a `break`. Empty for clang on a host, which warns that it didn't unroll
// such a loop; on a host the missing unrolling does no harm.
#if defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__) && \
    !defined(SYCL_LANGUAGE_VERSION)
#define KOKKOSSOFTMAX_IMPL_UNROLL_TO_BREAK
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL_TO_BREAK KOKKOSSOFTMAX_IMPL_UNROLL
#endif

// For a loop over entries in scratch memory while a tile is held in registers: further unrolling
// would leave too few registers.
#if defined(__CUDA_ARCH__)
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE _Pragma("unroll 2")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
#endif

#endif
