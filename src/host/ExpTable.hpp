// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_EXPTABLE_HPP
#define KOKKOSSOFTMAX_SRC_HOST_EXPTABLE_HPP

/// \file
/// The two factors of exp(x) = 2^n exp(r), for vectors.
///
/// Without a table, n is an integer, and the polynomial of exp(r) has many terms, because |r| is up
/// to ln(2) / 2. With a table of 2^(k/entries) in a register, n is a multiple of 1/entries, and a
/// polynomial of degree 3 (double: 6) is enough (Tang, ACM Transactions on Mathematical
/// Software 15 (1989) 144). The instructions that look up an entry exist from AVX2 on.

#include <host/Vector.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpConstants.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class V, class... Lower>
KOKKOSSOFTMAX_HOST_FUNCTION V horner(V x, V highest, Lower... lower) {
  ((highest = multiply_add(highest, x, lower - V{})), ...);
  return highest;
}

/// exp(r) for |r| <= ln(2) / 2; with one more term if `is_long`.
template <class L, bool is_long = false>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V exp_polynomial(typename L::V r) {
  const auto from_highest = [&](auto highest, auto... lower) KOKKOSSOFTMAX_HOST_LAMBDA {
    return horner(r, L::splat(highest), lower...);
  };
  if constexpr (sizeof(typename L::T) == 4 && is_long)
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP_LONG_POLYNOMIAL_FLOAT);
  else if constexpr (sizeof(typename L::T) == 4)
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_FLOAT);
  else if constexpr (is_long)
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP_LONG_POLYNOMIAL_DOUBLE);
  else
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_DOUBLE);
}

/// 2^f for |f| <= 1/2
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V exp2_polynomial(typename L::V f) {
  const auto from_highest = [&](auto highest, auto... lower) KOKKOSSOFTMAX_HOST_LAMBDA {
    return horner(f, L::splat(highest), lower...);
  };
  if constexpr (sizeof(typename L::T) == 4)
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_FLOAT);
  else
    return from_highest(KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_DOUBLE);
}

/// 2^n, given `rounded` = n + round_and_bias.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V power_of_two(typename L::V rounded) {
  using V = typename L::V;
  using Bits = typename L::Bits;
  return (V)((Bits)rounded << ExpConstants<typename L::T>::mantissa_bits);
}

/// The exponent of the smallest normal number.
template <class T>
inline constexpr T lowest_exponent = sizeof(T) == 4 ? -126 : -1022;

/// How a vector's exponentials are composed:
///
/// - step: that of n
/// - round: adding it rounds to a multiple of the step
/// - ln2_high, ln2_low: ln(2) in two parts
/// - fine_limit: the sum of n * ln2_high and a lower reference is exact
/// - exp(rounded, r): 2^n exp(r), given rounded = n + round; 0 if n is less than the exponent of
///   all normal numbers
/// - add_exp2(sum, rounded, f): adds 2^(n + f)
template <class L>
class ExpFactorsOfPolynomial {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;

 public:
  static constexpr T step = 1;
  static constexpr T round = C::round_and_bias;
  static constexpr T ln2_high = C::ln2_high;
  static constexpr T ln2_low = C::ln2_low;
  static constexpr T fine_limit = C::fine_limit;

  KOKKOSSOFTMAX_HOST_FUNCTION static V exp(V rounded, V r) {
    return product_or_zero_below(rounded, L::splat(round + lowest_exponent<T>),
                                 exp_polynomial<L, true>(r), power_of_two<L>(rounded));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static void add_exp2(V& sum, V rounded, V f) {
    sum = multiply_add(exp2_polynomial<L>(f), power_of_two<L>(rounded), sum);
  }
};

/// 2^(k/32) for k = 0, 1, ...
inline constexpr double table_powers[32] = {1.0,
                                            1.0218971486541166,
                                            1.0442737824274138,
                                            1.0671404006768237,
                                            1.0905077326652577,
                                            1.1143867425958924,
                                            1.1387886347566916,
                                            1.1637248587775775,
                                            1.189207115002721,
                                            1.215247359980469,
                                            1.241857812073484,
                                            1.2690509571917332,
                                            1.2968395546510096,
                                            1.3252366431597413,
                                            1.3542555469368927,
                                            1.383909881963832,
                                            1.4142135623730951,
                                            1.4451808069770467,
                                            1.4768261459394993,
                                            1.5091644275934228,
                                            1.5422108254079407,
                                            1.5759808451078865,
                                            1.6104903319492543,
                                            1.645755478153965,
                                            1.681792830507429,
                                            1.718619298122478,
                                            1.7562521603732995,
                                            1.7947090750031072,
                                            1.8340080864093424,
                                            1.8741676341103,
                                            1.9152065613971474,
                                            1.9571441241754002};

/// The constants for a table: see ExpFactorsOfPolynomial.
template <class T>
struct ExpTableConstants;
template <>
struct ExpTableConstants<float> {
  static constexpr float ln2_high = 0.69140625f;  // 177 / 256
  static constexpr float ln2_low = 1.74093056e-3f;
  static constexpr float fine_limit = 2048.0f;
};
template <>
struct ExpTableConstants<double> {
  static constexpr double ln2_high = ExpConstants<double>::ln2_high;
  static constexpr double ln2_low = ExpConstants<double>::ln2_low;
  static constexpr double fine_limit = 4294967296.0;  // 2^32
};

/// exp(r) - 1 for |r| <= ln(2) / (2 entries). The polynomials are minimax fits with the first terms
/// fixed. The relative errors of 1 plus the result are 1.6e-9 (float, 16 entries), 2.6e-8 (float, 8
/// entries) and 1.2e-17 (double). For ExpOfShifted, |r| can be larger by half of fine_step, and the
/// errors are 2.7e-9 and 3.3e-8 (double: as above).
template <class L, int entries>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V exp_minus_1(typename L::V r) {
  typename L::V p;
  if constexpr (sizeof(typename L::T) == 8)
    p = horner(r, L::splat(0.0013888591287468687), 0.00833347205745862, 0.04166666669347057,
               0.16666666664413596, 0.499999999999996);
  else if constexpr (entries == 16)
    p = horner(r, L::splat(0.1666687f), 0.5000162f);
  else
    p = horner(r, L::splat(0.16667078f), 0.5000646f);
  return multiply_add(r * r, p, r);
}

/// 2^f for |f| <= 1 / (2 entries), with the first term fixed. The relative errors are 5.3e-8
/// (float, 32 entries) and 7e-18 (double).
template <class L, int entries>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V exp2_short_polynomial(typename L::V f) {
  static_assert(entries == (sizeof(typename L::T) == 4 ? 32 : 16));
  if constexpr (entries == 32)
    return horner(f, L::splat(0.240226492f), 0.693157315f, 1.0f);
  else
    return horner(f, L::splat(0.0001540333452184956), 0.0013333818421414484, 0.009618129112394154,
                  0.05550410865215756, 0.240226506959099, 0.6931471805599468, 1.0);
}

/// The same with a table.
template <class L, int entries>
class ExpFactorsOfTable : public ExpTableConstants<typename L::T> {
  using T = typename L::T;
  using V = typename L::V;
  using Bits = typename L::Bits;
  using Number = typename NumberTraits<T>::Bits;
  static_assert(entries == 16 || (sizeof(T) == 4 && (entries == 8 || entries == 32)));
  /// Of the bits of `rounded`, so that n * entries is added to the exponent.
  static constexpr int shift = ExpConstants<T>::mantissa_bits - __builtin_ctz(entries);

  /// 2^(k/entries) as bits, less what the low bits of n * entries add to them.
  static constexpr T entry(int k) {
    const T power = static_cast<T>(table_powers[k * 32 / entries]);
    return __builtin_bit_cast(T, __builtin_bit_cast(Number, power) - (Number(k) << shift));
  }
  struct Table {
    alignas(64) T powers[entries];
    constexpr Table() : powers() {
      for (int k = 0; k < entries; ++k) powers[k] = entry(k);
    }
  };
  static constexpr Table table{};

 public:
  static constexpr T step = T(1) / entries;
  /// 1.5 * 2^shift, whose last bit is the step
  static constexpr T round = static_cast<T>(Number(3) << (shift - 1));

  KOKKOSSOFTMAX_HOST_FUNCTION static V exp(V rounded, V r) {
    const V power = power_of_two_at(rounded);
    return multiply_add_or_zero_below(rounded, L::splat(round + lowest_exponent<T>), power,
                                      exp_minus_1<L, entries>(r), power);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static void add_exp2(V& sum, V rounded, V f) {
    sum = multiply_add(power_of_two_at(rounded), exp2_short_polynomial<L, entries>(f), sum);
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION static V power_of_two_at(V rounded) {
    return (V)((Bits)powers_at(rounded) + ((Bits)rounded << shift));
  }
  /// The entries at the low bits of v. There are instructions for vectors that fill a register.
  KOKKOSSOFTMAX_HOST_FUNCTION static V powers_at(V v) {
    if constexpr (L::width == widest<T>) {
      return look_up<entries>(table.powers, v);
    } else {
      Vector<T, widest<T>> wide{};
      __builtin_memcpy(&wide, &v, sizeof(v));
      wide = look_up<entries>(table.powers, wide);
      __builtin_memcpy(&v, &wide, sizeof(v));
      return v;
    }
  }
};

/// The entries of the table; 0 without a table. They are the same for vectors of any size, so that
/// a row has the same bits whatever vectors it is computed with.
#if defined(__AVX512F__)
template <class T>
inline constexpr int exp_table_entries = 16;
#elif defined(__AVX2__) && defined(__FMA__)
template <class T>
inline constexpr int exp_table_entries = sizeof(T) == 4 ? 8 : 0;
#else
template <class T>
inline constexpr int exp_table_entries = 0;
#endif

template <class L, int entries>
struct ExpFactorsType {
  using type = ExpFactorsOfTable<L, entries>;
};
template <class L>
struct ExpFactorsType<L, 0> {
  using type = ExpFactorsOfPolynomial<L>;
};
template <class L>
using ExpFactors = typename ExpFactorsType<L, exp_table_entries<typename L::T>>::type;

/// The same for terms of sums. Floats in vectors of 64 bytes have a table of two registers, so that
/// the polynomial has two terms beside 1 (Zen 5, in the first-level cache: 4.8 -> 4.0 cycles per
/// vector). In vectors of 32 bytes, a table would take as many instructions as the polynomial.
template <class T>
inline constexpr int term_table_entries = sizeof(T) == 8               ? exp_table_entries<T>
                                          : exp_table_entries<T> == 16 ? 32
                                                                       : 0;
template <class L>
using TermFactors = typename ExpFactorsType<L, term_table_entries<typename L::T>>::type;

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
