// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP

/// \file
/// The host schedule of cross_entropy, with the kernels of log_softmax: the logarithms of the
/// probabilities of a few rows are computed into a buffer that stays in the cache.

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <op/CrossEntropy.hpp>
#include <row/LossSource.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>
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
        m_spans(m_columns),
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
      for (std::int64_t r = first; r < first + count; ++r) compute_in_parts(LongRow(*this, r));
  }

  /// A row of more than one span, see compute_in_parts(). There are no entries to write.
  class LongRow {
   public:
    struct State {
      HostState<T> row;
      double total;  // of the entries' shares (LossArgs); 0 if the loss isn't smoothed
    };
    LongRow(const HostLossRows& rows, std::int64_t r) : m_rows(rows), m_r(r) {}

    std::int64_t count() const { return m_rows.m_spans.count(); }
    void reduce(std::int64_t s, State& state) const { state = m_rows.reduce_span(m_r, s); }
    void merge(State& into, const State& from) const {
      m_rows.kernels().merge(into.row, from.row);
      into.total += from.total;
    }
    void finish(const State& all) const { m_rows.finish_long_row(m_r, all); }
    void write(std::int64_t /*first*/, std::int64_t /*last*/, const State&) const {}

   private:
    const HostLossRows& m_rows;
    std::int64_t m_r;
  };

 private:
  static const auto& kernels() { return Kernels::table().log_softmax; }
  bool smooths() const { return m_arguments.smoothing != T(0); }

  Job job(std::int64_t count, T* lse) const {
    Job job = rows_in_buffer(m_values, count, m_columns);
    job.factors = LossSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
    job.lse = {lse, 1};
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
            smooths() ? mean(sum_of(log_p, m_columns)) : T(0), lse[r]);
    }
  }

  typename LongRow::State reduce_span(std::int64_t r, std::int64_t s) const {
    T lse;
    load(r, 1, m_spans.begin(s), m_spans.size(s));
    return {kernels().reduce(job(1, &lse), 0, 0, m_spans.size(s)),
            smooths() ? sum_of_entries(m_spans.size(s)) : 0};
  }

  /// The sum of the entries in the buffer. Entries whose values exceed the numbers of T are
  /// infinite, because those values are.
  double sum_of_entries(std::int64_t count) const {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    for (std::int64_t c = 0; c < count; ++c) {
      const T value = m_arguments.scale * m_values[c];
      if (value == infinity || value == -infinity) m_values[c] *= infinity;
    }
    return sum_of(m_values, count);
  }

  /// The logarithm of a probability is an affine function of the entry. So the mean of the
  /// logarithms is the logarithm for the mean entry.
  void finish_long_row(std::int64_t r, const typename LongRow::State& all) const {
    T lse;
    const Job one = job(1, &lse);
    kernels().finish(one, 0, all.row);
    const std::int64_t label = label_of_row(m_arguments.problem, m_arguments.labels, r);
    load(r, 1, std::max<std::int64_t>(label, 0), 1);
    m_values[1] = mean(all.total);
    kernels().write(one, 0, 0, 2, all.row);
    write(r, label, m_values[0], m_values[1], lse);
  }

  T mean(double total) const { return static_cast<T>(m_arguments.mean(total)); }

  /// The sum of the shares of the numbers. So few are added to each partial sum that doubles lose
  /// no digits, even if each addition is rounded in the same direction.
  double sum_of(const T* numbers, std::int64_t count) const {
    constexpr std::int64_t block = 64, lanes = 8;
    const auto share = static_cast<double>(m_arguments.share);
    CompensatedSum<double> sum;
    for (std::int64_t first = 0; first < count; first += block) {
      double partial[lanes] = {};
      const std::int64_t end = std::min(count, first + block);
      std::int64_t c = first;
      for (; c + lanes <= end; c += lanes)
        for (std::int64_t i = 0; i < lanes; ++i)
          partial[i] += share * static_cast<double>(numbers[c + i]);
      for (; c < end; ++c) partial[0] += share * static_cast<double>(numbers[c]);
      for (std::int64_t i = 0; i < lanes; ++i) sum.add(partial[i]);
    }
    return sum.value();
  }

  /// Writes the numbers of a row, given the logarithm of the label's probability, and the mean of
  /// all of them if the loss is smoothed.
  void write(std::int64_t r, std::int64_t label, T log_p, T mean_log_p, T lse) const {
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
             (smooths() ? smoothing * mean_log_p : T(0));
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
  HostSpans m_spans;
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

/// All threads of a team work on each row.
template <class Exec, class V>
struct HostLossInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  LossArgs<V> arguments;

  void operator()(const Member& member) const {
    const HostLossRows<V> rows(arguments);
    compute_in_parts(member, typename HostLossRows<V>::LongRow(rows, member.league_rank()));
  }
};

/// Enqueues cross_entropy.
/// \throws std::invalid_argument  if the library has no kernels for the type of the computation
template <class Exec, class V>
void host_loss(const Exec& exec, const std::string& label, const LossArgs<V>& arguments) {
  using T = typename V::Compute;
  const std::int64_t rows = arguments.problem.rows, columns = arguments.problem.columns;
  const std::int64_t threads = std::max(1, exec.concurrency());
  if constexpr (have_kernels<T, T>) {
    if (share_rows(rows, columns, threads))
      launch_host_teams<typename HostLossRows<V>::LongRow::State>(
          exec, label, rows, HostLossInSpans<Exec, V>{arguments}, HostSpans(columns).count());
    else
      launch_host_blocks(exec, label, HostLossBlocks<V>{arguments, std::min(rows, threads)});
  } else {
    throw std::invalid_argument(
        "KokkosSoftmax::cross_entropy: the library has no float kernels for hosts "
        "(KokkosSoftmax_VALUE_TYPES has half types alone): add float");
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
