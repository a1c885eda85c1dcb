// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTEDPANELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTWEIGHTEDPANELS_HPP

/// \file
/// The host schedule of logsumexp with weights for short rows, and for rows that lie side by side.
/// The values and the weights are computed side by side, so that each lane of a vector belongs to a
/// row.

#include <schedules/HostPanelBuffer.hpp>
#include <schedules/HostWeighted.hpp>

namespace KokkosSoftmax::Impl {

/// A thread's rows, see HostValuesBlocks. The bits differ from those of HostWeightedRows.
template <class V>
class HostWeightedPanels {
 public:
  using Arguments = WeightedArgs<V>;
  using T = typename V::Compute;
  using Op = WeightedLogSumExpOp<V>;

  HostWeightedPanels(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments), m_rows(arguments, threads) {}

  /// Whether that takes less time: rows are short, or lie side by side and are not so long that the
  /// buffers hold few of them.
  static bool serves(const Arguments& arguments) {
    const auto& problem = arguments.problem;
    if (!have_kernels<T, T> || problem.columns == 0) return false;
    return problem.columns <= most_short_columns ||
           (HostPanelBuffer<T>::serves(problem) && rows_held(problem.columns) >= least_rows);
  }

  std::int64_t batch() const {
    return std::min(rows_held(m_arguments.problem.columns), VisibleColumns::most_rows);
  }

  void compute(std::int64_t first, std::int64_t count) const {
    if constexpr (have_kernels<T, T>) {
      T lse[VisibleColumns::most_rows], sum[VisibleColumns::most_rows];
      bool is_open[VisibleColumns::most_rows];
      HostWeightedPanel<T> panel = loaded({first, count, 0, m_arguments.problem.columns});
      panel.lse = lse;
      panel.sum = sum;
      panel.is_open = is_open;
      host_isa().template kernels<T, T>().weighted.panel(panel);
      for (std::int64_t r = 0; r < count; ++r)
        if (is_open[r])
          m_rows.compute(first + r, 1);
        else
          write(first + r, lse[r], sum[r]);
    }
  }

 private:
  static constexpr std::int64_t line = HostPanelBuffer<T>::line;
  static constexpr std::int64_t least_rows = 4 * line;

  static std::int64_t rows_held(std::int64_t columns) {
    return (host_buffer_row / columns - line) / line * line;
  }

  HostWeightedPanel<T> loaded(const HostBlock& block) const {
    const auto buffer = [&](T* data) {
      return BlockBuffer<T>::of_columns(data, block.rows, block.columns);
    };
    const BlockBuffer<T> values = buffer(host_thread_buffer<T>());
    const BlockBuffer<T> weights = buffer(values.data() + host_buffer_row);
    const WeightedBlock<V> entries(m_arguments, block);
    entries.values(values);
    entries.weights(weights);
    for (std::int64_t c = 0; c < block.columns; ++c) {
      T* const value = values.run(c);
      T* const weight = weights.run(c);
      for (std::int64_t r = 0; r < block.rows; ++r) drop_if_without_effect(value[r], weight[r]);
    }
    return {values.data(), weights.data(), values.column_stride(),
            block.rows,    block.columns,  nullptr,
            nullptr,       nullptr};
  }

  struct Result {
    T value;
    T sign;
  };
  void write(std::int64_t r, T lse, T sum) const {
    const T sign = sum > T(0) ? T(1) : sum < T(0) ? T(-1) : sum;
    finish_row_with<Op>(m_arguments, Result{lse, sign}, m_arguments.row(r).y);
  }

  const Arguments& m_arguments;
  HostWeightedRows<V> m_rows;  // computes rows that stay open
};

/// Enqueues logsumexp with weights.
template <class Exec, class V>
void host_weighted(const Exec& exec, const std::string& label, const WeightedArgs<V>& arguments,
                   bool reproducible) {
  using Panels = HostWeightedPanels<V>;
  const std::int64_t threads = std::max(1, exec.concurrency());
  if (!reproducible && Panels::serves(arguments))
    launch_host_blocks(
        exec, label,
        HostValuesBlocks<Panels>{arguments, std::min(arguments.problem.rows, threads)});
  else
    host_values<Exec, HostWeightedRows<V>>(exec, label, arguments);
}

}  // namespace KokkosSoftmax::Impl

#endif
