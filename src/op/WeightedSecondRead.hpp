// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_WEIGHTEDSECONDREAD_HPP
#define KOKKOSSOFTMAX_SRC_OP_WEIGHTEDSECONDREAD_HPP

/// \file
/// The second read of a part of a row with weights (SecondRead.hpp). It is needed if the
/// log-sum-exp of the part is near 0, or if an entry is +inf. `entries` is an EntriesOfThread.

#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <row/WeightedSource.hpp>
#include <team/Lanes.hpp>
#include <team/WeightedState.hpp>

namespace KokkosSoftmax::Impl {

/// Whether the weight of an entry is near 1 or -1. Only then can the sum of a row be such a term
/// and a small rest. Weights of 1/N, whose sum is often near 1, have no such term.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION bool have_unit_weight(const Entries& entries) {
  const std::int64_t count = entries.count();
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (std::int64_t i = 0; i < count; ++i)
    if (is_near_one(Kokkos::abs(entries.weight(i)))) return true;
  return false;
}

/// The sum of the terms of all entries. It is relative to the maximum if that is +inf. (One loop
/// for both cases is half the code of two.)
template <class State, class Entries>
KOKKOS_FORCEINLINE_FUNCTION auto sum_of_second_read(const Entries& entries, bool is_infinite) {
  using T = typename Entries::T;
  T units(0);
  CompensatedSum<T> rest;
  const std::int64_t count = entries.count();
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (std::int64_t i = 0; i < count; ++i) {
    T value = entries(i), weight = entries.weight(i);
    drop_if_without_effect(value, weight);
    SumNearOne<T> term;
    if (!keeps_digits<State> || is_infinite)
      term.rest = product(weight, exp_below_infinity(value));
    else
      term = SumNearOne<T>::of_term(value, weight);
    units += term.units;
    rest.add(term.rest);
  }
  return SumNearOne<T>{units, rest.value()};
}

/// The state of a part that needs_second_read(), given the sum of its terms.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION WeightedState<T> state_of_second_read(const WeightedState<T>& state,
                                                                  const SumNearOne<T>& sum) {
  return {state.max, sum.rest};
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION WeightedLseState<T> state_of_second_read(
    const WeightedLseState<T>& state, const SumNearOne<T>& sum) {
  return has_infinite_max(state) ? WeightedLseState<T>{{state.max, sum.rest}}
                                 : settled_or(state, sum);
}

/// Whether the entries of a thread call for a second read, given that the state of the part does.
template <class Entries, class State>
KOKKOS_FORCEINLINE_FUNCTION bool is_worth_reading(const Entries& entries, const State& state) {
  return !keeps_digits<State> || has_infinite_max(state) || have_unit_weight(entries);
}

/// Replaces the state of a thread, which needs_second_read().
template <class State, class Entries>
KOKKOS_FORCEINLINE_FUNCTION void read_again(const Entries& entries, State& state) {
  if (is_worth_reading(entries, state))
    state =
        state_of_second_read(state, sum_of_second_read<State>(entries, has_infinite_max(state)));
}

/// Replaces the state of the lanes of a vector, if `is_read`: if it needs_second_read().
template <int lanes, class Member, class Entries, class State>
KOKKOS_FORCEINLINE_FUNCTION void read_again_in_lanes(const Member& member, const Entries& entries,
                                                     bool is_read, State& state) {
  using T = typename Entries::T;
  const T is_worth(is_read && is_worth_reading(entries, state) ? 1 : 0);
  is_read = max_over_lanes<lanes>(member, is_worth) > T(0);
  if (!Intrinsics::any_lane(is_read)) return;
  SumNearOne<T> sum;
  if (is_read) sum = sum_of_second_read<State>(entries, has_infinite_max(state));
  sum.rest = sum_over_lanes<lanes>(member, sum.rest);
  if constexpr (keeps_digits<State>) sum.units = sum_over_lanes<lanes>(member, sum.units);
  if (is_read) state = state_of_second_read(state, sum);
}

}  // namespace KokkosSoftmax::Impl

#endif
