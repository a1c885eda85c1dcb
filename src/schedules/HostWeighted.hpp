// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTED_HPP

/// \file
/// The host schedule of logsumexp with weights. A vector kernel of host/ reduces the values and the
/// weights of a span of a row. Those that aren't stored in this form are computed into buffers that
/// stay in the cache.

#include <cmath>
#include <op/FinishRow.hpp>
#include <op/WeightedLogSumExp.hpp>
#include <row/GeneralBlock.hpp>
#include <schedules/HostValues.hpp>

namespace KokkosSoftmax::Impl {

/// A thread's rows, see HostValuesBlocks.
template <class V>
class HostWeightedRows {
 public:
  using Arguments = WeightedArgs<V>;
  using T = typename V::Compute;
  using Op = WeightedLogSumExpOp<V>;

  HostWeightedRows(const Arguments& arguments, std::int64_t /*threads*/)
      : m_arguments(arguments),
        m_spans(arguments.problem.columns),
        m_values(long_buffer() ? host_long_thread_buffer<T>(2 * batch_buffer())
                               : host_thread_buffer<T>()),
        m_weights(m_values + (long_buffer() ? batch_buffer() : host_buffer_row)) {}

  /// The number of rows that are computed together. Rows that lie side by side share cache lines.
  std::int64_t batch() const {
    const std::int64_t columns = m_arguments.problem.columns;
    if (columns == 0 || m_spans.count() > 1) return 1;
    const bool are_contiguous = m_arguments.problem.x_column_stride == 1;
    return std::clamp<std::int64_t>(batch_entries / columns,
                                    are_contiguous ? 1 : BlockBuffer<T>::line,
                                    VisibleColumns::most_rows);
  }

  /// Computes `count` rows from row `first` on, at most batch(), of one group of neighbours.
  void compute(std::int64_t first, std::int64_t count) const {
    if (m_spans.count() > 1) {
      for (std::int64_t r = first; r < first + count; ++r) compute_in_parts(LongRow(*this, r));
      return;
    }
    const std::int64_t columns = m_arguments.problem.columns;
    const Entries entries = columns > 0 ? load({first, count, 0, columns}) : Entries{};
    for (std::int64_t r = 0; r < count; ++r)
      LongRow(*this, first + r).finish(columns > 0 ? reduce(entries, r, columns) : State{});
  }

  /// A row in spans, see compute_in_parts().
  class LongRow {
   public:
    using State = WeightedLseState<double>;  // so that merging doesn't round floats
    LongRow(const HostWeightedRows& rows, std::int64_t r) : m_rows(rows), m_r(r) {}

    std::int64_t count() const { return m_rows.m_spans.count(); }
    void reduce(std::int64_t s, State& state) const { state = m_rows.reduce_span(m_r, s); }
    void merge(State& into, const State& from) const { into.merge(from); }
    void finish(const State& row) const {
      const WeightedLogSumExpResult<double> output(row.max, row.sum);
      finish_row_with<Op>(m_rows.m_arguments, output, m_rows.m_arguments.row(m_r).y);
    }
    void write(std::int64_t, std::int64_t, const State&) const {}

   private:
    const HostWeightedRows& m_rows;
    std::int64_t m_r;
  };

 private:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  using State = typename LongRow::State;
  static State double_state(const HostState<T>& state) {
    return {{static_cast<double>(state.reference), state.sum}};
  }

  static constexpr std::int64_t batch_entries = 8192;

  /// The entries of a batch, and whether they need a longer buffer than others.
  std::int64_t batch_buffer() const { return batch() * m_arguments.problem.columns; }
  bool long_buffer() const { return m_spans.count() == 1 && batch_buffer() > host_buffer_row; }

  State reduce_span(std::int64_t r, std::int64_t s) const {
    return reduce(load({r, 1, m_spans.begin(s), m_spans.size(s)}), 0, m_spans.size(s));
  }

  struct Entries {
    ContiguousRows<T> values;
    ContiguousRows<T> weights;
  };
  /// The entries of a block, as they are stored or in the buffers.
  Entries load(const HostBlock& block) const {
    const WeightedBlock<V> stored(m_arguments, block);
    Entries entries{stored.stored_values(), stored.stored_weights()};
    if (entries.values.data == nullptr) {
      stored.values(BlockBuffer<T>::of_rows(m_values, block.rows, block.columns));
      entries.values = {m_values, block.columns};
    }
    if (entries.weights.data == nullptr) {
      stored.weights(BlockBuffer<T>::of_rows(m_weights, block.rows, block.columns));
      entries.weights = {m_weights, block.columns};
    }
    return entries;
  }

  /// The state of row r of these entries.
  State reduce(const Entries& entries, std::int64_t r, std::int64_t columns) const {
    const T* const values = entries.values.row(r);
    const T* const weights = entries.weights.row(r);
    if constexpr (have_kernels<T, T>) {
      const auto& kernels = host_isa().template kernels<T, T>().weighted;
      const HostState<T> state = kernels.reduce(values, weights, columns);
      constexpr double slack = 1;  // entries are less than 1 above the reference of exponentials
      if (!keeps_digits<typename Op::State> || !is_near_zero(double_state(state), slack))
        return double_state(state);
      return double_state(kernels.settled(state, values, weights, columns));
    } else {
      return double_state(reduce_without_vectors(values, weights, columns));
    }
  }

  /// For libraries without the vector kernels of the type: those for half types alone.
  static HostState<T> reduce_without_vectors(const T* values, const T* weights, std::int64_t size) {
    T max = -infinity;
    for_each_counted(values, weights, size, [&](T v, T) { max = v > max ? v : max; });
    double sum = 0;
    for_each_counted(values, weights, size, [&](T v, T weight) {
      const T term = max == infinity ? exp_below_infinity(v) : Kokkos::exp(v - max);
      sum += v == -infinity ? 0.0 : static_cast<double>(weight * term);
    });
    return {max, max, sum};
  }
  /// Calls f(value, weight) as drop_if_without_effect() leaves them.
  template <class F>
  static void for_each_counted(const T* values, const T* weights, std::int64_t size, const F& f) {
    for (std::int64_t i = 0; i < size; ++i) {
      T value = values[i], weight = weights[i];
      drop_if_without_effect(value, weight);
      f(value, weight);
    }
  }

  const Arguments& m_arguments;
  HostSpans m_spans;
  T* m_values;
  T* m_weights;
};

}  // namespace KokkosSoftmax::Impl

#endif
