// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_EXPPARTS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_EXPPARTS_HPP

/// \file
/// exp(v) = 2^n * q, taken apart: n is an integer, and q = 2^f with |f| <= 1/2. An entry belongs to
/// a row and to a column. The sums of both have references that are powers of two, so that they
/// need one polynomial: q * 2^(n - reference) changes the exponent of q alone. For the same reason
/// a sum gets another reference without rounding.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

/// The constants of ExpParts. The exponent n is stored as n + bias, without a sign.
template <class T>
struct ExpPartsConstants;

template <>
struct ExpPartsConstants<double> {
  /// Adding it to n, |n| < 2^31, gives a number whose lower word is n + bias and whose upper word
  /// is the same for all n.
  static constexpr double round = 6755399441055744.0 + 2147483648.0;
  static constexpr std::uint32_t upper_word = 0x43380000u;
  static constexpr std::uint32_t bias = 0x80000000u;
  static constexpr double lowest = -1399999488.0;
  static constexpr std::uint32_t upper_word_of_lowest = 0xc1d4dc93u;  // the lower one is 0
  static constexpr std::uint32_t deepest = 1000;
};
template <>
struct ExpPartsConstants<float> {
  /// The same for |n| < 2^22, with the upper 9 bits of one word.
  static constexpr float round = 12582912.0f;
  static constexpr std::uint32_t upper_bits = 0x4b000000u;
  static constexpr std::uint32_t bias = 0x4b400000u;
  static constexpr float lowest = -2.8e6f;
  static constexpr std::uint32_t deepest = 120;
};

/// Values below `lowest` are replaced by numbers not above it. A row or a column whose maximum
/// isn't far above needs other functions (is_low()), and so does one with values that set bits of
/// `invalid` that is_valid() knows: NaN, +inf, and other values above -lowest.
template <class T>
struct ExpParts {
  using C = ExpPartsConstants<T>;

  std::uint32_t exponent;  // n + bias
  T significand;           // q

  KOKKOS_FORCEINLINE_FUNCTION static ExpParts of(T v, std::uint32_t& invalid) {
    constexpr T log2_e = ExpConstants<T>::log2_e;
    const T x = not_below_lowest(v);
    const T rounded = multiply_add(x, log2_e, C::round);
    T f = multiply_add(x, log2_e, C::round - rounded);
    ExpParts parts;
    if constexpr (std::is_same_v<T, double>) {
      // The rounding of log2_e causes a relative error of |v| 1.4e-17, which is little beside the
      // error of a result of the size of v.
      parts.exponent = Intrinsics::lower_word(rounded);
      invalid |= Intrinsics::upper_word(rounded) ^ C::upper_word;
      parts.significand = horner(f, KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_DOUBLE);
    } else {
      constexpr float log2_e_low = 1.92596303e-8f;  // log2(e) - log2_e
      f = multiply_add(x, log2_e_low, f);
      parts.exponent = Kokkos::bit_cast<std::uint32_t>(rounded);
      invalid |= parts.exponent ^ C::upper_bits;
      parts.significand = fast_exp2(f);
    }
    return parts;
  }

  KOKKOS_FORCEINLINE_FUNCTION static bool is_valid(std::uint32_t invalid) {
    return std::is_same_v<T, double> ? invalid == 0 : invalid >> 23 == 0;
  }

  /// Whether the largest exponent of a row or a column is so low that entries which `lowest` has
  /// replaced count beside it.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_low(std::uint32_t exponent) {
    return exponent <= lowest_exponent() + C::deepest;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t lowest_exponent() {
    const T rounded = multiply_add(C::lowest, ExpConstants<T>::log2_e, C::round);
    if constexpr (std::is_same_v<T, double>)
      return Intrinsics::lower_word(rounded);
    else
      return Kokkos::bit_cast<std::uint32_t>(rounded);
  }

  /// exp(v) relative to the reference 2^(limit - bias), which isn't below 2^n. Numbers below
  /// 2^-deepest are replaced by about that: they are added to one that is near 1.
  KOKKOS_FORCEINLINE_FUNCTION T below(std::uint32_t limit) const {
    return lowered(significand, limit - exponent);
  }

  /// number * 2^-by for a number near 1. No rounding.
  KOKKOS_FORCEINLINE_FUNCTION static T lowered(T number, std::uint32_t by) {
    const std::uint32_t down = by < C::deepest ? by : C::deepest;
    if constexpr (std::is_same_v<T, double>)
      return Intrinsics::of_words(Intrinsics::upper_word(number) - (down << 20),
                                  Intrinsics::lower_word(number));
    else
      return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(number) - (down << 23));
  }

  /// n as a number, which is exact.
  KOKKOS_FORCEINLINE_FUNCTION static T number_of(std::uint32_t exponent) {
    return static_cast<T>(static_cast<std::int32_t>(exponent - C::bias));
  }

 private:
  /// NaN stays NaN. Doubles are compared by their upper words, see not_below_normal_exp().
  KOKKOS_FORCEINLINE_FUNCTION static T not_below_lowest(T v) {
    if constexpr (std::is_same_v<T, double>) {
      constexpr std::uint32_t from_nan_to_end = 0x00080000u;
      constexpr std::uint32_t least = C::upper_word_of_lowest + from_nan_to_end;
      const std::uint32_t high = Intrinsics::upper_word(v) + from_nan_to_end;
      return Intrinsics::of_words((high < least ? high : least) - from_nan_to_end,
                                  Intrinsics::lower_word(v));
    } else {
      return v < C::lowest ? C::lowest : v;
    }
  }
};

/// What some entries of a row or a column are reduced to: sum * 2^exponent. The exponent is an
/// integer, except for huge values, beside whose size its rounding doesn't matter.
template <class T>
struct alignas(2 * sizeof(T)) BinaryState {
  T exponent;
  T sum;

  /// exp(max) * sum
  KOKKOS_INLINE_FUNCTION static BinaryState of_max(T max, T sum) {
    constexpr double ln2_high = 0.693145751953125, ln2_low = 1.42860682030941723212e-6;
    const auto v = static_cast<double>(max);
    if (!(Kokkos::abs(v) < -static_cast<double>(ExpPartsConstants<T>::lowest)))
      return {static_cast<T>(huge_exponent(v)), sum};
    const double n = Kokkos::round(v * log2_e);
    const double rest = (v - n * ln2_high) - n * ln2_low;
    return {static_cast<T>(n), static_cast<T>(static_cast<double>(sum) * Kokkos::exp(rest))};
  }

  /// The logarithm of 2^exponent.
  KOKKOS_INLINE_FUNCTION static double log_of(double exponent) {
    if (Kokkos::abs(exponent) <= linear_from * log2_e) return exponent * (1 / log2_e);
    return exponent - Kokkos::copysign(linear_from * (log2_e - 1), exponent);
  }

 private:
  static constexpr double log2_e = 1.4426950408889634;
  /// Larger values have exponents that grow by 1 per 1, so that they don't overflow. Neighbouring
  /// numbers of T differ by 2 or more there.
  static constexpr double linear_from = sizeof(T) == 8 ? 0x1p53 : 0x1p24;

  KOKKOS_INLINE_FUNCTION static double huge_exponent(double v) {
    if (Kokkos::abs(v) <= linear_from) return v * log2_e;
    return v + Kokkos::copysign(linear_from * (log2_e - 1), v);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
