// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_PORTABLE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_INTRINSICS_PORTABLE_HPP

// Included by Intrinsics.hpp for hosts, and for devices that have no file of their own.

namespace KokkosSoftmax::Impl::Intrinsics {

KOKKOS_FORCEINLINE_FUNCTION float fast_exp2(float x) { return Kokkos::exp2(x); }

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void make_opaque(T&) {}

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t upper_word(double x) {
  return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x) >> 32);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t lower_word(double x) {
  return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x));
}
KOKKOS_FORCEINLINE_FUNCTION double of_words(std::uint32_t upper, std::uint32_t lower) {
  return Kokkos::bit_cast<double>(std::uint64_t(upper) << 32 | lower);
}

// Functions that this backend doesn't have are only declared. They are named in branches that are
// never taken.
inline constexpr bool has_half_pair_max = false;
template <class X>
std::uint32_t half_pair_max(std::uint32_t, std::uint32_t);

inline constexpr bool has_whole_moves = false;
void store_global(void*, const Words<4>&);
template <int count>
Words<count> load_scratch(const void*);

}  // namespace KokkosSoftmax::Impl::Intrinsics

#if defined(__HIP_DEVICE_COMPILE__)
#include <backend/Intrinsics_Hip.hpp>
#else
namespace KokkosSoftmax::Impl::Intrinsics {

inline constexpr bool has_shuffles = false;
int lane_number();
template <class T>
T shuffle_xor(T, int);

}  // namespace KokkosSoftmax::Impl::Intrinsics
#endif

#endif
