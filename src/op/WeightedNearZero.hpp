// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_WEIGHTEDNEARZERO_HPP
#define KOKKOSSOFTMAX_SRC_OP_WEIGHTEDNEARZERO_HPP

/// \file
/// Log-sum-exps with weights that are near 0, see NearZero.hpp. Entries are an EntriesOfThread.

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

/// The sum of the terms of all entries.
template <class Entries>
KOKKOS_FORCEINLINE_FUNCTION auto sum_near_one(const Entries& entries) {
  using T = typename Entries::T;
  T units(0);
  CompensatedSum<T> rest;
  const std::int64_t count = entries.count();
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (std::int64_t i = 0; i < count; ++i) {
    T value = entries(i), weight = entries.weight(i);
    drop_if_without_effect(value, weight);
    const auto term = SumNearOne<T>::of_term(value, weight);
    units += term.units;
    rest.add(term.rest);
  }
  return SumNearOne<T>{units, rest.value()};
}

/// The state of the lanes of a vector, settled if `is_near`.
template <int lanes, EntryNumber, class Member, class Entries, class T>
KOKKOS_FORCEINLINE_FUNCTION void settle_entries(const Member& member, const Entries& entries,
                                                bool is_near, WeightedLseState<T>& state) {
  SumNearOne<T> sum;
  const bool has_unit = is_near && have_unit_weight(entries);
  is_near = max_over_lanes<lanes>(member, has_unit ? T(1) : T(0)) > T(0);
  if (!Intrinsics::any_lane(is_near)) return;
  if (is_near) sum = sum_near_one(entries);
  sum.units = sum_over_lanes<lanes>(member, sum.units);
  sum.rest = sum_over_lanes<lanes>(member, sum.rest);
  if (is_near) state = settled_or(state, sum);
}

}  // namespace KokkosSoftmax::Impl

#endif
