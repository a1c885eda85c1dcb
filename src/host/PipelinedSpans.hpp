// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDSPANS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDSPANS_HPP

/// \file
/// Rows whose exponentials fit the last-level cache, in spans of columns, three spans at a time:
/// while the exponentials of a span are computed, the largest entries of the next span are found,
/// and the same span of the row before is written. So each exponential is computed once.

#include <host/PipelineStep.hpp>
#include <host/RowState.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class Op, class Values, class L, bool streams, RowEnds ends, class Job>
class PipelinedSpans {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template ExpOfShifted<L>;
  using Output = typename Op::template Output<L>;
  using Columns = RowColumns<L, X, Values, ends == RowEnds::none>;
  using Step = PipelineStep<Op, L, streams, false>;
  /// Spans of which two stay in the second-level cache, unless there would be too many of them.
  static constexpr std::int64_t span_bytes = 65536;
  static constexpr std::int64_t most_spans = 256;
  /// Spans begin at multiples of so many columns: at cache lines if the row does.
  static constexpr std::int64_t step_columns = 64;
  /// From exponentials that are read to those that are prefetched.
  static constexpr std::int64_t bytes_ahead = 4096;

 public:
  explicit PipelinedSpans(const Job& job)
      : m_job(job),
        m_values(job.factors),
        m_spans(
            smaller(job.columns * static_cast<std::int64_t>(sizeof(X)) / span_bytes, most_spans)),
        m_whole(L::width),
        m_rest(static_cast<int>(rest_columns())),
        m_kept(kept_apart_from_x(job)) {}

  void run() {
    m_largest = columns_of(0, 0).largest_from(0);
    for (std::int64_t r = 0; r < m_job.rows; ++r) {
      HostState<T> row = compute(r, 0);
      for (std::int64_t s = 1; s < m_spans; ++s) merge<Op>(row, compute(r, s));
      finish_row<Op, L>(m_job, r, row);
      set_factors(row);
    }
    with_far_prefetches([&]<PrefetchTo level>() {
      for (std::int64_t s = 0; s < m_spans; ++s) writer_of<level>(m_job.rows - 1, s).write_rest();
    });
  }

 private:
  /// The number of columns of the last vector of a row.
  std::int64_t rest_columns() const { return (m_job.columns - 1) % L::width + 1; }
  /// The column at which span s begins. Spans differ by less than two steps.
  std::int64_t begin(std::int64_t s) const {
    return s == m_spans ? m_job.columns : m_job.columns / step_columns * s / m_spans * step_columns;
  }
  /// Span s of row r.
  Columns columns_of(std::int64_t r, std::int64_t s) const {
    const std::int64_t last = s + 1 == m_spans ? m_job.columns - rest_columns() - begin(s)
                                               : begin(s + 1) - begin(s) - L::width;
    return {m_job.x + r * m_job.x_stride + begin(s), last, s + 1 == m_spans ? m_rest : m_whole,
            m_values};
  }
  /// The span behind span s of row r; the same span if there is none.
  Columns columns_behind(std::int64_t r, std::int64_t s) const {
    if (s + 1 < m_spans) return columns_of(r, s + 1);
    return r + 1 < m_job.rows ? columns_of(r + 1, 0) : columns_of(r, s);
  }

  /// Computes span s of row r, and writes that of the row before. Returns the state of the span.
  HostState<T> compute(std::int64_t r, std::int64_t s) {
    const T max = L::max(m_largest);
    const V reference = Exp::reference(L::splat(max));
    const V sums = r == 0 ? step<false>(r, s, reference) : step<true>(r, s, reference);
    const V sum = end_sum<Op, L>(L::splat(max), L::splat(L::sum(sums)));
    m_references[s] = reference[0];
    return {max, reference[0], static_cast<double>(sum[0])};
  }
  template <bool writes>
  V step(std::int64_t r, std::int64_t s, V reference) {
    const Columns columns = columns_of(r, s);
    const Columns next = columns_behind(r, s);
    T* const kept = m_kept + begin(s);
    const V shift = Exp::shift_of(reference);
    return with_far_prefetches([&]<PrefetchTo level>() {
      auto writer = writer_of<level>(writes ? r - 1 : r, s);
      const std::int64_t lead = writes ? vectors_of_lead<L, Y>(writer.next(), next.address(0)) : 0;
      if (shift[0] != T(0)) [[unlikely]]
        return Step::template run_shifted<level, writes>(columns, next, kept, reference, writer,
                                                         lead, m_largest);
      return Step::template run<level, writes>(columns, next, kept, Exp(reference), writer, lead,
                                               m_largest);
    });
  }

  /// Sets what the exponentials of each span are multiplied by, given the state of their row.
  void set_factors(const HostState<T>& row) {
    for (std::int64_t s = 0; s < m_spans; ++s) {
      const double factor = rescale_factor(m_references[s], row.reference) / row.sum;
      m_factors[s] = row.sum == 0 && m_job.zero_empty_rows ? T(0) : static_cast<T>(factor);
    }
  }

  /// The writer of span s of row r, given the factors of the row.
  template <PrefetchTo level>
  KOKKOSSOFTMAX_HOST_FUNCTION auto writer_of(std::int64_t r, std::int64_t s) const {
    using Entries = FarKeptEntries<L, level, bytes_ahead>;
    const typename Output::Parameters factor{L::splat(m_factors[s])};
    return RowWriter<streams, L, Y, Entries, Output, ends>(
        m_job.y + r * m_job.y_stride + begin(s), begin(s + 1) - begin(s),
        Entries(m_kept + begin(s)), Output(factor));
  }

  const Job& m_job;
  Values m_values;
  std::int64_t m_spans;  // of a row
  FirstElements<T, L::width> m_whole;
  FirstElements<T, L::width> m_rest;
  T* m_kept;
  V m_largest{};               // of the span that is computed next
  T m_references[most_spans];  // of the row that is computed
  T m_factors[most_spans]{};   // of the row that is written
};

/// Whether pipelined_spans() computes the rows of a job: those of several spans whose exponentials
/// stay in a cache. Their sums are of other exponentials than those of reduce_columns().
template <class Op, class Job>
bool are_pipelined_spans(const Job& job) {
  return Op::keeps_exponentials && can_be_pipelined<typename Job::X>() && !job.reproducible &&
         job.columns > span_columns && job.columns <= job.cached_columns;
}

/// The number of elements of the buffer that pipelined_spans() needs. It is more than
/// host_buffer_size, so that the buffer has huge pages.
template <class Job>
std::int64_t buffer_of_pipelined_spans(const Job& job) {
  constexpr auto page = page_bytes / static_cast<std::int64_t>(sizeof(*job.buffer));
  return (job.columns > host_buffer_size ? job.columns : host_buffer_size) + page;
}

template <class Op, class Values, class L, class Job>
void pipelined_spans(const Job& job) {
  if constexpr (Op::keeps_exponentials && sizeof(typename Job::X) >= 4)
    with_row_ends<L>(job, [&]<bool streams, RowEnds ends>() {
      PipelinedSpans<Op, Values, L, streams, ends, Job>(job).run();
    });
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
