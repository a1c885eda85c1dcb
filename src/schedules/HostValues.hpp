// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUES_HPP

/// \file
/// The host schedule for sources that know rows. The values of a few rows are computed into a
/// buffer that stays in the cache, and the vector kernels of host/ work on the buffer.

#include <algorithm>
#include <op/FinishRow.hpp>
#include <row/GeneralBlock.hpp>
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

/// Sets what a job on rows from row `first` on writes beside y, and for empty rows.
template <class Job, class Arguments>
void set_outputs_of_rows(Job& job, const Arguments& arguments, std::int64_t first) {
  using T = typename Job::T;
  const auto& problem = arguments.problem;
  const auto row_values = [&](T* data, std::int64_t stride) {
    return HostRowValues<T>{data == nullptr ? nullptr : data + first * stride, stride};
  };
  job.lse = row_values(problem.lse, problem.lse_stride);
  job.max = row_values(problem.max, problem.max_stride);
  job.zero_empty_rows = arguments.empty_rows == EmptyRows::zero;
}

/// What of rows isn't computed by a vector kernel: numbers of a type other than that of the
/// computation, and masked entries of rows with NaN or +inf.
template <class Op, class Source>
class HostValuesOutput {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Y = typename V::Y;

  explicit HostValuesOutput(const ArgumentsOf<Source>& arguments) : m_arguments(arguments) {}

  /// Writes the numbers of rows from row `first` on.
  void write_numbers(std::int64_t first, std::int64_t count, const T* numbers) const {
    Y* y = m_arguments.row(first).y;
    for (std::int64_t r = 0; r < count; ++r, y += fastest_axis(m_arguments.problem).y_stride)
      if (m_arguments.problem.y_holds_row_values)
        *reinterpret_cast<T*>(y) = numbers[r];
      else
        *y = static_cast<Y>(numbers[r]);
  }

  /// Given the maximum of each row, which is NaN or +inf if the row has such an entry.
  void finish(std::int64_t first, std::int64_t count, const T* max) const {
    for (std::int64_t r = 0; r < count; ++r) {
      if (m_arguments.problem.max != nullptr) *m_arguments.max(first + r) = max[r];
      if (!(max[r] < Kokkos::Experimental::infinity_v<T>))
        finish_masked(first + r, 0, m_arguments.problem.columns);
    }
  }

  /// For columns [first, last) of row r, see finish_masked() of other schedules.
  void finish_masked(std::int64_t r, std::int64_t first, std::int64_t last) const {
    finish_masked_on_host<Op, Source>(m_arguments, {m_arguments, r}, m_arguments.row(r).y, first,
                                      last);
  }

 private:
  const ArgumentsOf<Source>& m_arguments;
};

/// A thread's buffers for values: those of several short rows, or of a span of a long one.
template <class Op, class Source>
class HostValueRows {
 public:
  using V = typename Source::Types;
  using Arguments = ArgumentsOf<Source>;
  using T = typename V::Compute;
  using Y = typename V::Y;
  using Kernels = HostKernelsOf<typename OpOnComputed<Op>::type>;
  using Job = HostRowsJob<T, T, T>;

  HostValueRows(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments),
        m_output(arguments),
        m_columns(arguments.problem.columns),
        m_spans(m_columns),
        m_streams(writes_to_y() && exceeds_caches(arguments.problem, threads)),
        m_values(host_thread_buffer<T>() + 2 * host_buffer_row) {}

  /// The number of rows that are computed together. Their values stay in the second-level cache.
  /// Rows that lie side by side share cache lines.
  std::int64_t batch() const {
    const std::int64_t entries =
        m_arguments.problem.x_column_stride == 1 ? batch_entries : span_columns;
    return std::clamp<std::int64_t>(entries / m_columns, 1, most_rows);
  }

  /// Computes `count` rows from row `first` on, at most batch(), of one group of neighbours.
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
  static constexpr std::int64_t most_rows = VisibleColumns::most_rows;
  static constexpr std::int64_t batch_entries = 8192;

  const auto& kernels() const { return Kernels::get(m_arguments.function); }

  /// Whether the kernels write the results of rows to y, without a buffer.
  bool writes_to_y() const {
    return std::is_same_v<Y, T> && Op::writes_entries && m_arguments.problem.y_column_stride == 1;
  }

  BlockBuffer<T> buffer(std::int64_t rows, std::int64_t columns) const {
    return BlockBuffer<T>::of_rows(m_values, rows, columns);
  }
  void load(const HostBlock& block) const {
    GeneralBlock<V>(m_arguments, block).values(buffer(block.rows, block.columns));
  }
  /// Copies results from the buffer to y.
  void store(const HostBlock& block) const {
    const auto& problem = m_arguments.problem;
    Y* const y = m_arguments.row(block.first_row).y + block.first_column * problem.y_column_stride;
    buffer(block.rows, block.columns)
        .copy_to(y, fastest_axis(problem).y_stride, problem.y_column_stride);
  }

  Job job(std::int64_t first, std::int64_t count, std::int64_t columns) const {
    Job job = rows_in_buffer(m_values, count, columns);
    set_outputs_of_rows(job, m_arguments, first);
    return job;
  }

  void compute_batch(std::int64_t first, std::int64_t count) const {
    const HostBlock block{first, count, 0, m_columns};
    load(block);
    T numbers[most_rows];  // the results of rows, or their maxima
    Job all = job(first, count, m_columns);
    if constexpr (!Op::writes_entries) {
      all.y = numbers;
      all.y_stride = 1;
      kernels().rows(all);
      m_output.write_numbers(first, count, numbers);
    } else {
      all.max = {numbers, 1};
      if (writes_to_y()) {
        all.y = reinterpret_cast<T*>(m_arguments.row(first).y);
        all.y_stride = fastest_axis(m_arguments.problem).y_stride;
        all.streams = m_streams;
      }
      kernels().rows(all);
      if (!writes_to_y()) store(block);
      m_output.finish(first, count, numbers);
    }
  }

  HostBlock span(std::int64_t r, std::int64_t s) const {
    return {r, 1, m_spans.begin(s), m_spans.size(s)};
  }

  HostState<T> reduce_span(std::int64_t r, std::int64_t s) const {
    load(span(r, s));
    return kernels().reduce(job(r, 1, m_columns), 0, 0, m_spans.size(s));
  }

  void finish_long_row(std::int64_t r, const HostState<T>& row) const {
    Job one = job(r, 1, m_columns);
    if constexpr (Op::writes_entries) {
      kernels().finish(one, 0, row);
    } else {
      T result;
      one.y = &result;
      kernels().finish(one, 0, row);
      m_output.write_numbers(r, 1, &result);
    }
  }

  void write_span(std::int64_t r, std::int64_t s, const HostState<T>& row) const {
    load(span(r, s));
    kernels().write(job(r, 1, m_columns), 0, 0, m_spans.size(s), row);
    store(span(r, s));
    if (has_nan_results(row)) m_output.finish_masked(r, m_spans.begin(s), m_spans.end(s));
  }

  const Arguments& m_arguments;
  HostValuesOutput<Op, Source> m_output;
  std::int64_t m_columns;
  HostSpans m_spans;
  bool m_streams;
  T* m_values;
};

/// Each thread works on a block of contiguous rows. Rows is HostValueRows or a class like it.
template <class Rows>
struct HostValuesBlocks {
  typename Rows::Arguments arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const Rows rows(arguments, blocks);
    const std::int64_t batch = rows.batch();
    const std::int64_t all = arguments.problem.rows;
    for_each_group(begin_of_part(all, b, blocks), begin_of_part(all, b + 1, blocks),
                   fastest_axis(arguments.problem).extent,
                   [&](std::int64_t first, std::int64_t count) {
                     for (std::int64_t r = 0; r < count; r += batch)
                       rows.compute(first + r, std::min(batch, count - r));
                   });
  }
};

/// All threads of a team work on each row.
template <class Exec, class Rows>
struct HostValuesInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  typename Rows::Arguments arguments;

  void operator()(const Member& member) const {
    const Rows rows(arguments, threads_of(member));
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
