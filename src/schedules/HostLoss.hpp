// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSS_HPP

/// \file
/// The host schedule of cross_entropy, with the kernels of log_softmax: the logarithms of the
/// probabilities of a few rows are computed into a buffer that stays in the cache.

#include <schedules/HostLossOutput.hpp>
#include <schedules/HostLossPanels.hpp>
#include <schedules/HostValues.hpp>
#include <stdexcept>

namespace KokkosSoftmax::Impl {

/// A thread's rows, see HostValuesBlocks.
template <class V>
class HostLossRows {
 public:
  using Arguments = LossArgs<V>;
  using T = typename V::Compute;
  using X = typename V::X;
  using Job = HostRowsJob<T, T, T>;
  using Kernels = HostTableOf<ValueTypes<T>>;

  HostLossRows(const Arguments& arguments, std::int64_t /*threads*/)
      : m_arguments(arguments),
        m_output(arguments),
        m_columns(arguments.problem.columns),
        m_spans(m_columns),
        m_values(host_thread_buffer<T>() + 2 * host_buffer_row) {}

  /// The number of rows that are computed together. Rows that lie side by side share cache lines.
  std::int64_t batch() const {
    const std::int64_t entries =
        m_arguments.problem.x_column_stride == 1 ? batch_entries : span_columns;
    return std::clamp<std::int64_t>(entries / std::max<std::int64_t>(m_columns, 1), 1, most_rows);
  }

  /// Computes `count` rows from row `first` on, at most batch(), of one group of neighbours.
  void compute(std::int64_t first, std::int64_t count) const {
    if (m_columns == 0)
      for (std::int64_t r = first; r < first + count; ++r) m_output.write_empty(r);
    else if (m_columns <= span_columns)
      compute_batch({first, count, 0, m_columns});
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
  static constexpr std::int64_t most_rows = 1024;
  static constexpr std::int64_t batch_entries = 8192;

  static const auto& kernels() { return Kernels::table().log_softmax; }

  BlockBuffer<T> buffer(const HostBlock& block) const {
    return BlockBuffer<T>::of_rows(m_values, block.rows, block.columns);
  }
  void load(const HostBlock& block) const { m_output.load(block, buffer(block)); }

  Job job(std::int64_t count, T* lse) const {
    Job job = rows_in_buffer(m_values, count, m_columns);
    job.factors = m_output.factors();
    job.lse = {lse, 1};
    return job;
  }

  void compute_batch(const HostBlock& block) const {
    T lse[most_rows];
    Job all = job(block.rows, lse);
    const BlockInput<X> entries = entries_of(m_arguments, block);
    bool is_loaded = true;
    if constexpr (std::is_same_v<X, T>)
      if (entries.column_stride == 1) {
        all.x = entries.data;
        all.x_stride = entries.row_stride;
        is_loaded = false;
      }
    if (is_loaded) load(block);
    kernels().rows(all);
    m_output.write_rows(
        block.first_row, block.rows, lse,
        [&](std::int64_t r, std::int64_t column) { return m_values[r * m_columns + column]; },
        [&](std::int64_t r) {
          return m_output.mean(m_output.sum_of_row(m_values + r * m_columns, m_columns));
        });
  }

  typename LongRow::State reduce_span(std::int64_t r, std::int64_t s) const {
    const HostBlock span{r, 1, m_spans.begin(s), m_spans.size(s)};
    T lse;
    load(span);
    typename LongRow::State state{kernels().reduce(job(1, &lse), 0, 0, span.columns), 0};
    if (m_output.smooths()) {
      m_output.make_infinite(buffer(span));
      state.total = m_output.sum_of_row(m_values, span.columns);
    }
    return state;
  }

  /// The logarithm of a probability is an affine function of the entry. So the mean of the
  /// logarithms is the logarithm for the mean entry.
  void finish_long_row(std::int64_t r, const typename LongRow::State& all) const {
    T lse;
    const Job one = job(1, &lse);
    kernels().finish(one, 0, all.row);
    load({r, 1, std::max<std::int64_t>(m_output.label(r), 0), 1});
    m_values[1] = m_output.mean(all.total);
    kernels().write(one, 0, 0, 2, all.row);
    m_output.write_rows(
        r, 1, &lse, [&](std::int64_t, std::int64_t) { return m_values[0]; },
        [&](std::int64_t) { return m_values[1]; });
  }

  const Arguments& m_arguments;
  HostLossOutput<V> m_output;
  std::int64_t m_columns;
  HostSpans m_spans;
  T* m_values;
};

/// Enqueues cross_entropy.
/// \throws std::invalid_argument  if the library has no kernels for the type of the computation
template <class Exec, class V>
void host_loss(const Exec& exec, const std::string& label, const LossArgs<V>& arguments,
               bool reproducible) {
  using T = typename V::Compute;
  if constexpr (!have_kernels<T, T>)
    throw std::invalid_argument(
        "KokkosSoftmax::cross_entropy: the library has no float kernels for hosts "
        "(KokkosSoftmax_VALUE_TYPES has half types alone): add float");
  else if (!reproducible && HostPanelBuffer<T>::serves(arguments.problem))
    host_panels<Exec, HostLossPanels<V>>(exec, label, arguments);
  else
    host_values<Exec, HostLossRows<V>>(exec, label, arguments);
}

}  // namespace KokkosSoftmax::Impl

#endif
