// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPFORSUM_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPFORSUM_HPP

/// \file
/// exp(v - max v) for terms that are only added to a sum, and the functions that add them.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

/// d, or -704 or a bit less if d is below that, so that exp(d) is a normal number. NaN stays NaN.
KOKKOS_FORCEINLINE_FUNCTION double not_below_normal_exp(double d) {
  // Compares the upper halves, in two instructions that are not double-precision instructions. As
  // unsigned numbers, the upper halves of negative d are the larger the lower d is, down to d =
  // -inf. The upper halves of NaN with a sign follow after that of -inf; the number that is added
  // makes them wrap around to the smallest ones.
  constexpr std::uint32_t from_nan_to_end = 0x00080000u;
  constexpr std::uint32_t least = 0xc0860000u;  // -704
  const std::uint32_t high = Intrinsics::upper_word(d) + from_nan_to_end;
  const std::uint32_t kept = high < least + from_nan_to_end ? high : least + from_nan_to_end;
  return Intrinsics::of_words(kept - from_nan_to_end, Intrinsics::lower_word(d));
}

/// sum + exp(d) for a double d <= 16 on a GPU, where the speed of such sums is limited by the issue
/// of instructions and by the double-precision units. exp(d) = 2^n 2^f, f = d log2(e) - n, |f| <=
/// 1/2. The rounding of log2(e) causes a relative error of |d| 2^-56 in exp(d), which is little if
/// such terms are added to exp(0). A term is never 0, and at least 1e-306. NaN stays NaN, and d =
/// +inf gives NaN.
KOKKOS_FORCEINLINE_FUNCTION double add_exp(double sum, double d) {
  using C = ExpConstants<double>;
  const double x = not_below_normal_exp(d);
  const double rounded = multiply_add(x, C::log2_e, C::round_and_bias);
  const double f = multiply_add(x, C::log2_e, -(rounded - C::round_and_bias));
  const double q = horner(f, KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_DOUBLE);
  return multiply_add(q, power_of_two(rounded), sum);
}

/// exp(v - reference) for terms that are only added to a sum. The rounding of v - reference matters
/// little there, because terms far below the reference are small.
template <class T>
class ExpForSum {
 public:
  /// Whether the result is the reference plus the logarithm of the sum.
  static constexpr bool logarithm_joins_reference = false;

  /// An infinite reference is replaced by a finite number, because inf - inf would be NaN. With the
  /// reference -inf, the result for an entry -inf is 0 (`added` adds next to nothing). With the
  /// reference +inf, the result for an entry +inf is a positive number or +inf (`added` gives NaN,
  /// see ExpForLse::fails); the log-sum-exp of such a row is +inf.
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpForSum(T reference) : m_reference(reference) {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    if (reference == -infinity) m_reference = T(0);
    if (reference == infinity) m_reference = Kokkos::Experimental::finite_max_v<T>;
  }

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    const T difference = v - m_reference;
    if constexpr (std::is_same_v<T, float>) {
      KOKKOS_IF_ON_DEVICE((return fast_exp2(difference * ExpConstants<float>::log2_e);))
    }
    return exp_up_to_16(difference > T(16) ? T(16) : difference);
  }

  /// sum + exp(v - reference)
  KOKKOS_FORCEINLINE_FUNCTION T added(T sum, T v) const {
    if constexpr (std::is_same_v<T, double>) {
      KOKKOS_IF_ON_DEVICE((return add_exp(sum, v - m_reference);))
    }
    return sum + (*this)(v);
  }

  /// The number that is subtracted from entries.
  KOKKOS_FORCEINLINE_FUNCTION T against() const { return m_reference; }

 private:
  T m_reference;
};

/// The same for logsumexp, whose result is the logarithm of the sum plus the reference. The
/// reference may be a bit below the largest entry.
template <class T>
class ExpForLse : public ExpForSum<T> {
 public:
  static constexpr bool logarithm_joins_reference = true;

  using ExpForSum<T>::ExpForSum;

  /// How far entries may be above the reference, see OnlineSum. Doubles on a GPU have a larger
  /// slack because rescaling a sum takes them many instructions. For entries so near the reference,
  /// the rounding of v - reference costs at most an ulp of the exponential.
  KOKKOS_FORCEINLINE_FUNCTION static T slack() {
    if constexpr (std::is_same_v<T, double>) {
      KOKKOS_IF_ON_DEVICE((return T(4);))
    }
    return T(1);
  }

  /// Whether `added` would return NaN for an entry +inf. The log-sum-exp of a row with such an
  /// entry is +inf.
  KOKKOS_FORCEINLINE_FUNCTION bool fails() const {
    if constexpr (std::is_same_v<T, double>) {
      KOKKOS_IF_ON_DEVICE((return this->against() == Kokkos::Experimental::finite_max_v<T>;))
    }
    return false;
  }
};

/// Replaces exp(v - inf) in a sum: a positive number, or NaN if v is NaN.
struct ExpBesideInfinity {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    return v == v ? T(1) : v;
  }
};

/// sum + exp(v)
template <class Exp, class T>
KOKKOS_FORCEINLINE_FUNCTION T plus_exp(T sum, const Exp& exp, T v) {
  if constexpr (requires { exp.added(sum, v); })
    return exp.added(sum, v);
  else
    return sum + exp(v);
}

/// Adds exp(v) to a sum. With `keep`, also writes exp(v) to `slot`.
template <bool keep, class Exp, class T>
KOKKOS_FORCEINLINE_FUNCTION void add_term(T& sum, const Exp& exp, T v, T& slot) {
  if constexpr (keep) {
    slot = exp(v);
    sum += slot;
  } else {
    sum = plus_exp(sum, exp, v);
  }
}

/// sum(exp), or sum(ExpBesideInfinity{}) if `exp` fails.
template <class Exp, class Sum>
KOKKOS_FORCEINLINE_FUNCTION auto sum_by(const Exp& exp, const Sum& sum) {
  if constexpr (requires { exp.fails(); })
    if (exp.fails()) return sum(ExpBesideInfinity{});
  return sum(exp);
}

}  // namespace KokkosSoftmax::Impl

#endif
