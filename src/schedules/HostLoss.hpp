// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP

/// \file
/// The host schedule of cross_entropy, with the kernels of log_softmax: the logarithms of the
/// probabilities of a few rows are computed into a buffer that stays in the cache.

#include <numerics/CompensatedSum.hpp>
#include <op/CrossEntropy.hpp>
#include <row/LossSource.hpp>
#include <schedules/HostVectors.hpp>
#include <stdexcept>

namespace KokkosSoftmax::Impl {

/// A thread's work on rows.
template <class V>
class HostLossRows {
 public:
  using T = typename V::Compute;
  using X = typename V::X;
  using Job = HostRowsJob<T, T, T>;
  using Kernels = HostTableOf<ValueTypes<T>>;
  static constexpr std::int64_t most_rows = 64;

  explicit HostLossRows(const LossArgs<V>& arguments)
      : m_arguments(arguments),
        m_columns(arguments.problem.columns),
        m_values(host_thread_buffer<T>() + 2 * host_buffer_row) {}

  /// The number of rows that are computed together.
  static std::int64_t batch(std::int64_t columns) {
    constexpr std::int64_t entries = 8192;
    return std::clamp<std::int64_t>(entries / std::max<std::int64_t>(columns, 1), 1, most_rows);
  }

  /// Computes `count` rows from row `first` on, at most batch().
  void compute(std::int64_t first, std::int64_t count) const {
    if (m_columns == 0)
      for (std::int64_t r = first; r < first + count; ++r)
        LabelEntry<CrossEntropyOp<V>>(m_arguments, r)
            .finish(m_arguments, LogSumExpState<T>{}, T(0));
    else if (m_columns <= span_columns)
      compute_batch(first, count);
    else
      for (std::int64_t r = first; r < first + count; ++r) compute_long_row(r);
  }

 private:
  static const auto& kernels() { return Kernels::table().log_softmax; }
  bool smooths() const { return m_arguments.smoothing != T(0); }

  Job job(std::int64_t count, T* lse) const {
    Job job;
    job.factors = LossSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
    job.lse = {lse, 1};
    job.max = {nullptr, 0};
    job.zero_empty_rows = false;
    job.streams = false;
    job.y_holds_row_values = false;
    job.x = m_values;
    job.x_stride = m_columns;
    job.y = m_values;
    job.y_stride = m_columns;
    job.rows = count;
    job.columns = m_columns;
    job.buffer = host_thread_buffer<T>();
    return job;
  }

  void compute_batch(std::int64_t first, std::int64_t count) const {
    load(first, count, 0, m_columns);
    T lse[most_rows];
    kernels().rows(job(count, lse));
    for (std::int64_t r = 0; r < count; ++r) {
      const T* const log_p = m_values + r * m_columns;
      const std::int64_t label = label_of_row(m_arguments.problem, m_arguments.labels, first + r);
      write(first + r, label, label < 0 ? T(0) : log_p[label],
            smooths() ? sum_of(log_p, m_columns) : 0, lse[r]);
    }
  }

  void compute_long_row(std::int64_t r) const {
    T lse;
    const Job one = job(1, &lse);
    HostState<T> row;
    const auto for_each_span = [&](const auto& f) {
      for (std::int64_t c = 0; c < m_columns; c += span_columns)
        f(c, std::min(span_columns, m_columns - c));
    };
    for_each_span([&](std::int64_t c, std::int64_t size) {
      load(r, 1, c, size);
      const HostState<T> span = kernels().reduce(one, 0, 0, size);
      if (c == 0)
        row = span;
      else
        kernels().merge(row, span);
    });
    kernels().finish(one, 0, row);
    double sum = 0;
    if (smooths())
      for_each_span([&](std::int64_t c, std::int64_t size) {
        log_probabilities(one, r, c, size, row);
        sum += sum_of(m_values, size);
      });
    const std::int64_t label = label_of_row(m_arguments.problem, m_arguments.labels, r);
    if (label >= 0) log_probabilities(one, r, label, 1, row);
    write(r, label, m_values[0], sum, lse);
  }

  /// Those of columns [first, first + size) of row r, in the buffer.
  void log_probabilities(const Job& one, std::int64_t r, std::int64_t first, std::int64_t size,
                         const HostState<T>& row) const {
    load(r, 1, first, size);
    kernels().write(one, 0, 0, size, row);
  }

  /// So few numbers are added to each partial sum that doubles lose no digits, even if each
  /// addition is rounded in the same direction.
  static double sum_of(const T* log_p, std::int64_t count) {
    constexpr std::int64_t block = 64, lanes = 8;
    CompensatedSum<double> sum;
    for (std::int64_t first = 0; first < count; first += block) {
      double partial[lanes] = {};
      const std::int64_t end = std::min(count, first + block);
      std::int64_t c = first;
      for (; c + lanes <= end; c += lanes)
        for (std::int64_t i = 0; i < lanes; ++i) partial[i] += static_cast<double>(log_p[c + i]);
      for (; c < end; ++c) partial[0] += static_cast<double>(log_p[c]);
      for (std::int64_t i = 0; i < lanes; ++i) sum.add(partial[i]);
    }
    return sum.value();
  }

  void write(std::int64_t r, std::int64_t label, T log_p, double sum, T lse) const {
    const auto& problem = m_arguments.problem;
    if (m_arguments.row_lse.data != nullptr) number_of_row(problem, m_arguments.row_lse, r) = lse;
    T& loss = number_of_row(problem, m_arguments.loss, r);
    const T smoothing = m_arguments.smoothing;
    if (label == NoLabel::ignored)
      loss = T(0);
    else if (label == NoLabel::invalid)
      loss = Kokkos::Experimental::quiet_NaN_v<T>;
    else
      loss = (smoothing == T(1) ? T(0) : T(0) - (T(1) - smoothing) * log_p) -
             (smooths() ? smoothing * static_cast<T>(sum / static_cast<double>(m_columns)) : T(0));
  }

  /// Columns [first_column, first_column + size) of some rows, one row after the other.
  void load(std::int64_t first, std::int64_t count, std::int64_t first_column,
            std::int64_t size) const {
    const std::int64_t stride = m_arguments.problem.x_column_stride;
    for (std::int64_t r = 0; r < count; ++r) {
      const X* const x = m_arguments.row(first + r).x + first_column * stride;
      T* const values = m_values + r * size;
      if (stride == 1)
        for (std::int64_t c = 0; c < size; ++c) values[c] = static_cast<T>(x[c]);
      else
        for (std::int64_t c = 0; c < size; ++c) values[c] = static_cast<T>(x[c * stride]);
    }
  }

  const LossArgs<V>& m_arguments;
  std::int64_t m_columns;
  T* m_values;
};

/// Each thread works on a block of contiguous rows.
template <class V>
struct HostLossBlocks {
  LossArgs<V> arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const HostLossRows<V> rows(arguments);
    const std::int64_t batch = rows.batch(arguments.problem.columns);
    const std::int64_t end = begin_of_part(arguments.problem.rows, b + 1, blocks);
    for (std::int64_t r = begin_of_part(arguments.problem.rows, b, blocks); r < end; r += batch)
      rows.compute(r, std::min(batch, end - r));
  }
};

/// Enqueues cross_entropy.
/// \throws std::invalid_argument  if the library has no kernels for the type of the computation
template <class Exec, class V>
void host_loss(const Exec& exec, const std::string& label, const LossArgs<V>& arguments) {
  using T = typename V::Compute;
  if constexpr (have_kernels<T, T>)
    launch_host_blocks(
        exec, label,
        HostLossBlocks<V>{arguments, std::min<std::int64_t>(arguments.problem.rows,
                                                            std::max(1, exec.concurrency()))});
  else
    throw std::invalid_argument(
        "KokkosSoftmax::cross_entropy: the library has no float kernels for hosts "
        "(KokkosSoftmax_VALUE_TYPES has half types alone): add float");
}

}  // namespace KokkosSoftmax::Impl

#endif
