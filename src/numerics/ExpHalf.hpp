// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_NUMERICS_EXPHALF_HPP
#define KOKKOSSOFTMAX_SRC_NUMERICS_EXPHALF_HPP

/// \file
/// exp(v - max v) for results that are rounded to half types.

#include <numerics/Exp.hpp>

namespace KokkosSoftmax::Impl {

/// exp(v - reference) for results that are rounded to half types: |v - reference| * 2^-24 of it is
/// lost, 1e-5 at most, where the result isn't below their numbers.
template <class T>
class ExpHalf {
 public:
  KOKKOS_FORCEINLINE_FUNCTION static T reference(T max) { return max; }

  /// -inf as the reference (no entry, or all -inf) gives 0 for every -inf.
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpHalf(T reference)
      : m_reference(reference == -Kokkos::Experimental::infinity_v<T> ? T(0) : reference) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    const T difference = v - m_reference;  // NaN in a row with +inf
    KOKKOS_IF_ON_DEVICE((return fast_exp2(difference * ExpConstants<T>::log2_e);))
    KOKKOS_IF_ON_HOST((return exp_up_to_one(difference);))
  }

 private:
  T m_reference;
};

/// exp(scale * x - reference) for results that are rounded to half types, in one multiply-add and
/// one 2^t. What rounding the reference's logarithm loses is the same factor in all weights of a
/// reference; beside other references it is an error of up to `limit` * 2^-24.
template <class T>
class ExpHalfFused {
  static constexpr T log2_e = ExpConstants<T>::log2_e;
  static constexpr T limit = 64;  // of powers of two

 public:
  /// Large references would lose too much, and infinities and NaN need ExpHalf's care.
  KOKKOS_FORCEINLINE_FUNCTION static bool serves(T reference) {
    return Kokkos::abs(reference) * log2_e <= limit;
  }

  KOKKOS_FORCEINLINE_FUNCTION ExpHalfFused(T scale, T reference)
      : m_factor(scale * log2_e), m_shift(-reference * log2_e) {}

  /// All that it gives is multiplied with a number that isn't negative.
  KOKKOS_FORCEINLINE_FUNCTION void multiply(T number) { m_shift += Kokkos::log2(number); }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return fast_exp2(exponent(x)); }

  /// 1 / (*this)(x) for the x that the reference stands for: what takes the factor out of a sum.
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
