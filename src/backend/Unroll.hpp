// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_UNROLL_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_UNROLL_HPP

/// \file
/// How each compiler is told to unroll a loop.

// Only fully unrolled loops let a compiler keep an array in registers.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__) || defined(__clang__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("GCC unroll 128")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL
#endif

// The same for a loop that can be left: clang for a host warns that it wasn't unrolled, and there
// that does no harm.
#if defined(__clang__) && !defined(__CUDACC__) && !defined(__HIPCC__) && \
    !defined(SYCL_LANGUAGE_VERSION)
#define KOKKOSSOFTMAX_IMPL_UNROLL_TO_BREAK
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL_TO_BREAK KOKKOSSOFTMAX_IMPL_UNROLL
#endif

// For a loop over what is in scratch, beside a tile in registers, of which more at one time would
// leave too few.
#if defined(__CUDA_ARCH__)
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE _Pragma("unroll 2")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
#endif

#endif
