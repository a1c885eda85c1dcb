// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_LONGROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_LONGROWS_HPP

/// \file
/// Rows that don't fit registers.

#include <host/NearZero.hpp>
#include <host/Page.hpp>
#include <host/RowReduction.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// What exponentials are computed from a second time.
///
/// \tparam prefetches  whether the entries may have left the caches
template <class L, class X, class Values, class Exp, bool prefetches>
class RecomputedEntries {
  using T = typename L::T;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION RecomputedEntries(const X* x, const Values& values, const Exp& exp)
      : m_read(x, values), m_exp(exp) {}
  KOKKOSSOFTMAX_HOST_FUNCTION auto at(std::int64_t c) const {
    if constexpr (prefetches) prefetch_far(m_read.address(c));
    return m_exp(m_read.at(c));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION auto first(std::int64_t c,
                                         const FirstElements<T, L::width>& n) const {
    return m_exp(m_read.first(c, n));
  }

 private:
  ReadEntries<L, X, Values> m_read;
  Exp m_exp;
};

/// Whether the exponentials of longer rows are computed a second time, in place of keeping them in
/// the buffer: with vectors of 64 bytes, the exponentials of floats take less time than writing
/// them to the second-level cache and reading them back (docs/hosts.md). Rows of half types are
/// limited by the exponentials, so those are computed once.
template <class L, class X>
inline constexpr bool can_recompute = sizeof(X) == 4 && L::width == 16;
inline constexpr std::int64_t longest_kept_row = 8192;

template <class L, class X>
constexpr bool recomputes(std::int64_t columns) {
  return can_recompute<L, X> && columns > longest_kept_row;
}

/// Whether rows are left to the prefetchers of the processor, and are not streamed. On AMD's Zen 4,
/// those of up to a page that pipelined_rows() doesn't compute take less time so. For logsumexp,
/// the limit is a bit lower (measured).
template <class Op, class X>
bool is_left_to_prefetchers(std::int64_t columns) {
  constexpr std::int64_t most_bytes = Op::writes_entries ? 4096 : 3584;
  return columns * static_cast<std::int64_t>(sizeof(X)) <= most_bytes && is_amd();
}
template <class Op, class X>
std::int64_t bytes_ahead(std::int64_t columns) {
  return is_left_to_prefetchers<Op, X>(columns) ? 0 : far_ahead;
}

/// Writes the first vectors of a row, or all that are whole if it has fewer.
template <class Writer>
KOKKOSSOFTMAX_HOST_FUNCTION void write_lead(Writer& writer, std::int64_t vectors) {
  writer.begin();
  for (std::int64_t n = smaller(vectors, writer.whole_vectors()); n > 0; --n) writer.write_vector();
}

/// Rows that stay in a cache until their output is written. While a row is read, the row before it
/// is written, so that reading and writing overlap.
///
/// \tparam keeps  whether the exponentials are kept in the buffer
template <class Op, class Values, class L, bool streams, bool keeps, class Job>
void overlapped_rows(const Job& job) {
  using X = typename Job::X;
  using Exp = typename Op::template Exp<L>;
  using Reduction = RowReduction<Op, Values, L, keeps>;
  using Output = typename Op::template Output<L>;
  constexpr std::int64_t block = Reduction::block_columns;
  const Values values(job.factors);
  const std::int64_t n = job.columns;
  const std::int64_t ahead = bytes_ahead<Op, typename Job::X>(n);
  constexpr std::int64_t vector_bytes = L::width * sizeof(typename Job::Y);
  const auto buffer_of = [&](std::int64_t r) { return job.buffer + (r % 2) * host_buffer_row; };
  const auto entries_of = [&](std::int64_t r, [[maybe_unused]] const LaneStates<L>& row) {
    [[maybe_unused]] const auto* const x = job.x + r * job.x_stride;
    if constexpr (keeps)
      return KeptEntries<L>(buffer_of(r));
    else if constexpr (Op::keeps_exponentials)
      return RecomputedEntries<L, X, Values, Exp, false>(x, values, Exp(row.reference));
    else
      return ReadEntries<L, X, Values>(x, values);
  };
  using Entries = decltype(entries_of(0, LaneStates<L>{}));
  LaneStates<L> before{};
  for (std::int64_t r = 0; r <= job.rows; ++r) {
    const std::int64_t written = r > 0 ? r - 1 : 0;
    RowWriter<streams, L, typename Job::Y, Entries, Output> writer(
        job.y + written * job.y_stride, n, entries_of(written, before),
        Output(before, job.zero_empty_rows));
    if (r == job.rows) {
      writer.write_rest();
      break;
    }
    Reduction reduction(values, ahead);
    const auto* const x = job.x + r * job.x_stride;
    if (r > 0) write_lead(writer, bytes_of_lead(job.y + written * job.y_stride, x) / vector_bytes);
    for (std::int64_t c = 0; c < n; c += block) {
      const std::int64_t end = c + block < n ? c + block : n;
      writer.begin();
      std::int64_t vectors = r > 0 ? writer.whole_vectors() : 0;
      reduction.add(x + c, end - c, keeps ? buffer_of(r) + c : nullptr,
                    [&]() KOKKOSSOFTMAX_HOST_LAMBDA {
                      if (vectors-- > 0) writer.write_vector();
                    });
      if (r > 0 && end == n) writer.write_rest();
    }
    if constexpr (keeps) reduction.rescale(buffer_of(r), n);
    before = reduction.lane_states();
    write_beside(job, r, before, 1);
  }
}

template <class Op, class Values, class L, bool streams, class Job>
void buffered_rows(const Job& job) {
  if constexpr (Op::keeps_exponentials)
    if (!recomputes<L, typename Job::X>(job.columns))
      return overlapped_rows<Op, Values, L, streams, true>(job);
  if constexpr (!Op::keeps_exponentials || can_recompute<L, typename Job::X>)
    overlapped_rows<Op, Values, L, streams, false>(job);
}

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

/// The state of columns [first, last) of row r. If the log-sum-exp is near 0, it is the reference.
template <class Op, class Values, class L, class Job>
HostState<typename L::T> reduce_columns(const Job& job, std::int64_t r, std::int64_t first,
                                        std::int64_t last) {
  using Reduction = RowReduction<Op, Values, L, false>;
  constexpr std::int64_t block = Reduction::block_columns;
  Reduction reduction(Values(job.factors));
  const auto* const x = job.x + r * job.x_stride;
  for (std::int64_t c = first; c < last; c += block)
    reduction.add(x + c, last - c < block ? last - c : block, nullptr, [] {});
  HostState<typename L::T> state = reduction.state();
  if constexpr (keeps_digits<Op, Job>)
    if (is_near_zero(state))
      set_log_sum_exp<typename L::T>(state, log_sum_exp_near_zero(job, x + first, last - first));
  return state;
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
    using Entries = RecomputedEntries<L, X, Values, Exp, true>;
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

/// Rows of any length. They are read twice, except for logsumexp. The second time starts at the end
/// of the row, which is still in a cache.
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

/// logsumexp of rows of one span. The largest entry of a row's first block is found while the last
/// block of the row before it is added, and the sums and logarithms of as many rows as a vector has
/// lanes are computed together.
template <class Op, class Values, class L, class Job>
void reduced_rows(const Job& job) {
  using T = typename L::T;
  using V = typename L::V;
  using Reduction = RowReduction<Op, Values, L, false>;
  constexpr std::int64_t block = Reduction::block_columns;
  const Values values(job.factors);
  const std::int64_t n = job.columns;
  const std::int64_t last_block = (n - 1) / block * block;
  const int head = static_cast<int>(smaller(n, block));
  const std::int64_t ahead = bytes_ahead<Op, typename Job::X>(n);
  V max = Reduction::largest(values, job.x, head, ahead);
  for (std::int64_t first = 0; first < job.rows; first += L::width) {
    const int rows = static_cast<int>(smaller(job.rows - first, L::width));
    V references{};
    V sums[L::width] = {};
    for (int i = 0; i < rows; ++i) {
      const auto* const x = job.x + (first + i) * job.x_stride;
      const bool is_last = first + i + 1 == job.rows;
      const auto* const next = is_last ? x : x + job.x_stride;
      Reduction reduction(values, max, ahead);
      for (std::int64_t c = 0; c < last_block; c += block)
        reduction.add(x + c, block, nullptr, [] {});
      int seen = 0;
      max = L::splat(-NumberTraits<T>::infinity);
      reduction.add(x + last_block, n - last_block, nullptr, [&]() KOKKOSSOFTMAX_HOST_LAMBDA {
        if (seen + L::width > head) return;
        max = larger(values(L::load(next + seen)), max);
        seen += L::width;
      });
      max = larger(Reduction::largest(values, next + seen, head - seen, ahead), max);
      references[i] = reduction.reference();
      sums[i] = reduction.sums();
    }
    const auto add = [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return a + b; };
    const V sum = end_sum<Op, L>(references, L::reduce_each(sums, add));
    const LaneStates<L> states{references, references, sum};
    write_log_sum_exps<Op>(job, first, states, rows);
  }
}

template <class Op, class Values, class L, class Job>
void long_rows(const Job& job) {
  if (job.columns <= span_columns) {
    if constexpr (!Op::writes_entries)
      reduced_rows<Op, Values, L>(job);
    else if (job.streams && !is_left_to_prefetchers<Op, typename Job::X>(job.columns))
      buffered_rows<Op, Values, L, true>(job);
    else
      buffered_rows<Op, Values, L, false>(job);
  } else {
    wide_rows<Op, Values, L>(job);
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
