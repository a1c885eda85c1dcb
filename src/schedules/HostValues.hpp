// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUES_HPP

/// \file
/// The host schedule for sources that know rows. The values of a few rows are computed into a
/// buffer that stays in the cache, and the vector kernels of host/ work on the buffer.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <op/FinishRow.hpp>
#include <row/Source.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The same operation on numbers of the type of the computation, and its vector kernels.
template <class Op>
struct OpOnComputed;
template <template <class> class Op, class V>
struct OpOnComputed<Op<V>> {
  using T = typename V::Compute;
  static constexpr bool exists = have_kernels<T, T>;
  using type = std::conditional_t<exists, Op<ValueTypes<T>>, Op<V>>;
};

/// A thread's buffers for values: those of several short rows, or of a span of a long one.
template <class Op, class Source>
class HostValueRows {
 public:
  using V = typename Source::Types;
  using Arguments = ArgumentsOf<Source>;
  using T = typename V::Compute;
  using X = typename V::X;
  using Y = typename V::Y;
  using Kernels = HostKernelsOf<typename OpOnComputed<Op>::type>;
  using Job = HostRowsJob<T, T, T>;
  /// As many neighbouring rows as fill a cache line are computed together, if they are that short.
  static constexpr std::int64_t most_rows = 64 / static_cast<std::int64_t>(sizeof(T));
  static constexpr std::int64_t batch_entries = 8192;

  explicit HostValueRows(const ArgumentsOf<Source>& arguments)
      : m_arguments(arguments),
        m_source(arguments),
        m_columns(arguments.problem.columns),
        m_spans(m_columns),
        m_values(host_thread_buffer<T>() + 2 * host_buffer_row) {}

  /// The number of rows that are computed together.
  static std::int64_t batch(std::int64_t columns) {
    return std::clamp<std::int64_t>(batch_entries / std::max<std::int64_t>(columns, 1), 1,
                                    most_rows);
  }

  /// Computes `count` rows from row `first` on, at most batch().
  void compute(std::int64_t first, std::int64_t count) const {
    if (m_columns <= span_columns)
      compute_batch(first, count);
    else
      for (std::int64_t r = first; r < first + count; ++r) compute_in_parts(LongRow(*this, r));
  }

  /// A row of more than one span, see compute_in_parts().
  class LongRow {
   public:
    using State = HostState<T>;
    LongRow(const HostValueRows& rows, std::int64_t r) : m_rows(rows), m_r(r) {}

    std::int64_t count() const { return m_rows.m_spans.count(); }
    void reduce(std::int64_t s, State& state) const { state = m_rows.reduce_span(m_r, s); }
    void merge(State& into, const State& from) const { m_rows.kernels().merge(into, from); }
    void finish(const State& row) const { m_rows.finish_long_row(m_r, row); }
    void write([[maybe_unused]] std::int64_t first, [[maybe_unused]] std::int64_t last,
               [[maybe_unused]] const State& row) const {
      if constexpr (Op::writes_entries)
        for (std::int64_t s = last - 1; s >= first; --s) m_rows.write_span(m_r, s, row);
    }

   private:
    const HostValueRows& m_rows;
    std::int64_t m_r;
  };

 private:
  using Row = SourceRow<Source>;

  const auto& kernels() const { return Kernels::get(m_arguments.function); }

  /// Whether the kernels write the results of a row to y, without a buffer.
  bool writes_to_y() const {
    return std::is_same_v<Y, T> && Op::writes_entries && m_arguments.problem.y_column_stride == 1;
  }

  Job job(std::int64_t first, std::int64_t count) const {
    Job job = rows_in_buffer(m_values, count, m_columns);
    job.lse = row_values(m_arguments.problem.lse, m_arguments.problem.lse_stride, first);
    job.max = row_values(m_arguments.problem.max, m_arguments.problem.max_stride, first);
    job.zero_empty_rows = m_arguments.empty_rows == EmptyRows::zero;
    return job;
  }
  static HostRowValues<T> row_values(T* data, std::int64_t stride, std::int64_t first) {
    return {data == nullptr ? nullptr : data + first * stride, stride};
  }

  void compute_batch(std::int64_t first, std::int64_t count) const {
    load(first, count, 0, m_columns);
    T numbers[most_rows];  // the results of rows, or their maxima
    Job all = job(first, count);
    if constexpr (!Op::writes_entries) {
      all.y = numbers;
      all.y_stride = 1;
      kernels().rows(all);
      for (std::int64_t r = 0; r < count; ++r) write_result(first + r, numbers[r]);
    } else {
      all.max = {numbers, 1};
      const bool to_y = count == 1 && writes_to_y();
      if (to_y) all.y = reinterpret_cast<T*>(m_arguments.row(first).y);
      kernels().rows(all);
      if (!to_y) store(first, count, 0, m_columns);
      for (std::int64_t r = 0; r < count; ++r) finish_values(first + r, numbers[r]);
    }
  }

  HostState<T> reduce_span(std::int64_t r, std::int64_t s) const {
    load(r, 1, m_spans.begin(s), m_spans.size(s));
    return kernels().reduce(job(r, 1), 0, 0, m_spans.size(s));
  }

  void finish_long_row(std::int64_t r, const HostState<T>& row) const {
    Job one = job(r, 1);
    if constexpr (Op::writes_entries) {
      kernels().finish(one, 0, row);
    } else {
      T result;
      one.y = &result;
      kernels().finish(one, 0, row);
      write_result(r, result);
    }
  }

  void write_span(std::int64_t r, std::int64_t s, const HostState<T>& row) const {
    load(r, 1, m_spans.begin(s), m_spans.size(s));
    kernels().write(job(r, 1), 0, 0, m_spans.size(s), row);
    store(r, 1, m_spans.begin(s), m_spans.size(s));
    if (has_nan_results(row)) finish_masked_of(r, m_spans.begin(s), m_spans.end(s));
  }

  /// Columns [first_column, first_column + size) of some rows, one row after the other.
  void load(std::int64_t first, std::int64_t count, std::int64_t first_column,
            std::int64_t size) const {
    const std::int64_t stride = m_arguments.problem.x_column_stride;
    const X* x[most_rows];
    for (std::int64_t r = 0; r < count; ++r)
      x[r] = m_arguments.row(first + r).x + first_column * stride;
    if (stride != 1)  // across the rows, which lie side by side
      for (std::int64_t c = 0; c < size; ++c)
        for (std::int64_t r = 0; r < count; ++r)
          m_values[r * size + c] = static_cast<T>(x[r][c * stride]);
    for (std::int64_t r = 0; r < count; ++r) {
      T* const values = m_values + r * size;
      const Row row(m_arguments, first + r);
      if (stride == 1)
        m_source.values_on_host(row, x[r], first_column, size, values);
      else
        m_source.values_on_host(row, values, first_column, size, values);
    }
  }

  void store(std::int64_t first, std::int64_t count, std::int64_t first_column,
             std::int64_t size) const {
    const std::int64_t stride = m_arguments.problem.y_column_stride;
    Y* y[most_rows];
    for (std::int64_t r = 0; r < count; ++r)
      y[r] = m_arguments.row(first + r).y + first_column * stride;
    if (stride == 1)
      for (std::int64_t r = 0; r < count; ++r)
        for (std::int64_t c = 0; c < size; ++c) y[r][c] = static_cast<Y>(m_values[r * size + c]);
    else
      for (std::int64_t c = 0; c < size; ++c)
        for (std::int64_t r = 0; r < count; ++r)
          y[r][c * stride] = static_cast<Y>(m_values[r * size + c]);
  }

  void write_result(std::int64_t r, T result) const {
    Y* const y = m_arguments.row(r).y;
    if (m_arguments.problem.y_holds_row_values)
      *reinterpret_cast<T*>(y) = result;
    else
      *y = static_cast<Y>(result);
  }

  /// As finish_masked(), given the maximum of the row: NaN or +inf if the row has such an entry.
  void finish_values(std::int64_t r, T max) const {
    if (m_arguments.problem.max != nullptr) *m_arguments.max(r) = max;
    if (max < Kokkos::Experimental::infinity_v<T>) return;
    finish_masked_of(r, 0, m_columns);
  }
  void finish_masked_of(std::int64_t r, std::int64_t first, std::int64_t last) const {
    finish_masked_on_host<Op, Source>(m_arguments, {m_arguments, r}, m_arguments.row(r).y, first,
                                      last);
  }

  const ArgumentsOf<Source>& m_arguments;
  Source m_source;
  std::int64_t m_columns;
  HostSpans m_spans;
  T* m_values;
};

/// Each thread works on a block of contiguous rows. Rows is HostValueRows or a class like it.
template <class Rows>
struct HostValuesBlocks {
  typename Rows::Arguments arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const Rows rows(arguments);
    const std::int64_t batch = rows.batch(arguments.problem.columns);
    const std::int64_t end = begin_of_part(arguments.problem.rows, b + 1, blocks);
    for (std::int64_t r = begin_of_part(arguments.problem.rows, b, blocks); r < end; r += batch)
      rows.compute(r, std::min(batch, end - r));
  }
};

/// All threads of a team work on each row.
template <class Exec, class Rows>
struct HostValuesInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  typename Rows::Arguments arguments;

  void operator()(const Member& member) const {
    const Rows rows(arguments);
    compute_in_parts(member, typename Rows::LongRow(rows, member.league_rank()));
  }
};

template <class Exec, class Rows>
void host_values(const Exec& exec, const std::string& label,
                 const typename Rows::Arguments& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t threads = std::max(1, exec.concurrency());
  if (share_rows(problem.rows, problem.columns, threads))
    launch_host_teams<typename Rows::LongRow::State>(exec, label, problem.rows,
                                                     HostValuesInSpans<Exec, Rows>{arguments},
                                                     HostSpans(problem.columns).count());
  else
    launch_host_blocks(exec, label,
                       HostValuesBlocks<Rows>{arguments, std::min(problem.rows, threads)});
}

}  // namespace KokkosSoftmax::Impl

#endif
