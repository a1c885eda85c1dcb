// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPHALF_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPHALF_HPP

/// \file
/// exp(v - max v) for results that are rounded to half types.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

/// exp(v - reference) for results that are rounded to half types. The relative error is |v -
/// reference| * 2^-24, which is at most 1e-5 if the result is not too small for the half type.
template <class T>
class ExpHalf {
 public:
  /// With the reference -inf (no entries, or all entries -inf), the result for an entry -inf is 0.
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpHalf(T reference)
      : m_reference(reference == -Kokkos::Experimental::infinity_v<T> ? T(0) : reference) {}

  /// NaN for the difference of +inf and inf, in a row with an entry +inf.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const { return of_difference(v - m_reference); }
  KOKKOS_FORCEINLINE_FUNCTION static T of_difference(T difference) {
    KOKKOS_IF_ON_DEVICE((return fast_exp2(difference * ExpConstants<T>::log2_e);))
    KOKKOS_IF_ON_HOST((return exp_up_to_16(difference);))
  }

 private:
  T m_reference;
};

/// exp(scale * x - reference) for results that are rounded to half types, in one multiply-add and
/// one 2^t. The rounding of reference * log2(e) multiplies all exponentials that have the same
/// reference by the same factor. Compared to exponentials with another reference, this factor is a
/// relative error of up to `limit` * 2^-24.
template <class T>
class ExpHalfFused {
  static constexpr T log2_e = ExpConstants<T>::log2_e;
  static constexpr T limit = 64;  // of |reference| * log2(e), an exponent of 2

 public:
  /// Large references would lose too much accuracy, and infinities and NaN need the special cases
  /// of ExpHalf. The product of the largest scales with log2(e) would be infinite.
  KOKKOS_FORCEINLINE_FUNCTION static bool serves(T scale, T reference) {
    return Kokkos::abs(reference) * log2_e <= limit &&
           Kokkos::abs(scale) <= Kokkos::Experimental::finite_max_v<T> / T(2);
  }

  KOKKOS_FORCEINLINE_FUNCTION ExpHalfFused(T scale, T reference)
      : m_factor(scale * log2_e), m_shift(-reference * log2_e) {}

  /// Multiplies all later results by `number`, which must not be negative.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(T number) { m_shift += Kokkos::log2(number); }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return fast_exp2(exponent(x)); }

  /// 1 / (*this)(x) for the x at which scale * x is the reference. A sum of results is multiplied
  /// by it to remove the common factor, if the logarithm of the sum must have all of its digits.
  KOKKOS_FORCEINLINE_FUNCTION T inverse_near_one(T x) const {
    return multiply_add(-exponent(x), T(1) / log2_e, T(1));
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION T exponent(T x) const { return multiply_add(x, m_factor, m_shift); }

  T m_factor;
  T m_shift;
};

}  // namespace KokkosSoftmax::Impl

#endif
