// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_WEIGHTEDSTATE_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_WEIGHTEDSTATE_HPP

#include <impl/device/team/KokkosSoftmax_LseState.hpp>
#include <team/SumNearOne.hpp>

namespace KokkosSoftmax::Impl {

/// The largest value of an entry that counts, and the sum of w * exp(v - max), which can be
/// negative.
template <class T>
struct WeightedState {
  T max = -Kokkos::Experimental::infinity_v<T>;
  T sum = T(0);

  KOKKOS_FORCEINLINE_FUNCTION void merge(const WeightedState& other) {
    const T larger_max = other.max > max ? other.max : max;
    sum = sum_relative_to(larger_max, *this) + sum_relative_to(larger_max, other);
    max = larger_max;
  }
};

template <class T>
struct StateTraits<WeightedState<T>> {
  using Value = T;
  static constexpr bool has_reference = true;
  static constexpr bool moves_in_steps = false;

  KOKKOS_FORCEINLINE_FUNCTION static T reference_of(T max) { return max; }
  KOKKOS_FORCEINLINE_FUNCTION static T max(const WeightedState<T>& state) { return state.max; }
  KOKKOS_FORCEINLINE_FUNCTION static WeightedState<T> make(T max, T sum) { return {max, sum}; }
};

/// A WeightedState that can be `settled` if its log-sum-exp is near 0, as LseState: the maximum is
/// the log-sum-exp, and the sum is 1 or -1. Merging keeps the digits of settled states.
template <class T>
struct WeightedLseState : WeightedState<T> {
  KOKKOS_INLINE_FUNCTION void merge(const WeightedLseState& other);
};

template <class T>
struct StateTraits<WeightedLseState<T>> : StateTraits<WeightedState<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static WeightedLseState<T> make(T max, T sum) { return {{max, sum}}; }
};

template <class T>
inline constexpr bool keeps_digits<WeightedLseState<T>> = true;

/// Whether the log-sum-exp of a state may be near 0. Entries can be up to `slack` above the
/// reference of the state.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near_zero(const WeightedLseState<T>& state, T slack) {
  if (!(state.max > -(slack + near_zero_limit<T>))) return false;  // no value is near 0
  const T sum = Kokkos::abs(state.sum);
  if (product(sum, T(1) + state.max) > T(1) + near_one_limit<T>) return false;  // exp(v) >= 1 + v
  return is_near_one(product(sum, Kokkos::exp(state.max)));
}

/// Parts with an entry that is +inf are read a second time, so that tiles need no code for them.
template <class T>
inline constexpr bool has_second_read<WeightedState<T>> = true;
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool has_infinite_max(const WeightedState<T>& state) {
  return state.max == Kokkos::Experimental::infinity_v<T>;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool needs_second_read(const WeightedState<T>& state, T) {
  return has_infinite_max(state);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool needs_second_read(const WeightedLseState<T>& state, T slack) {
  return has_infinite_max(state) || is_near_zero(state, slack);
}

/// exp(v - max) of an entry of a part whose maximum is +inf: the other entries add nothing to the
/// weights of those that are +inf. NaN stays NaN.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T exp_below_infinity(T v) {
  return v == Kokkos::Experimental::infinity_v<T> ? T(1) : v == v ? T(0) : v;
}

/// The settled state of a sum, or `state` if the sum isn't near 1 or -1.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION WeightedLseState<T> settled_or(const WeightedLseState<T>& state,
                                                           const SumNearOne<T>& sum) {
  return sum.has_logarithm() ? WeightedLseState<T>{{sum.logarithm(), sum.units}} : state;
}

template <class T>
struct TermsNearZero<WeightedLseState<T>> : SumNearOne<T> {
  /// The sum of a settled part is 1 or -1 relative to its own maximum. Another part with such a sum
  /// is the same number.
  KOKKOS_FORCEINLINE_FUNCTION static TermsNearZero of_part(T max, T part_max, T sum) {
    if (Kokkos::abs(sum) == rescale_factor(part_max, max))
      return {SumNearOne<T>::of_term(part_max, sum < T(0) ? T(-1) : T(1))};
    return {SumNearOne<T>::of_term(max, sum)};
  }
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION TermsNearZero over_lanes(const Add& add) const {
    return {{add(this->units), add(this->rest)}};
  }
  KOKKOS_FORCEINLINE_FUNCTION WeightedLseState<T> settled(const WeightedLseState<T>& merged) const {
    return settled_or(merged, *this);
  }
};

template <class T>
KOKKOS_INLINE_FUNCTION void WeightedLseState<T>::merge(const WeightedLseState& other) {
  const WeightedLseState mine = *this;
  WeightedState<T>::merge(other);
  if (!is_merged_near_zero(*this)) return;
  SumNearOne<T> sum = SumNearOne<T>::of_term(mine.max, mine.sum);
  sum.add(SumNearOne<T>::of_term(other.max, other.sum));
  *this = settled_or(*this, sum);
}

/// The state of logsumexp with weights for entries of type X. Half types have too few digits to
/// keep.
template <class X, class T>
using WeightedStateOf =
    std::conditional_t<std::is_same_v<X, T>, WeightedLseState<T>, WeightedState<T>>;

}  // namespace KokkosSoftmax::Impl

#endif
