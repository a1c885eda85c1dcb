// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_LONGROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_LONGROWS_HPP

/// \file
/// Rows that don't fit registers, except those of pipelined_rows() and pipelined_spans().

#include <host/Page.hpp>
#include <host/Prefetch.hpp>
#include <host/Processor.hpp>
#include <host/WideRows.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

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
/// rows of up to a page that pipelined_rows() doesn't compute take less time so. For logsumexp, the
/// limit is a bit lower (measured).
template <class Op, class X>
bool is_left_to_prefetchers(std::int64_t columns) {
  constexpr std::int64_t most_bytes = Op::writes_entries ? 4096 : 3584;
  return columns * static_cast<std::int64_t>(sizeof(X)) <= most_bytes && prefers_own_prefetchers();
}

/// The bytes from an entry that is read to the one whose cache line is prefetched.
template <class Op, class X>
std::int64_t bytes_ahead(std::int64_t columns) {
  if (is_left_to_prefetchers<Op, X>(columns)) return 0;
  constexpr std::int64_t fewest_bytes = std::int64_t{1} << (Op::writes_entries ? 20 : 17);
  return columns * static_cast<std::int64_t>(sizeof(X)) < fewest_bytes ? far_ahead
                                                                       : ahead_in_wide_rows();
}

/// Writes the first vectors of a row, or all that are whole if it has fewer.
template <class Writer>
KOKKOSSOFTMAX_HOST_FUNCTION void write_lead(Writer& writer, std::int64_t vectors) {
  writer.begin();
  for (std::int64_t n = smaller(vectors, writer.whole_vectors()); n > 0; --n) writer.write_vector();
}

/// Rows that stay in a cache until their output is written. While a span of a row is read, the same
/// span of the row before is written, so that reading and writing overlap.
///
/// \tparam keeps  whether the exponentials are kept in the buffer, for rows of one span
template <class Op, class Values, class L, bool streams, bool keeps, class Job>
class OverlappedRows {
  using T = typename L::T;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template Exp<L>;
  using Output = typename Op::template Output<L>;
  using Reduction = RowReduction<Op, Values, L, keeps>;

 public:
  explicit OverlappedRows(const Job& job)
      : m_job(job), m_values(job.factors), m_ahead(bytes_ahead<Op, X>(job.columns)) {}

  void run() {
    for (std::int64_t r = 0; r < m_job.rows; ++r) {
      HostState<T> row = reduce_span(r, 0);
      for (std::int64_t first = span_columns; first < m_job.columns; first += span_columns)
        merge<Op>(row, reduce_span(r, first));
      finish_row<Op, L>(m_job, r, row);
      m_row = in_all_lanes<L>(row);
    }
    for (std::int64_t first = 0; first < m_job.columns; first += span_columns)
      writer_of(m_job.rows - 1, first).write_rest();
  }

 private:
  /// The number of columns of the span at column `first`.
  std::int64_t columns_from(std::int64_t first) const {
    return smaller(span_columns, m_job.columns - first);
  }
  const X* x_at(std::int64_t r, std::int64_t first) const {
    return m_job.x + r * m_job.x_stride + first;
  }
  T* kept(std::int64_t r) const { return m_job.buffer + (r % 2) * host_buffer_row; }

  /// Returns the state of a span of row r, and writes that of the row before.
  HostState<T> reduce_span(std::int64_t r, std::int64_t first) const {
    constexpr std::int64_t block = Reduction::block_columns;
    const X* const x = x_at(r, first);
    const std::int64_t n = columns_from(first);
    auto writer = writer_of(r > 0 ? r - 1 : 0, first);
    std::int64_t vectors = 0;  // that are left to write
    if (r > 0) {
      write_lead(writer, vectors_of_lead<L, Y>(writer.next(), x));
      vectors = writer.whole_vectors();
    }
    Reduction reduction(m_values, m_ahead);
    for (std::int64_t c = 0; c < n; c += block)
      reduction.add(x + c, smaller(block, n - c), keeps ? kept(r) + c : nullptr,
                    [&]() KOKKOSSOFTMAX_HOST_LAMBDA {
                      if (vectors-- > 0) writer.write_vector();
                    });
    if (r > 0) writer.write_rest();
    if constexpr (keeps) reduction.rescale(kept(r), n);
    return reduction.state();
  }

  /// The writer of a span of row r, given the state of the row.
  auto writer_of(std::int64_t r, std::int64_t first) const {
    const auto writer = [&](const auto& entries) {
      using Entries = std::remove_cvref_t<decltype(entries)>;
      return RowWriter<streams, L, Y, Entries, Output>(m_job.y + r * m_job.y_stride + first,
                                                       columns_from(first), entries,
                                                       Output(m_row, m_job.zero_empty_rows));
    };
    if constexpr (keeps)
      return writer(KeptEntries<L>(kept(r)));
    else if constexpr (Op::keeps_exponentials)
      return writer(
          RecomputedEntries<L, X, Values, Exp>(x_at(r, first), m_values, Exp(m_row.reference)));
    else
      return writer(ReadEntries<L, X, Values>(x_at(r, first), m_values));
  }

  const Job& m_job;
  Values m_values;
  std::int64_t m_ahead;
  LaneStates<L> m_row{};  // of the row that is written
};

template <class Op, class Values, class L, bool streams, class Job>
void overlapped_rows(const Job& job) {
  if constexpr (Op::keeps_exponentials)
    if (!recomputes<L, typename Job::X>(job.columns))
      return OverlappedRows<Op, Values, L, streams, true, Job>(job).run();
  if constexpr (!Op::keeps_exponentials || can_recompute<L, typename Job::X>)
    OverlappedRows<Op, Values, L, streams, false, Job>(job).run();
}

/// logsumexp of rows of one span. The largest entry of a row's head is found while the end of the
/// row before it is added. The head is the whole row if it has at most two blocks, so that none of
/// them is added a second time, otherwise its first block. The sums and logarithms of as many rows
/// as a vector has lanes are computed together.
template <class Op, class Values, class L, class Job>
void reduced_rows(const Job& job) {
  using T = typename L::T;
  using V = typename L::V;
  using Reduction = RowReduction<Op, Values, L, false>;
  constexpr std::int64_t block = Reduction::block_columns;
  const Values values(job.factors);
  const std::int64_t n = job.columns;
  const int head = static_cast<int>(n <= 2 * block ? n : block);
  const std::int64_t end = n <= 2 * block ? 0 : (n - 1) / block * block;
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
      std::int64_t c = 0;
      for (; c < end; c += block) reduction.add(x + c, block, nullptr, [] {});
      int seen = 0;
      max = L::splat(-NumberTraits<T>::infinity);
      for (; c < n; c += block)
        reduction.add(x + c, smaller(block, n - c), nullptr, [&]() KOKKOSSOFTMAX_HOST_LAMBDA {
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

/// Whether rows of several spans are written while the next row is read: if their exponentials
/// aren't computed a second time, and if they stay in a cache until then. That must be the
/// second-level cache, except on AMD's processors (docs/trials.md).
template <class Op, class Job>
bool are_overlapped_spans(const Job& job) {
  constexpr std::int64_t most_bytes = std::int64_t{1} << 19;
  constexpr std::int64_t most = most_bytes / static_cast<std::int64_t>(sizeof(typename Job::X));
  return Op::writes_entries && !Op::keeps_exponentials &&
         job.columns <= (is_amd() ? job.cached_columns : smaller(most, job.cached_columns));
}

template <class Op, class Values, class L, class Job>
void long_rows(const Job& job) {
  if (job.columns > span_columns && !are_overlapped_spans<Op>(job))
    wide_rows<Op, Values, L>(job);
  else if constexpr (!Op::writes_entries)
    reduced_rows<Op, Values, L>(job);
  else if (job.streams && !is_left_to_prefetchers<Op, typename Job::X>(job.columns))
    overlapped_rows<Op, Values, L, true>(job);
  else
    overlapped_rows<Op, Values, L, false>(job);
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
