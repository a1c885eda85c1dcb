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

namespace KokkosSoftmax::Impl {

/// Rows with as many entries as their neighbours, which a vector kernel computes together.
struct RowsOfOneLength {
  std::int64_t first;
  std::int64_t count;
  std::int64_t begin;  // the first entry
  std::int64_t columns;
};

/// Calls f(RowsOfOneLength) for rows [first, end), with at most `most` rows at one time.
template <class F>
void for_each_length(const RowOffsets& offset, std::int64_t first, std::int64_t end,
                     std::int64_t most, const F& f) {
  while (first < end) {
    const std::int64_t begin = offset(first), columns = offset(first + 1) - begin;
    std::int64_t last = first + 1, last_entry = begin + columns;
    while (last < end && last - first < most && offset(last + 1) - last_entry == columns) {
      ++last;
      last_entry += columns;
    }
    f(RowsOfOneLength{first, last - first, begin, columns});
    first = last;
  }
}

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
    const HostKernels<X, Y>& kernels = HostRaggedValues::kernels();
    auto job = common_job();
    for_each_length(problem.offset, first, end, end - first, [&](const RowsOfOneLength& some) {
      if (some.columns > 0) {
        set_rows(job, some);
        if (some.count < fewest_together && some.columns <= longest_of_few)
          compute_one_by_one(kernels, job);
        else
          kernels.rows(job);
      } else if (!Op::writes_entries) {
        std::fill_n(problem.of_rows + some.first, some.count, -Kokkos::Experimental::infinity_v<T>);
      }
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

  /// The kernel for short rows computes several of them together, which takes too long for few.
  static constexpr std::int64_t fewest_together = 4;
  static constexpr std::int64_t longest_of_few = 256;
  static void compute_one_by_one(const HostKernels<X, Y>& kernels,
                                 const HostRowsJob<X, Y, T>& job) {
    for (std::int64_t r = 0; r < job.rows; ++r) {
      const State state = kernels.reduce(job, r, 0, job.columns);
      kernels.finish(job, r, state);
      if constexpr (Op::writes_entries) kernels.write(job, r, 0, job.columns, state);
    }
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
      job.y_stride = sizeof(T) / sizeof(Y);
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
    for_each_length(m_arguments.problem.offset, first, end, end - first,
                    [&](const RowsOfOneLength& some) {
                      if (some.columns > 0) kernels().rows(job(some));
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

  HostBackwardJob<X, T> job(const RowPart& part) const {
    return job(RowsOfOneLength{part.row, 1, part.begin, part.end - part.begin});
  }
  HostBackwardJob<X, T> job(const RowsOfOneLength& rows) const {
    const auto& problem = m_arguments.problem;
    HostBackwardJob<X, T> job;
    job.y = reinterpret_cast<const X*>(problem.x + rows.begin);
    job.dy = reinterpret_cast<const X*>(problem.second + rows.begin);
    job.dx = reinterpret_cast<X*>(problem.y + rows.begin);
    job.y_stride = job.dy_stride = job.dx_stride = rows.columns;
    job.y_column_stride = job.dy_column_stride = job.dx_column_stride = 1;
    job.rows = rows.count;
    job.columns = rows.columns;
    job.scale = m_arguments.of_rows.scale;
    job.is_log = m_arguments.of_rows.is_log();
    job.streams = problem.second != problem.y &&
                  streams_past_caches(problem, rows.count * rows.columns, m_threads);
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
    for_each_length(m_arguments.problem.offset, first, end, most_rows,
                    [&](const RowsOfOneLength& some) {
                      if (some.columns > 0) compute(some);
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
    T factor[most_rows], offset[most_rows] = {};
    for (std::int64_t i = 0; i < rows.count; ++i)
      factor[i] = m_arguments.factor * problem.derivative[rows.first + i];
    HostGradientJob<X, T> job{};
    job.x = reinterpret_cast<const X*>(problem.x + rows.begin);
    job.dx = reinterpret_cast<X*>(problem.y + rows.begin);
    job.x_stride = job.dx_stride = rows.columns;
    job.x_column_stride = job.dx_column_stride = 1;
    job.rows = rows.count;
    job.columns = rows.columns;
    job.factors =
        typename Op::Source(m_arguments.of_rows).on_host().template factors<HostFactors<T>>();
    job.lse = problem.lse + rows.first;
    job.factor = factor;
    job.offset = offset;
    job.streams = streams_past_caches(problem, rows.count * rows.columns, m_threads);
    host_isa().kernels<X, X>().gradient.rows(job);
  }

  const Arguments& m_arguments;
  std::int64_t m_threads;
};

}  // namespace KokkosSoftmax::Impl

#endif
