// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_PLAINSUM_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_PLAINSUM_HPP

#include <impl/device/team/KokkosSoftmax_RowState.hpp>

namespace KokkosSoftmax::Impl {

/// The state of a sum whose terms have no reference.
template <class T>
struct PlainSum {
  T sum = T(0);

  KOKKOS_FORCEINLINE_FUNCTION void merge(const PlainSum& other) { sum += other.sum; }
};

template <class T>
struct StateTraits<PlainSum<T>> {
  using Value = T;
  static constexpr bool has_reference = false;
  static constexpr bool moves_in_steps = false;

  KOKKOS_FORCEINLINE_FUNCTION static T reference_of(T /*max*/) { return T(0); }
  KOKKOS_FORCEINLINE_FUNCTION static T max(const PlainSum<T>&) { return T(0); }
  KOKKOS_FORCEINLINE_FUNCTION static PlainSum<T> make(T /*max*/, T sum) { return {sum}; }
};

}  // namespace KokkosSoftmax::Impl

#endif
