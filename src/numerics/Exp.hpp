// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_NUMERICS_EXP_HPP
#define KOKKOSSOFTMAX_SRC_NUMERICS_EXP_HPP

/// \file
/// exp(v - max v), the one function in which all of the arithmetic is done. It consists of
/// additions, multiplications and integer shifts, so that compilers can vectorize it on a host.
/// Floats on a GPU use the GPU's instruction for 2^x where that is accurate enough. ExpForSum.hpp
/// and ExpHalf.hpp have less accurate versions for cases where those suffice.

#include <Kokkos_Core.hpp>
#include <backend/Intrinsics.hpp>
#include <cmath>
#include <cstdint>
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

/// exp(x) = 2^n exp(r), n = round(x log2(e)), r = x - n ln(2), |r| <= ln(2) / 2 (Cody and Waite,
/// Software Manual for the Elementary Functions, 1980). ln(2) is split into ln2_high, which has few
/// bits so that n * ln2_high is exact, and ln2_low. The polynomials are minimax fits of (exp(r) - 1
/// - r) / r^2 on this interval, highest power first.
template <class T>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  /// Adding 1.5 * 2^23 rounds to an integer. With 127 added as well, the low bits of the sum are
  /// the exponent of 2^n.
  static constexpr float round_and_bias = 12582912.0f + 127.0f;
  static constexpr float log2_e = 1.44269504f;
  static constexpr float ln2 = 0.693147182f;
  static constexpr float ln2_high = 0.693359375f;  // 355 / 512
  static constexpr float ln2_low = -2.12194440e-4f;
  static constexpr float lowest = -88.0f;  // below, exp(x) isn't a normal number; the result is 0
  /// References whose absolute value is below `fine_limit` are rounded to multiples of fine_step =
  /// ulp(fine_round).
  static constexpr float fine_limit = 8192.0f;
  static constexpr float fine_round = 24576.0f;
  static constexpr float fine_step = 1.0f / 512;
  KOKKOS_FORCEINLINE_FUNCTION static float polynomial(float r) {
    return horner(r, 8.31239848e-3f, 4.18912817e-2f, 1.66671194e-1f, 4.99992238e-1f, 1.0f, 1.0f);
  }
};

template <>
struct ExpConstants<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double round_and_bias = 6755399441055744.0 + 1023.0;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double ln2_high = 0.693145751953125;  // 22713 / 2^15
  static constexpr double ln2_low = 1.42860682030941723212e-6;
  static constexpr double lowest = -709.0;
  static constexpr double fine_limit = 68719476736.0;   // 2^36
  static constexpr double fine_round = 206158430208.0;  // 1.5 * 2^37
  static constexpr double fine_step = 1.0 / 32768;
  KOKKOS_FORCEINLINE_FUNCTION static double polynomial(double r) {
    return horner(r, 2.7476372799289511e-7, 2.7635405510742016e-6, 2.4801935394185109e-5,
                  1.9841184331107216e-4, 1.3888888510232525e-3, 8.3333333714735843e-3,
                  4.1666666668168119e-2, 1.6666666666610371e-1, 4.9999999999998279e-1, 1.0, 1.0);
  }
};

/// 2^n, given `rounded` = n + round_and_bias.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T power_of_two(T rounded) {
  using Bits = typename ExpConstants<T>::Bits;
  return Kokkos::bit_cast<T>(
      static_cast<Bits>(Kokkos::bit_cast<Bits>(rounded) << ExpConstants<T>::mantissa_bits));
}

/// exp(v - reference) to an ulp or two (floats on a GPU: four), however far v is below the
/// reference. The rounding of v - reference alone would cost a float 20 ulp at v - reference = -80.
/// So the reference is rounded to a number of few bits, to which n * ln2_high can be added exactly;
/// v minus that sum is then exact. Large references (>= fine_limit) are subtracted first instead:
/// near them v - reference is exact by Sterbenz' lemma.
template <class T>
class ExpAccurate {
  using C = ExpConstants<T>;

 public:
  /// The reference for entries whose maximum is `max`: one to two steps below the maximum. If the
  /// reference were above the maximum, the term of a result just above the smallest normal number
  /// would be below that number, where fast_exp2 returns 0.
  KOKKOS_FORCEINLINE_FUNCTION static T reference(T max) {
    const T below = max - T(1.5) * C::fine_step;
    return Kokkos::abs(max) < C::fine_limit ? (below + C::fine_round) - C::fine_round : max;
  }

  /// With the reference -inf (no entries, or all entries -inf), the result for an entry -inf is 0.
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpAccurate(T reference) {
    const bool fine = Kokkos::abs(reference) < C::fine_limit;
    const bool empty = reference == -Kokkos::Experimental::infinity_v<T>;
    m_first = fine || empty ? T(0) : reference;
    m_second = fine ? reference : T(0);
  }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (std::is_same_v<T, float>) {
      KOKKOS_IF_ON_DEVICE((return by_fast_exp2(v);))
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
    const T e = C::polynomial(r) * power_of_two(rounded);
    return difference < C::lowest ? T(0) : e;  // NaN stays NaN
  }

 private:
  /// exp(d + error) = 2^t (1 + (d + error - t ln 2)), t = d log2(e) rounded. The second factor
  /// corrects for what the rounding of d and t has lost.
  KOKKOS_FORCEINLINE_FUNCTION float by_fast_exp2(float v) const {
    const float reference = m_first + m_second;  // one of them is 0
    const float d = v - reference;
    const float error = v - (d + reference);  // exact: the reference has few bits, or d is exact
    const float t = d * C::log2_e;
    const float rest = multiply_add(t, -C::ln2, d) + error;
    const float power = fast_exp2(t);
    const float e = multiply_add(power, rest, power);
    return d < C::lowest ? 0.0f : e;  // NaN stays NaN
  }

  T m_first;
  T m_second;
};

/// exp(x), x <= 1, to an ulp or two.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp_up_to_one(T x) {
  using C = ExpConstants<T>;
  const T rounded = multiply_add(x, C::log2_e, C::round_and_bias);
  const T n = rounded - C::round_and_bias;
  const T r = multiply_add(n, -C::ln2_low, multiply_add(n, -C::ln2_high, x));
  const T e = C::polynomial(r) * power_of_two(rounded);
  return x < C::lowest ? T(0) : e;  // NaN stays NaN
}

}  // namespace KokkosSoftmax::Impl

#endif
