// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_SUMNEARONE_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_SUMNEARONE_HPP

/// \file
/// Sums of weighted exponentials that are near 1 or -1. Their logarithms are near 0, and would lose
/// their digits if the sum was rounded.

#include <impl/device/numerics/KokkosSoftmax_NearZero.hpp>

namespace KokkosSoftmax::Impl {

/// Whether x is near 1. NaN isn't.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near_one(T x) {
  return Kokkos::abs(x - T(1)) < near_one_limit<T>;
}

/// exp(x) - 1, |x| < 9/64, to an ulp or two: the Taylor series.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T expm1_of_small(T x) {
  T series;
  if constexpr (sizeof(T) == 4)
    series = horner(x, T(1.0 / 720), T(1.0 / 120), T(1.0 / 24), T(1.0 / 6), T(1.0 / 2));
  else
    series = horner(x, T(1.0 / 479001600), T(1.0 / 39916800), T(1.0 / 3628800), T(1.0 / 362880),
                    T(1.0 / 40320), T(1.0 / 5040), T(1.0 / 720), T(1.0 / 120), T(1.0 / 24),
                    T(1.0 / 6), T(1.0 / 2));
  return multiply_add(product(x, x), series, x);
}

/// A sum of numbers, as the sum of `units`, each 1 or -1, and a small rest.
template <class T>
struct SumNearOne {
  T units = T(0);
  T rest = T(0);

  /// Whether a term is 1 or -1 and a small rest.
  KOKKOS_FORCEINLINE_FUNCTION static bool has_unit(T value, T weight) {
    return Kokkos::abs(value) < near_zero_limit<T> && is_near_one(Kokkos::abs(weight));
  }

  /// The term weight * exp(value).
  KOKKOS_FORCEINLINE_FUNCTION static SumNearOne of_term(T value, T weight) {
    if (!has_unit(value, weight))
      return {T(0), weight == T(0) ? T(0) : product(weight, Kokkos::exp(value))};
    const T unit = weight < T(0) ? T(-1) : T(1);
    return {unit, multiply_add(weight, expm1_of_small(value), weight - unit)};
  }

  KOKKOS_FORCEINLINE_FUNCTION void add(const SumNearOne& other) {
    units += other.units;
    rest += other.rest;
  }

  /// Whether logarithm() has the digits of the rest.
  KOKKOS_FORCEINLINE_FUNCTION bool has_logarithm() const {
    return Kokkos::abs(units) == T(1) && Kokkos::abs(rest) < near_one_limit<T>;
  }
  /// The logarithm of the absolute value of the sum.
  KOKKOS_FORCEINLINE_FUNCTION T logarithm() const { return log1p_of_small(product(units, rest)); }
};

}  // namespace KokkosSoftmax::Impl

#endif
