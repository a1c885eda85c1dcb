// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_EXCEPTIONALENTRIES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_EXCEPTIONALENTRIES_HPP

#include <cstdint>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

/// Entries among which are some that ExpParts can't represent: special values and huge ones. They
/// are rare, so they are read from memory again, one by one.
template <class X, class T>
struct ExceptionalEntries {
  const X* x;
  std::int64_t stride;
  T scale;

  KOKKOS_FORCEINLINE_FUNCTION T value(std::int64_t i) const {
    return scale * static_cast<T>(x[i * stride]);
  }

  /// The largest value that isn't NaN. each(f) calls f(i) for the numbers of the entries.
  template <class Each>
  KOKKOS_FORCEINLINE_FUNCTION T max(const Each& each) const {
    T max = -Kokkos::Experimental::infinity_v<T>;
    each([&](std::int64_t i) { max = larger(max, value(i)); });
    return max;
  }

  /// The sum of exp(v - max). If max is infinite, the sum is NaN if a value is NaN, a positive
  /// number if max is +inf, and otherwise 0.
  template <class Each>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Each& each, T max) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    CompensatedSum<T> sum;
    each([&](std::int64_t i) {
      const T v = value(i);
      const bool is_finite = max != infinity && max != -infinity;
      const T instead = v == v ? (max > T(0) ? T(1) : T(0)) : v;
      sum.add(is_finite ? Kokkos::exp(v - max) : instead);
    });
    return sum.value();
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
