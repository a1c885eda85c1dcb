// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_HPP

/// \file
/// What kernels ask of a processor that neither C++ nor Kokkos offers, one file per backend.
/// Kernels have no other backend code, except schedules/cluster/. Each file defines, in Intrinsics:
///
///   fast_exp2(x)               2^x of a float to two units of 2^-23; 0 for results below the
///   normal
///                              numbers is right
///   make_opaque(value)         the compiler forgets what it knows about a value
///   upper_word, lower_word, of_words   the halves of a double
///   has_half_pair_max, half_pair_max<X>(a, b)   the larger of two pairs of half types
///   has_whole_moves, store_global, load_scratch<words>   moves that the compiler can't divide
///   has_shuffles, lane_number(), shuffle_xor(value, distance)   the lanes of a vector

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

#if defined(__FAST_MATH__)
#error \
    "KokkosSoftmax: -ffast-math breaks infinities, NaN and compensated sums: build src/ without it"
#endif

namespace KokkosSoftmax::Impl::Intrinsics {

/// Neighbouring words that move together.
template <int count>
struct alignas(count * sizeof(std::uint32_t)) Words {
  std::uint32_t word[count];
};

}  // namespace KokkosSoftmax::Impl::Intrinsics

#if defined(__CUDA_ARCH__)
#include <backend/Intrinsics_Cuda.hpp>
#else
#include <backend/Intrinsics_Portable.hpp>
#endif

namespace KokkosSoftmax::Impl {

/// a * b + c, in one rounding where the machine has an instruction for that. (A call to std::fma
/// without one is emulated, a hundred times slower; nothing below depends on the single rounding.)
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T multiply_add(T a, T b, T c) {
  KOKKOS_IF_ON_DEVICE((return Kokkos::fma(a, b, c);))
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  KOKKOS_IF_ON_HOST((return std::fma(a, b, c);))
#else
  KOKKOS_IF_ON_HOST((return a * b + c;))
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
