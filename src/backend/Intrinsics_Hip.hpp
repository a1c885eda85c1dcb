// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_HIP_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_HIP_HPP

// Included by Intrinsics_Portable.hpp for device code. Defines the functions for the lanes of a
// vector, which can have up to 64 lanes.

namespace KokkosSoftmax::Impl::Intrinsics {

inline constexpr bool has_shuffles = true;

KOKKOS_FORCEINLINE_FUNCTION int lane_number() { return static_cast<int>(threadIdx.x); }

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shuffle_xor(T value, int distance) {
  return __shfl_xor(value, distance);
}

}  // namespace KokkosSoftmax::Impl::Intrinsics

#endif
