// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_WIDEROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_WIDEROWS_HPP

/// \file
/// Rows in spans, which several threads can share.

#include <host/Prefetch.hpp>
#include <host/RowState.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The state of columns [first, last) of row r. If the log-sum-exp is near 0, it is the reference.
template <class Op, class Values, class L, class Job>
HostState<typename L::T> reduce_columns(const Job& job, std::int64_t r, std::int64_t first,
                                        std::int64_t last) {
  using Reduction = RowReduction<Op, Values, L, false>;
  constexpr std::int64_t block = Reduction::block_columns;
  Reduction reduction(Values(job.factors), ahead_in_wide_rows());
  const auto* const x = job.x + r * job.x_stride;
  for (std::int64_t c = first; c < last; c += block)
    reduction.add(x + c, last - c < block ? last - c : block, nullptr, [] {});
  HostState<typename L::T> state = reduction.state();
  if constexpr (keeps_digits<Op, Job>)
    if (is_near_zero(state))
      set_log_sum_exp<typename L::T>(state, log_sum_exp_near_zero(job, x + first, last - first));
  return state;
}

/// Writes columns [first, last) of row r.
template <class Op, class Values, class L, bool streams, class Job>
void write_columns_of(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                      const HostState<typename L::T>& row) {
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template Exp<L>;
  using Output = typename Op::template Output<L>;
  const LaneStates<L> states = in_all_lanes<L>(row);
  const Output output(states, job.zero_empty_rows);
  const Values values(job.factors);
  const auto* const x = job.x + r * job.x_stride + first;
  Y* const y = job.y + r * job.y_stride + first;
  if constexpr (Op::keeps_exponentials) {
    constexpr std::int64_t bytes_ahead = 1024;
    using Entries = RecomputedEntries<L, X, Values, Exp, bytes_ahead>;
    RowWriter<streams, L, Y, Entries, Output>(y, last - first,
                                              Entries(x, values, Exp(states.reference)), output)
        .write_rest();
  } else {
    using Entries = ReadEntries<L, X, Values>;
    RowWriter<streams, L, Y, Entries, Output>(y, last - first, Entries(x, values), output)
        .write_rest();
  }
}

template <class Op, class Values, class L, class Job>
void write_columns(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                   const HostState<typename L::T>& row) {
  if constexpr (Op::writes_entries) {
    if (job.streams)
      write_columns_of<Op, Values, L, true>(job, r, first, last, row);
    else
      write_columns_of<Op, Values, L, false>(job, r, first, last, row);
  }
}

/// Rows of any length, in spans. They are read twice, except for logsumexp. The second time starts
/// at the end of the row, which is still in a cache.
template <class Op, class Values, class L, class Job>
void wide_rows(const Job& job) {
  const std::int64_t n = job.columns;
  for (std::int64_t r = 0; r < job.rows; ++r) {
    HostState<typename L::T> row =
        reduce_columns<Op, Values, L>(job, r, 0, smaller(n, span_columns));
    for (std::int64_t c = span_columns; c < n; c += span_columns)
      merge<Op>(row, reduce_columns<Op, Values, L>(job, r, c, smaller(n, c + span_columns)));
    finish_row<Op, L>(job, r, row);
    for (std::int64_t c = (n - 1) / span_columns * span_columns; c >= 0; c -= span_columns)
      write_columns<Op, Values, L>(job, r, c, smaller(n, c + span_columns), row);
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
