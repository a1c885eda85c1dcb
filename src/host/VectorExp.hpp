// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTOREXP_HPP

/// \file
/// exp(v - reference) of vectors. The functions compute what ExpAccurate and ExpForSum
/// (numerics/Exp.hpp, numerics/ExpForSum.hpp) compute on a host. The reasons for each step are
/// there, except for the way in which n is found.

#include <host/ExpTable.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// exp(u - reference) within 2 ulp, however far u is below the reference. The reference must be 0
/// or a result of reference(). If its absolute value is fine_limit or more, u must be v -
/// shift_of(reference), and the result is exp(u).
///
/// Each lane can belong to another row. Parameters are the members as an array of vectors, from
/// which an object can be made again; see RowBroadcast.
template <class L>
class ExpOfShifted {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;
  using Factors = ExpFactors<L>;

 public:
  /// The reference for entries whose maximum is `max`: at most `max`, and near a multiple of the
  /// step of n times ln(2). So n = round((u - reference) / ln(2)) follows from u alone.
  KOKKOSSOFTMAX_HOST_FUNCTION static V reference(V max) {
    constexpr T below = Factors::step / 2 + 2 * C::fine_step;
    const V n = rounded_to_step(multiply_add(max, L::splat(C::log2_e), L::splat(-below)));
    return is_fine(max) ? (n * C::ln2 + C::fine_round) - C::fine_round : max;
  }
  /// What the caller subtracts from v to get u. It is 0 unless the reference is large.
  KOKKOSSOFTMAX_HOST_FUNCTION static V shift_of(V reference) {
    const V zero{};
    const V not_empty = reference == -NumberTraits<T>::infinity ? zero : reference;
    return is_fine(reference) ? zero : not_empty;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpOfShifted(V reference)
      : m_reference(is_fine(reference) ? reference : V{}),
        m_round(Factors::round - rounded_to_step(m_reference * C::log2_e)) {}

  using Parameters = V[2];
  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpOfShifted(const Parameters& p)
      : m_reference(p[0]), m_round(p[1]) {}
  KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const {
    p[0] = m_reference;
    p[1] = m_round;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V u) const {
    const V rounded = multiply_add(u, L::splat(C::log2_e), m_round);
    const V n = rounded - Factors::round;
    const V r = multiply_add(n, L::splat(-Factors::ln2_low),
                             u - multiply_add(n, L::splat(Factors::ln2_high), m_reference));
    return Factors::exp(rounded, r);  // NaN stays NaN
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION static auto is_fine(V x) {
    return (x < Factors::fine_limit) & (x > -Factors::fine_limit);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static V rounded_to_step(V n) {
    return (n + Factors::round) - Factors::round;
  }

  V m_reference;
  V m_round;  // rounds u / ln(2) to n + round: round - reference / ln(2)
};

/// exp(v - reference) within 2 ulp, for any reference of ExpOfShifted.
template <class L>
class ExpAccurate {
  using V = typename L::V;
  using OfShifted = ExpOfShifted<L>;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION static V reference(V max) { return OfShifted::reference(max); }

  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpAccurate(V reference)
      : m_shift(OfShifted::shift_of(reference)), m_exp(reference) {}

  /// Those of ExpOfShifted, and the shift.
  using Parameters = V[3];
  KOKKOSSOFTMAX_HOST_FUNCTION explicit ExpAccurate(const Parameters& p)
      : m_shift(p[2]), m_exp({p[0], p[1]}) {}
  KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const {
    typename OfShifted::Parameters of_exp;
    m_exp.get(of_exp);
    p[0] = of_exp[0];
    p[1] = of_exp[1];
    p[2] = m_shift;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V v) const { return m_exp(v - m_shift); }

 private:
  V m_shift;
  OfShifted m_exp;
};

/// exp(v - reference) for terms that are only added to a sum.
///
/// \tparam most  what v can exceed the reference by
template <class L, int most = 1>
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
    const V x = larger(L::splat(C::lowest_term), lower(L::splat(most), v - m_reference));
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
