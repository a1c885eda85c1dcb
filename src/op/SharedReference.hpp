// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_SHAREDREFERENCE_HPP
#define KOKKOSSOFTMAX_SRC_OP_SHAREDREFERENCE_HPP

/// \file
/// One reference for the exponentials of several rows whose values are near each other. So the
/// rows' maxima needn't be found.

#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_SteppedState.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The largest and the smallest of some values. NaN doesn't count.
template <class T>
class ValueRange {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void add(T v) {
    m_max = larger(m_max, v);
    m_negative_min = larger(m_negative_min, -v);
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const ValueRange& other) {
    m_max = larger(m_max, other.m_max);
    m_negative_min = larger(m_negative_min, other.m_negative_min);
  }
  /// The range in another lane, whose numbers get() returns in place of those of this lane.
  template <class Get>
  KOKKOS_FORCEINLINE_FUNCTION ValueRange of(const Get& get) const {
    ValueRange other;
    other.m_max = get(m_max);
    other.m_negative_min = get(m_negative_min);
    return other;
  }
  KOKKOS_FORCEINLINE_FUNCTION T max() const { return m_max; }
  /// NaN or infinite if one of the values is infinite.
  KOKKOS_FORCEINLINE_FUNCTION T size() const { return m_max + m_negative_min; }

 private:
  T m_max = -Kokkos::Experimental::infinity_v<T>;
  T m_negative_min = -Kokkos::Experimental::infinity_v<T>;
};

/// The reference, if the values permit one. It has few bits, so that ExpAccurate and state_of_sum()
/// can add multiples of ln(2) to it without rounding.
template <class T>
struct SharedReference {
  /// How far values may be below it. exp(-farthest) and the inverse of that are normal floats, also
  /// if many of them are added.
  static constexpr T farthest = T(64);

  T reference;
  bool exists;

  SharedReference() = default;
  KOKKOS_FORCEINLINE_FUNCTION explicit SharedReference(const ValueRange<T>& values)
      : reference(
            StateTraits<SteppedState<T, ReferenceStep::one_half>>::reference_of(values.max())),
        exists(values.size() <= farthest && Kokkos::abs(reference) < ExpConstants<T>::fine_limit) {}
};

/// exp(v - reference) of values that have a SharedReference.
template <class Output>
class ExpOfShared {
  using Exp = typename Output::Exp;

 public:
  using T = typename Output::T;

  KOKKOS_FORCEINLINE_FUNCTION explicit ExpOfShared(T reference) : m_exp(reference) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (is_accurate)
      return m_exp.normal(v);
    else
      return m_exp(v);
  }
  /// sum + exp(v - reference), see ExpForSum
  KOKKOS_FORCEINLINE_FUNCTION T added(T sum, T v) const {
    if constexpr (is_accurate)
      return sum + m_exp.normal(v);
    else
      return plus_exp(sum, m_exp, v);
  }

 private:
  /// For logarithms of sums of floats, too: the rounding of v - reference would cost them too much.
  static constexpr bool is_accurate = std::is_same_v<Exp, ExpAccurate<T>> ||
                                      (!Output::keeps_exponentials && std::is_same_v<T, float>);

  std::conditional_t<is_accurate, ExpAccurate<T>, Exp> m_exp;
};

/// How far the entries of a row may be above the maximum in its state_of_sum().
template <class T>
inline constexpr T slack_of_sum = T(2);

/// The state of a row, given the sum of its terms relative to a SharedReference. sum = 2^k m with 2
/// <= m < 4, so that the sum relative to reference + k ln(2) is m. ln(2) is split into two numbers,
/// the first of which has few bits (ExpConstants). The maximum of the state is not that of the row.
/// The sum is at least 1, as a sum relative to the row's maximum is.
template <RowState State, class T>
KOKKOS_FORCEINLINE_FUNCTION State state_of_sum(T reference, T sum) {
  using C = ExpConstants<T>;
  using Bits = typename C::Bits;
  constexpr int bias = sizeof(T) == 8 ? 1023 : 127;
  const int k = static_cast<int>(Kokkos::bit_cast<Bits>(sum) >> C::mantissa_bits) - bias - 1;
  const T m = sum * Kokkos::bit_cast<T>(static_cast<Bits>(bias - k) << C::mantissa_bits);
  const auto exponent = static_cast<T>(k);
  const T rest = exponent * C::ln2_low;  // its magnitude is at most 0.03
  const T exp_of_rest = horner(rest, T(1.0 / 24), T(1.0 / 6), T(0.5), T(1), T(1));
  return StateTraits<State>::make(multiply_add(exponent, C::ln2_high, reference), m * exp_of_rest);
}

}  // namespace KokkosSoftmax::Impl

#endif
