// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTED_HPP

/// \file
/// The host schedule of logsumexp with weights. The values and the weights of a span of a row are
/// computed into buffers that stay in the cache, and a vector kernel of host/ reduces them.

#include <cmath>
#include <op/FinishRow.hpp>
#include <op/WeightedLogSumExp.hpp>
#include <row/WeightedSource.hpp>
#include <schedules/HostValues.hpp>

namespace KokkosSoftmax::Impl {

/// A thread's rows, see HostValuesBlocks.
template <class V>
class HostWeightedRows {
 public:
  using Arguments = WeightedArgs<V>;
  using T = typename V::Compute;
  using Op = WeightedLogSumExpOp<V>;

  explicit HostWeightedRows(const Arguments& arguments)
      : m_arguments(arguments),
        m_source(arguments),
        m_spans(arguments.problem.columns),
        m_values(host_thread_buffer<T>()),
        m_weights(m_values + host_buffer_row) {}

  /// The number of rows that are computed together.
  static std::int64_t batch(std::int64_t /*columns*/) { return 1; }

  void compute(std::int64_t first, std::int64_t count) const {
    for (std::int64_t r = first; r < first + count; ++r) {
      const LongRow row(*this, r);
      if (m_spans.count() > 0)
        compute_in_parts(row);
      else
        row.finish({});
    }
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

  State reduce_span(std::int64_t r, std::int64_t s) const {
    const typename WeightedSource<V>::Row row(m_arguments, r);
    const std::int64_t first = m_spans.begin(s), size = m_spans.size(s);
    load(r, row, first, size);
    m_source.weights_on_host(row, first, size, m_weights);
    for (std::int64_t i = 0; i < size; ++i) drop_if_without_effect(m_values[i], m_weights[i]);
    if constexpr (have_kernels<T, T>) {
      const auto& kernels = host_isa().template kernels<T, T>().weighted;
      const HostState<T> state = kernels.reduce(m_values, m_weights, size);
      constexpr double slack = 1;  // entries are less than 1 above the reference of exponentials
      if (!keeps_digits<typename Op::State> || !is_near_zero(double_state(state), slack))
        return double_state(state);
      return double_state(kernels.settled(state, m_values, m_weights, size));
    } else {
      return double_state(reduce_without_vectors(size));
    }
  }

  void load(std::int64_t r, const typename WeightedSource<V>::Row& row, std::int64_t first,
            std::int64_t size) const {
    const std::int64_t stride = m_arguments.problem.x_column_stride;
    const auto* const x = m_arguments.row(r).x + first * stride;
    if (stride == 1) return m_source.values_on_host(row, x, first, size, m_values);
    for (std::int64_t i = 0; i < size; ++i) m_values[i] = static_cast<T>(x[i * stride]);
    m_source.values_on_host(row, m_values, first, size, m_values);
  }

  /// For libraries without the vector kernels of the type: those for half types alone.
  HostState<T> reduce_without_vectors(std::int64_t size) const {
    const T max = *std::max_element(m_values, m_values + size);
    double sum = 0;
    for (std::int64_t i = 0; i < size; ++i) {
      const T v = m_values[i];
      const T term = max == infinity ? exp_below_infinity(v) : Kokkos::exp(v - max);
      sum += v == -infinity ? 0.0 : static_cast<double>(m_weights[i] * term);
    }
    return {max, max, sum};
  }

  const Arguments& m_arguments;
  WeightedSource<V> m_source;
  HostSpans m_spans;
  T* m_values;
  T* m_weights;
};

}  // namespace KokkosSoftmax::Impl

#endif
