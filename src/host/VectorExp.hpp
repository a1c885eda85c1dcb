// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP

/// \file
/// exp(v - reference) of vectors. The functions compute what ExpAccurate and ExpForSum
/// (numerics/Exp.hpp, numerics/ExpForSum.hpp) compute on a host. The reasons for each step are
/// there.

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

/// exp(v - reference) within 2 ulp, however far v is below the reference.
///
/// Each lane can belong to another row. Parameters are the members as an array of vectors, from
/// which an object can be made again; see RowBroadcast.
template <class L>
class ExpAccurate {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;

 public:
  /// The reference for entries whose maximum is `max`.
  KOKKOSSOFTMAX_HOST_FUNCTION static V reference(V max) {
    const V below = max - T(1.5) * C::fine_step;
    return is_fine(max) ? (below + C::fine_round) - C::fine_round : max;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpAccurate(V reference) {
    const V zero{};
    const V not_empty = reference == -NumberTraits<T>::infinity ? zero : reference;
    m_first = is_fine(reference) ? zero : not_empty;
    m_second = is_fine(reference) ? reference : zero;
  }

  using Parameters = V[2];
  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpAccurate(const Parameters& p)
      : m_first(p[0]), m_second(p[1]) {}
  KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const {
    p[0] = m_first;
    p[1] = m_second;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V v) const {
    const V u = v - m_first;
    const V difference = u - m_second;
    const V rounded = multiply_add(difference, L::splat(C::log2_e), L::splat(C::round_and_bias));
    const V n = rounded - C::round_and_bias;
    const V r = multiply_add(n, L::splat(-C::ln2_low),
                             u - multiply_add(n, L::splat(C::ln2_high), m_second));
    return product_or_zero_below(difference, L::splat(C::lowest),  // NaN stays NaN
                                 exp_polynomial<L, true>(r), power_of_two<L>(rounded));
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION static auto is_fine(V x) {
    return (x < C::fine_limit) & (x > -C::fine_limit);
  }

  V m_first;
  V m_second;
};

/// exp(v - reference) for terms that are only added to a sum.
template <class L>
class ExpForSum {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION static V reference(V max) { return max; }

  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpForSum(V reference) {
    constexpr T infinity = NumberTraits<T>::infinity;
    const V not_empty = reference == -infinity ? V{} : reference;
    m_reference = reference == infinity ? L::splat(NumberTraits<T>::largest) : not_empty;
  }

  using Parameters = V[1];
  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpForSum(const Parameters& p) : m_reference(p[0]) {}
  KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const { p[0] = m_reference; }

  /// Adds exp(v - reference) to a sum, in three quarters of the operations that an exact
  /// exponential takes: as 2^n 2^f, where the rounding of log2(e) costs a term a relative error of
  /// |v - reference| epsilon / 8. A term is never 0: sums without a finite entry must be replaced,
  /// see end_sum(). NaN stays NaN, because it comes second in lower() and larger().
  KOKKOSSOFTMAX_HOST_FUNCTION void add(V& sum, V v) const {
    const V x = larger(L::splat(C::lowest_term), lower(L::splat(1), v - m_reference));
    const V rounded = multiply_add(x, L::splat(C::log2_e), L::splat(C::round_and_bias));
    const V f = multiply_add(x, L::splat(C::log2_e), C::round_and_bias - rounded);
    sum = multiply_add(exp2_polynomial<L>(f), power_of_two<L>(rounded), sum);
  }

  /// exp(x), x <= 1
  KOKKOSSOFTMAX_HOST_FUNCTION static V of_at_most_one(V x) {
    const V rounded = multiply_add(x, L::splat(C::log2_e), L::splat(C::round_and_bias));
    const V n = rounded - C::round_and_bias;
    const V r = multiply_add(n, L::splat(-C::ln2_low), multiply_add(n, L::splat(-C::ln2_high), x));
    return product_or_zero_below(x, L::splat(C::lowest),  // NaN stays NaN
                                 exp_polynomial<L>(r), power_of_two<L>(rounded));
  }

 private:
  V m_reference;
};

/// The objects of type P of as many rows as a vector has lanes, one row at a time: of_row(i) has
/// lane i of each parameter in all lanes.
template <class L, class P>
class RowBroadcast {
  using Parameters = typename P::Parameters;
  static constexpr int count = sizeof(Parameters) / sizeof(typename L::V);

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit RowBroadcast(const P& object) {
    Parameters p;
    object.get(p);
    for (int j = 0; j < count; ++j) L::store(m_stored[j], p[j]);
    keep_in_memory(m_stored);  // short rows have too many shuffles of registers already
  }
  KOKKOSSOFTMAX_HOST_FUNCTION P of_row(int i) const {
    Parameters p;
    for (int j = 0; j < count; ++j) p[j] = L::splat(m_stored[j][i]);
    return P(p);
  }

 private:
  alignas(64) typename L::T m_stored[count][L::width];
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
