// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_LSESTATE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_LSESTATE_HPP

#include <impl/device/numerics/KokkosSoftmax_NearZero.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The state of logsumexp. If its log-sum-exp is near 0, a state can be `settled`: the maximum is
/// the log-sum-exp, and the sum is 1. Merging keeps the digits of settled states. The maximum of
/// other states is the reference of the sum.
template <class T>
struct LseState : LogSumExpState<T> {
  KOKKOS_INLINE_FUNCTION void merge(const LseState& other);

  KOKKOS_INLINE_FUNCTION static LseState settled(T log_sum_exp) { return {{log_sum_exp, T(1)}}; }
};

template <class T>
struct StateTraits<LseState<T>> : StateTraits<LogSumExpState<T>> {
  KOKKOS_FORCEINLINE_FUNCTION static LseState<T> make(T max, T sum) { return {{max, sum}}; }
};

/// Whether the results of a state keep their digits near 0.
template <class State>
inline constexpr bool keeps_digits = false;
template <class T>
inline constexpr bool keeps_digits<LseState<T>> = true;

/// Whether the log-sum-exp of a state is near 0. `slack`: how far entries can be above its
/// reference.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near_zero(const LseState<T>& state, T slack) {
  return is_near_zero(state.max, state.sum, slack);
}

/// Whether some states of this type need a second read of the entries.
template <class State>
inline constexpr bool has_second_read = keeps_digits<State>;
/// Whether the threads that have reduced a part of a row to this state must read it a second time.
/// See is_near_zero() for `slack`.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool needs_second_read(const LseState<T>& state, T slack) {
  return is_near_zero(state, slack);
}

/// Whether the log-sum-exp of merged states is near 0 and needs merged_near_zero().
template <class State>
KOKKOS_FORCEINLINE_FUNCTION bool is_merged_near_zero([[maybe_unused]] const State& merged) {
  if constexpr (keeps_digits<State>)
    return is_near_zero(merged, decltype(merged.max)(0));
  else
    return false;
}

/// What a state adds to the sum of all terms except that of the largest entry, given the largest
/// maximum of all states. If their log-sum-exp is near 0, one state has this maximum.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T term_beside_max(T max, const LseState<T>& state) {
  return state.max == max ? state.sum - T(1) : sum_relative_to(max, state);
}

/// The state of merged states, given the sum of their terms beside the maximum.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION LseState<T> merged_near_zero(T max, T terms) {
  return LseState<T>::settled(max + log1p_of_small(terms));
}

/// The sum from which the log-sum-exp of merged states gets its digits if it is near 0. A
/// specialization has
///
/// - of_part(max, part_max, sum): what a part of the row adds, given the maximum of the merged
///   state, that of the part, and the sum of the part relative to the former
/// - add(other)
/// - over_lanes(add): the sum over lanes, given a function that adds a number over lanes
/// - settled(merged): the state, given the merged one
template <class State>
struct TermsNearZero;
template <class T>
struct TermsNearZero<LseState<T>> {
  T beside_max = T(0);

  KOKKOS_FORCEINLINE_FUNCTION static TermsNearZero of_part(T max, T part_max, T sum) {
    return {part_max == max ? sum - T(1) : sum};
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const TermsNearZero& other) {
    beside_max += other.beside_max;
  }
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION TermsNearZero over_lanes(const Add& add) const {
    return {add(beside_max)};
  }
  KOKKOS_FORCEINLINE_FUNCTION LseState<T> settled(const LseState<T>& merged) const {
    return merged_near_zero(merged.max, beside_max);
  }
};

template <class T>
KOKKOS_INLINE_FUNCTION void LseState<T>::merge(const LseState& other) {
  const LseState mine = *this;
  LogSumExpState<T>::merge(other);
  if (is_merged_near_zero(*this))
    *this = merged_near_zero(this->max,
                             term_beside_max(this->max, mine) + term_beside_max(this->max, other));
}

/// The state of logsumexp for entries of type X. Half types have too few digits to keep.
template <class X, class T>
using LseStateOf = std::conditional_t<std::is_same_v<X, T>, LseState<T>, LogSumExpState<T>>;

}  // namespace KokkosSoftmax::Impl

#endif
