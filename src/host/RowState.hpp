// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ROWSTATE_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ROWSTATE_HPP

/// \file
/// The state of a row, or of some of its columns, that is computed in parts.

#include <host/NearZero.hpp>
#include <host/RowReduction.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The same state in all lanes.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION LaneStates<L> in_all_lanes(const HostState<typename L::T>& row) {
  return {L::splat(row.max), L::splat(row.reference),
          L::splat(static_cast<typename L::T>(row.sum))};
}

template <class T>
double log_sum_exp_of(const HostState<T>& row) {
  return log_sum_exp_of_state(row.reference, row.sum, row.dropped);
}
template <class T>
bool is_near_zero(const HostState<T>& row) {
  return is_near_zero(row.reference, static_cast<T>(log_sum_exp_of(row)));
}
/// Makes `lse` the log-sum-exp of a state.
template <class T>
void set_log_sum_exp(HostState<T>& row, double lse) {
  const SettledState<T> settled(lse);
  row.reference = settled.reference;
  row.sum = settled.sum;
  row.dropped = settled.dropped;
}

/// Adds the entries of `from` to `into`. As in OnlineSum, the reference moves only if an entry
/// exceeds it by more than the slack, so that the sum isn't rounded again and again.
template <class Op, class T>
void merge(HostState<T>& into, const HostState<T>& from) {
  [[maybe_unused]] const HostState<T> before = into;
  const double added = from.sum - from.dropped;
  into.sum -= into.dropped;
  into.dropped = 0;
  if (from.max > into.reference + T(1)) {
    into.sum *= rescale_factor(into.reference, from.reference);
    into.reference = from.reference;
  }
  if (from.max > into.max) into.max = from.max;
  into.sum += added == 0 ? 0 : added * rescale_factor(from.reference, into.reference);
  if constexpr (!Op::writes_entries)
    if (is_near_zero(into))
      set_log_sum_exp(into, merged_near_zero(log_sum_exp_of(before), log_sum_exp_of(from)));
}

/// Writes what there is one number of per row: the result of logsumexp, or what is beside y.
template <class Op, class L, class Job>
void finish_row(const Job& job, std::int64_t r, const HostState<typename L::T>& row) {
  const LaneStates<L> states = in_all_lanes<L>(row);
  if constexpr (Op::writes_entries)
    write_beside(job, r, states, 1);
  else
    write_row_values<L>(job, r, states.log_sum_exp(), 1);
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
