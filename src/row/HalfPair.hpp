// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_HALFPAIR_HPP
#define KOKKOSSOFTMAX_SRC_ROW_HALFPAIR_HPP

/// \file
/// Pairs: two entries of two bytes in one 32-bit register, as chunks move them.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <row/Chunk.hpp>

namespace KokkosSoftmax::Impl {

using HalfPair = std::uint32_t;

/// Flips the signs of both entries of a pair (by exclusive or).
inline constexpr HalfPair both_signs = 0x80008000u;

/// The elementwise maximum of two pairs. If one entry is NaN, the result is the other one.
template <class X>
KOKKOS_FORCEINLINE_FUNCTION HalfPair larger_of_pairs(HalfPair a, HalfPair b) {
  if constexpr (Intrinsics::has_half_pair_max) {
    return Intrinsics::half_pair_max<X>(a, b);
  } else {
    float of_a[2], of_b[2];
    widen<X, 2>(RawChunk<X, 2>{{a}}, of_a);
    widen<X, 2>(RawChunk<X, 2>{{b}}, of_b);
    const auto is_b = [&](int i) { return of_b[i] == of_b[i] && !(of_a[i] >= of_b[i]); };
    return ((is_b(0) ? b : a) & 0xffffu) | ((is_b(1) ? b : a) & 0xffff0000u);
  }
}

/// The larger entry of the pair.
template <class X>
KOKKOS_FORCEINLINE_FUNCTION float larger_in_pair(HalfPair pair) {
  float entry[2];
  widen<X, 2>(RawChunk<X, 2>{{pair}}, entry);
  return larger(entry[0], entry[1]);
}

}  // namespace KokkosSoftmax::Impl

#endif
