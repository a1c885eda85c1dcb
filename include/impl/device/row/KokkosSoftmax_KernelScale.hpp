// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_ROW_KERNELSCALE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_ROW_KERNELSCALE_HPP

#include <Kokkos_Core.hpp>

namespace KokkosSoftmax::Impl {

/// The scale that kernels multiply by. 0 is treated as its limit from above: all finite entries
/// count alike, and -inf stays -inf, as slots without an entry require. The number is for GPUs,
/// which compute with denormal numbers; hosts use HostScale.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T kernel_scale(T scale) {
  return scale == T(0) ? Kokkos::Experimental::denorm_min_v<T> : scale;
}

/// The entry whose product with a kernel's scale is -inf.
template <class X, class T>
KOKKOS_FORCEINLINE_FUNCTION X scaled_padding(T scale) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  return static_cast<X>(scale < T(0) ? infinity : -infinity);
}

/// A log-sum-exp as it is written. With the scale 0, kernels compute with tiny values in place of
/// 0. This matters only if one entry counts, whose log-sum-exp is its value: those of more entries
/// are at least log 2.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T written_lse(T lse, bool scale_is_zero) {
  return scale_is_zero && Kokkos::abs(lse) < T(0.5) ? T(0) : lse;
}

}  // namespace KokkosSoftmax::Impl

#endif
