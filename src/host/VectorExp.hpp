// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP

/// \file
/// exp(v - reference) of vectors. The functions compute what ExpAccurate and ExpForSum
/// (numerics/Exp.hpp, numerics/ExpForSum.hpp) compute on a host. The reasons for each step are
/// there.

#include <host/ExpTable.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// exp(v - reference) within 2 ulp, however far v is below the reference.
///
/// Each lane can belong to another row. Parameters are the members as an array of vectors, from
/// which an object can be made again; see RowBroadcast.
template <class L>
class ExpAccurate {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;
  using Factors = ExpFactors<L>;

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
    const V rounded = multiply_add(difference, L::splat(C::log2_e), L::splat(Factors::round));
    const V n = rounded - Factors::round;
    const V r = multiply_add(n, L::splat(-Factors::ln2_low),
                             u - multiply_add(n, L::splat(Factors::ln2_high), m_second));
    return Factors::exp(difference, rounded, r);  // NaN stays NaN
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION static auto is_fine(V x) {
    return (x < Factors::fine_limit) & (x > -Factors::fine_limit);
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
  using Factors = TermFactors<L>;

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
    const V rounded = multiply_add(x, L::splat(C::log2_e), L::splat(Factors::round));
    const V f = multiply_add(x, L::splat(C::log2_e), Factors::round - rounded);
    Factors::add_exp2(sum, rounded, f);
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
