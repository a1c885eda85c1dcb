// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTRAGGED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTRAGGED_HPP

/// \file
/// The operations on ragged rows with the vector kernels of host/. Each has
///
/// - State: what a part of a long row is reduced to
/// - rows(first, end): computes rows, none of which is long
/// - reduce(part), merge(into, from): the state of a part, and that of several ones
/// - finish(r, state): writes the number of a row, if it has one
/// - write(part, state): writes the results of a part, given the state of its row, if there are any

#include <algorithm>
#include <op/RaggedOps.hpp>
#include <row/RaggedArgs.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/RaggedGroups.hpp>

namespace KokkosSoftmax::Impl {

template <class X>
inline constexpr std::int64_t entries_of_line = 64 / static_cast<std::int64_t>(sizeof(X));

/// Whether results of `entries` entries are written past the caches: if those of all rows don't fit
/// there, and these fill many cache lines.
template <class X, class Y>
bool streams_past_caches(const RaggedProblem<X, Y>& problem, std::int64_t entries,
                         std::int64_t threads) {
  constexpr std::int64_t fewest = 4096;
  const auto bytes = static_cast<std::int64_t>(sizeof(X) + sizeof(Y)) * problem.entries;
  return entries >= fewest && bytes > last_level_cache_bytes(threads) &&
         static_cast<const void*>(problem.x) != static_cast<const void*>(problem.y);
}

/// softmax, log_softmax and logsumexp
template <class Op>
class HostRaggedValues {
 public:
  using V = typename Op::Types;
  using Arguments = typename Op::Arguments;
  using Rows = typename Op::Rows;
  using T = typename V::Compute;
  using X = HostNumber<typename V::X>;
  using Y = HostNumber<typename V::Y>;
  using State = HostState<T>;

  HostRaggedValues(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments), m_threads(threads) {}

  void rows(std::int64_t first, std::int64_t end) const {
    const auto& problem = m_arguments.problem;
    auto job = common_job();
    for_each_group<entries_of_line<X>>(
        problem.offset, first, end, end - first,
        [&](const RowsOfOneLength& some) { compute(job, some); },
        [&](const PaddedRows& some) { compute(job, some); },
        [&](std::int64_t entry) {
          prefetch_read(problem.x + entry);
          if constexpr (Op::writes_entries) prefetch_write(problem.y + entry);
        });
  }

  State reduce(const RowPart& part) const {
    return kernels().reduce(job(part), 0, 0, part.end - part.begin);
  }
  void merge(State& into, const State& from) const { kernels().merge(into, from); }
  void finish(std::int64_t r, const State& state) const {
    kernels().finish(job(RowsOfOneLength{r, 1, 0, 0}), 0, state);
  }
  void write(const RowPart& part, const State& state) const {
    if constexpr (Op::writes_entries)
      kernels().write(job(part), 0, 0, part.end - part.begin, state);
  }

 private:
  /// From row to row in the results of logsumexp, in elements of Y.
  static constexpr std::int64_t stride_of_numbers = sizeof(T) / sizeof(Y);

  /// The kernels of the one output, see OneOutput.
  static const HostKernels<X, Y>& kernels() {
    const auto& table = host_isa().kernels<X, Y>();
    if constexpr (!Op::writes_entries)
      return table.logsumexp;
    else if constexpr (Op::function == 0)
      return table.softmax;
    else
      return table.log_softmax;
  }

  void compute(HostRowsJob<X, Y, T>& job, const RowsOfOneLength& rows) const {
    if (rows.columns > 0) {
      set_rows(job, rows);
      if (rows.count < fewest_rows_together && rows.columns <= longest_of_few)
        compute_one_by_one(job);
      else
        kernels().rows(job);
    } else if (!Op::writes_entries) {
      std::fill_n(m_arguments.problem.of_rows + rows.first, rows.count,
                  -Kokkos::Experimental::infinity_v<T>);
    }
  }

  static constexpr std::int64_t longest_of_few = 256;
  static void compute_one_by_one(const HostRowsJob<X, Y, T>& job) {
    for (std::int64_t r = 0; r < job.rows; ++r) {
      const State state = kernels().reduce(job, r, 0, job.columns);
      kernels().finish(job, r, state);
      if constexpr (Op::writes_entries) kernels().write(job, r, 0, job.columns, state);
    }
  }

  /// Entries that are padded count for nothing.
  void compute(HostRowsJob<X, Y, T>& job, const PaddedRows& rows) const {
    const auto& problem = m_arguments.problem;
    const PaddedMatrix<typename V::X, 0> x;
    const PaddedMatrix<typename V::Y, 1> y;
    x.read(problem.offset, rows, problem.x, m_arguments.of_rows.padding);
    T lse[PaddedRows::most];
    job.x = reinterpret_cast<const X*>(x.data());
    job.x_stride = job.columns = rows.columns;
    job.rows = rows.count;
    job.streams = false;
    job.y = Op::writes_entries ? reinterpret_cast<Y*>(y.data()) : reinterpret_cast<Y*>(lse);
    job.y_stride = Op::writes_entries ? rows.columns : stride_of_numbers;
    kernels().rows(job);
    if constexpr (Op::writes_entries)
      y.write(problem.offset, rows, problem.y);
    else
      for (int k = 0; k < rows.count; ++k)
        problem.of_rows[rows.row[static_cast<std::size_t>(k)]] = lse[k];
  }

  HostRowsJob<X, Y, T> job(const RowPart& part) const {
    return job(RowsOfOneLength{part.row, 1, part.begin, part.end - part.begin});
  }
  HostRowsJob<X, Y, T> job(const RowsOfOneLength& rows) const {
    auto job = common_job();
    set_rows(job, rows);
    return job;
  }

  /// What the jobs of all rows have in common.
  HostRowsJob<X, Y, T> common_job() const {
    HostRowsJob<X, Y, T> job;
    job.factors =
        typename Op::Source(m_arguments.of_rows).on_host().template factors<HostFactors<T>>();
    job.lse = {nullptr, 0};
    job.max = {nullptr, 0};
    job.zero_empty_rows = m_arguments.empty_rows == EmptyRows::zero;
    job.streams = false;
    job.y_holds_row_values = !Op::writes_entries && !std::is_same_v<Y, T>;
    job.buffer = host_thread_buffer<T>();
    return job;
  }
  void set_rows(HostRowsJob<X, Y, T>& job, const RowsOfOneLength& rows) const {
    const auto& problem = m_arguments.problem;
    job.x = reinterpret_cast<const X*>(problem.x + rows.begin);
    job.x_stride = rows.columns;
    job.rows = rows.count;
    job.columns = rows.columns;
    if constexpr (Op::writes_entries) {
      job.streams = streams_past_caches(problem, rows.count * rows.columns, m_threads);
      job.y = reinterpret_cast<Y*>(problem.y + rows.begin);
      job.y_stride = rows.columns;
    } else {
      job.y = reinterpret_cast<Y*>(problem.of_rows + rows.first);
      job.y_stride = stride_of_numbers;
    }
  }

  const Arguments& m_arguments;
  std::int64_t m_threads;
};

/// The backward passes of softmax and log_softmax
template <class Op>
class HostRaggedPairs {
 public:
  using V = typename Op::Types;
  using Arguments = typename Op::Arguments;
  using T = typename V::Compute;
  using X = HostNumber<typename V::X>;
  using State = double;

  HostRaggedPairs(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments), m_threads(threads) {}

  void rows(std::int64_t first, std::int64_t end) const {
    const auto& problem = m_arguments.problem;
    for_each_group<entries_of_line<X>>(
        problem.offset, first, end, end - first,
        [&](const RowsOfOneLength& some) {
          if (some.columns > 0) kernels().rows(job(some));
        },
        [&](const PaddedRows& some) { compute(some); },
        [&](std::int64_t entry) {
          prefetch_read(problem.x + entry);
          prefetch_read(problem.second + entry);
          prefetch_write(problem.y + entry);
        });
  }

  double reduce(const RowPart& part) const {
    return kernels().sum(job(part), 0, 0, part.end - part.begin);
  }
  void merge(double& into, double from) const { into += from; }
  void finish(std::int64_t /*r*/, double /*sum*/) const {}
  void write(const RowPart& part, double sum) const {
    kernels().write(job(part), 0, 0, part.end - part.begin, sum);
  }

 private:
  static const HostBackwardKernels<X>& kernels() { return host_isa().kernels<X, X>().backward; }

  /// The derivatives by entries that are padded are 0, and so are these entries.
  void compute(const PaddedRows& rows) const {
    using Entry = typename V::X;
    const auto& problem = m_arguments.problem;
    const PaddedMatrix<Entry, 0> y;
    const PaddedMatrix<Entry, 1> dy;
    const PaddedMatrix<Entry, 2> dx;
    y.read(problem.offset, rows, problem.x, m_arguments.of_rows.padding);
    dy.read(problem.offset, rows, problem.second, Entry(0));
    auto job = job_of(y.data(), dy.data(), dx.data(), rows.count, rows.columns);
    job.streams = false;
    kernels().rows(job);
    dx.write(problem.offset, rows, problem.y);
  }

  HostBackwardJob<X, T> job(const RowPart& part) const {
    return job(RowsOfOneLength{part.row, 1, part.begin, part.end - part.begin});
  }
  HostBackwardJob<X, T> job(const RowsOfOneLength& rows) const {
    const auto& problem = m_arguments.problem;
    auto job = job_of(problem.x + rows.begin, problem.second + rows.begin, problem.y + rows.begin,
                      rows.count, rows.columns);
    job.streams = problem.second != problem.y &&
                  streams_past_caches(problem, rows.count * rows.columns, m_threads);
    return job;
  }
  template <class Entry>
  HostBackwardJob<X, T> job_of(const Entry* y, const Entry* dy, Entry* dx, std::int64_t rows,
                               std::int64_t columns) const {
    HostBackwardJob<X, T> job;
    job.y = reinterpret_cast<const X*>(y);
    job.dy = reinterpret_cast<const X*>(dy);
    job.dx = reinterpret_cast<X*>(dx);
    job.y_stride = job.dy_stride = job.dx_stride = columns;
    job.y_column_stride = job.dy_column_stride = job.dx_column_stride = 1;
    job.rows = rows;
    job.columns = columns;
    job.scale = m_arguments.of_rows.scale;
    job.is_log = m_arguments.of_rows.is_log();
    return job;
  }

  const Arguments& m_arguments;
  std::int64_t m_threads;
};

/// The backward pass of logsumexp, which computes each entry alone
template <class Op>
class HostRaggedGradient {
 public:
  using V = typename Op::Types;
  using Arguments = typename Op::Arguments;
  using T = typename V::Compute;
  using X = HostNumber<typename V::X>;
  struct State {};

  HostRaggedGradient(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments), m_threads(threads) {}

  void rows(std::int64_t first, std::int64_t end) const {
    const auto& problem = m_arguments.problem;
    for_each_group<entries_of_line<X>>(
        problem.offset, first, end, most_rows,
        [&](const RowsOfOneLength& some) {
          if (some.columns > 0) compute(some);
        },
        [&](const PaddedRows& some) { compute(some); },
        [&](std::int64_t entry) {
          prefetch_read(problem.x + entry);
          prefetch_write(problem.y + entry);
        });
  }

  State reduce(const RowPart& part) const {
    compute(RowsOfOneLength{part.row, 1, part.begin, part.end - part.begin});
    return {};
  }

 private:
  static constexpr std::int64_t most_rows = 256;

  void compute(const RowsOfOneLength& rows) const {
    const auto& problem = m_arguments.problem;
    T factor[most_rows];
    for (std::int64_t i = 0; i < rows.count; ++i) factor[i] = factor_of(rows.first + i);
    auto job = job_of(problem.x + rows.begin, problem.y + rows.begin, rows.count, rows.columns);
    job.streams = streams_past_caches(problem, rows.count * rows.columns, m_threads);
    compute(job, problem.lse + rows.first, factor);
  }

  /// The derivatives by entries that are padded aren't copied back.
  void compute(const PaddedRows& rows) const {
    const auto& problem = m_arguments.problem;
    const PaddedMatrix<typename V::X, 0> x;
    const PaddedMatrix<typename V::X, 1> dx;
    x.read(problem.offset, rows, problem.x, m_arguments.of_rows.padding);
    T lse[PaddedRows::most], factor[PaddedRows::most];
    for (int k = 0; k < rows.count; ++k) {
      const std::int64_t r = rows.row[static_cast<std::size_t>(k)];
      lse[k] = problem.lse[r];
      factor[k] = factor_of(r);
    }
    auto job = job_of(x.data(), dx.data(), rows.count, rows.columns);
    job.streams = false;
    compute(job, lse, factor);
    dx.write(problem.offset, rows, problem.y);
  }

  T factor_of(std::int64_t r) const {
    return m_arguments.factor * m_arguments.problem.derivative[r];
  }

  template <class Entry>
  HostGradientJob<X, T> job_of(const Entry* x, Entry* dx, std::int64_t rows,
                               std::int64_t columns) const {
    HostGradientJob<X, T> job{};
    job.x = reinterpret_cast<const X*>(x);
    job.dx = reinterpret_cast<X*>(dx);
    job.x_stride = job.dx_stride = columns;
    job.x_column_stride = job.dx_column_stride = 1;
    job.rows = rows;
    job.columns = columns;
    job.factors =
        typename Op::Source(m_arguments.of_rows).on_host().template factors<HostFactors<T>>();
    return job;
  }

  static void compute(HostGradientJob<X, T>& job, const T* lse, const T* factor) {
    const T offset[most_rows] = {};
    job.lse = lse;
    job.factor = factor;
    job.offset = offset;
    host_isa().kernels<X, X>().gradient.rows(job);
  }

  const Arguments& m_arguments;
  std::int64_t m_threads;
};

}  // namespace KokkosSoftmax::Impl

#endif
