// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXP_HPP

/// \file
/// exp(v - max v), the one function in which all of the arithmetic is done. It consists of
/// additions, multiplications and integer shifts, so that compilers can vectorize it on a host.
/// Floats on a GPU use the GPU's instruction for 2^x where that is accurate enough. ExpForSum.hpp
/// and ExpHalf.hpp have less accurate versions for cases where those suffice.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpConstants.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A polynomial of x, by Horner's scheme. The coefficient of the highest power comes first.
template <class T, class... Lower>
KOKKOS_FORCEINLINE_FUNCTION T horner(T x, T highest, Lower... lower) {
  ((highest = multiply_add(highest, x, lower)), ...);
  return highest;
}

/// The larger of the two; `a` if b is NaN. GPUs have an instruction for float. For double, and on
/// hosts, the comparison is shorter than fmax, which also has to handle a NaN in a.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T larger(T a, T b) {
  if constexpr (std::is_same_v<T, float>) {
    KOKKOS_IF_ON_DEVICE((return Kokkos::fmax(a, b);))
  }
  return a < b ? b : a;
}

using Intrinsics::fast_exp2;
using Intrinsics::make_opaque;
using Intrinsics::product;

/// exp(r) for |r| <= ln(2) / 2.
KOKKOS_FORCEINLINE_FUNCTION float exp_polynomial(float r) {
  return horner(r, KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_FLOAT);
}
KOKKOS_FORCEINLINE_FUNCTION double exp_polynomial(double r) {
  return horner(r, KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_DOUBLE);
}

/// 2^n, given `rounded` = n + round_and_bias.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T power_of_two(T rounded) {
  using Bits = typename ExpConstants<T>::Bits;
  return Kokkos::bit_cast<T>(
      static_cast<Bits>(Kokkos::bit_cast<Bits>(rounded) << ExpConstants<T>::mantissa_bits));
}

/// exp(x) to an ulp or two if x <= 16. Larger x have larger errors.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp_up_to_16(T x) {
  using C = ExpConstants<T>;
  const T rounded = multiply_add(x, C::log2_e, C::round_and_bias);
  const T n = rounded - C::round_and_bias;
  const T r = multiply_add(n, -C::ln2_low, multiply_add(n, -C::ln2_high, x));
  const T e = product(exp_polynomial(r), power_of_two(rounded));
  return x < C::lowest ? T(0) : e;  // NaN stays NaN
}

/// exp(v - reference) to an ulp or two (floats on a GPU: four), however far v is below the
/// reference. The rounding of v - reference alone would cost a float 20 ulp at v - reference = -80.
/// So the reference must be a number of few bits (an integer), to which n * ln2_high can be added
/// exactly; v minus that sum is then exact. Large references (>= fine_limit) are subtracted first
/// instead: near them v - reference is exact by Sterbenz' lemma.
template <class T>
class ExpAccurate {
  using C = ExpConstants<T>;

 public:
  /// With the reference -inf (no entries, or all entries -inf), the result for an entry -inf is 0.
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpAccurate(T reference) {
    const bool fine = Kokkos::abs(reference) < C::fine_limit;
    const bool empty = reference == -Kokkos::Experimental::infinity_v<T>;
    m_first = fine || empty ? T(0) : reference;
    m_second = fine ? reference : T(0);
  }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (std::is_same_v<T, float>) {
      KOKKOS_IF_ON_DEVICE((return by_fast_exp2<true>(v);))
    }
    return of_shifted(v - m_first);
  }

  /// The same for the reference 0, with fewer instructions.
  KOKKOS_FORCEINLINE_FUNCTION static T of_difference(T d) {
    if constexpr (std::is_same_v<T, float>) {
      KOKKOS_IF_ON_DEVICE(
          (return by_fast_exp2_of<true>(d, multiply_add(d * C::log2_e, -C::ln2, d));))
    }
    return exp_up_to_16(d);
  }

  /// The same if the result is known to be a normal number or NaN.
  KOKKOS_FORCEINLINE_FUNCTION T normal(T v) const {
    if constexpr (std::is_same_v<T, float>) {
      KOKKOS_IF_ON_DEVICE((return by_fast_exp2<false>(v);))
    }
    return of_shifted(v - m_first);
  }

  /// exp(v - reference) = of_shifted(v - shift()). The shift is usually 0, so a caller with many
  /// entries can skip the subtraction.
  KOKKOS_FORCEINLINE_FUNCTION T shift() const { return m_first; }
  KOKKOS_FORCEINLINE_FUNCTION T of_shifted(T u) const {
    const T difference = u - m_second;  // rounded: accurate enough only to find n
    const T rounded = multiply_add(difference, C::log2_e, C::round_and_bias);
    const T n = rounded - C::round_and_bias;
    const T r = multiply_add(n, -C::ln2_low, u - multiply_add(n, C::ln2_high, m_second));
    const T e = product(exp_polynomial(r), power_of_two(rounded));
    return difference < C::lowest ? T(0) : e;  // NaN stays NaN
  }

 private:
  /// exp(d + error) = 2^t (1 + (d + error - t ln 2)), t = d log2(e) rounded. The second factor
  /// corrects for what the rounding of d and t has lost.
  template <bool can_be_low>
  KOKKOS_FORCEINLINE_FUNCTION float by_fast_exp2(float v) const {
    const float reference = m_first + m_second;  // one of them is 0
    const float d = v - reference;
    const float error = v - (d + reference);  // exact: the reference has few bits, or d is exact
    return by_fast_exp2_of<can_be_low>(d, multiply_add(d * C::log2_e, -C::ln2, d) + error);
  }
  /// The same, given d + error - t ln 2.
  template <bool can_be_low>
  KOKKOS_FORCEINLINE_FUNCTION static float by_fast_exp2_of(float d, float rest) {
    const float power = fast_exp2(d * C::log2_e);
    const float e = multiply_add(power, rest, power);
    return can_be_low && d < C::lowest ? 0.0f : e;  // NaN stays NaN
  }

  T m_first;
  T m_second;
};

}  // namespace KokkosSoftmax::Impl

#endif
