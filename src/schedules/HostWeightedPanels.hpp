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

  /// Whether that takes less time: rows are short, or they lie side by side, and either the buffers
  /// hold all of their columns or each thread has many of them.
  static bool serves(const Arguments& arguments, std::int64_t threads) {
    const auto& problem = arguments.problem;
    if (!have_kernels<T, T> || problem.columns == 0) return false;
    return problem.columns <= most_short_columns ||
           (HostPanelBuffer<T>::serves(problem) &&
            (are_held(problem.columns) || problem.rows >= threads * least_rows));
  }

  std::int64_t batch() const {
    const std::int64_t columns = m_arguments.problem.columns;
    return std::min(are_held(columns) ? rows_held(columns) : rows_of_parts,
                    VisibleColumns::most_rows);
  }

  void compute(std::int64_t first, std::int64_t count) const {
    if constexpr (have_kernels<T, T>) {
      const auto& kernels = host_isa().template kernels<T, T>().weighted;
      HostWeightedStates<T> states;
      const std::int64_t columns = m_arguments.problem.columns;
      const std::int64_t of_part = are_held(columns) ? columns : columns_of_part;
      for (std::int64_t c = 0; c < columns; c += of_part)
        kernels.reduce_panel(loaded({first, count, c, std::min(of_part, columns - c)}), c > 0,
                             states);
      T lse[VisibleColumns::most_rows];
      bool is_open[VisibleColumns::most_rows];
      kernels.finish_panel(states, count, lse, is_open);
      for (std::int64_t r = 0; r < count; ++r)
        if (is_open[r])
          m_rows.compute(first + r, 1);
        else
          write(first + r, lse[r], states.sum[r]);
    }
  }

 private:
  static constexpr std::int64_t line = HostPanelBuffer<T>::line;
  static constexpr std::int64_t least_rows = 4 * line;
  static constexpr std::int64_t rows_of_parts = 16 * line;
  static_assert(VisibleColumns::most_rows <= host_panel_rows);

  static std::int64_t rows_held(std::int64_t columns) {
    return (host_buffer_row / columns - line) / line * line;
  }
  /// Whether the buffers hold all columns of so many rows that vectors serve them.
  static bool are_held(std::int64_t columns) {
    return columns <= most_short_columns || rows_held(columns) >= least_rows;
  }
  /// The columns of the parts of other rows. Values and weights stay in the second-level cache.
  static constexpr std::int64_t columns_of_part =
      host_buffer_row / 2 / BlockBuffer<T>::column_distance(rows_of_parts);

  HostWeightedPanel<T> loaded(const HostBlock& block) const {
    const auto buffer = [&](T* data) {
      return BlockBuffer<T>::of_columns(data, block.rows, block.columns);
    };
    const BlockBuffer<T> values = buffer(host_thread_buffer<T>());
    const BlockBuffer<T> weights = buffer(values.data() + host_buffer_row);
    const WeightedBlock<V> entries(m_arguments, block);
    entries.values(values);
    entries.weights(weights);
    return {values.data(), weights.data(), values.column_stride(), block.rows, block.columns};
  }

  struct Result {
    T value;
    T sign;
  };
  void write(std::int64_t r, T lse, double sum) const {
    const T sign = sum > 0 ? T(1) : sum < 0 ? T(-1) : static_cast<T>(sum);
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
  if (!reproducible && Panels::serves(arguments, threads))
    launch_host_blocks(
        exec, label,
        HostValuesBlocks<Panels>{arguments, std::min(arguments.problem.rows, threads)});
  else
    host_values<Exec, HostWeightedRows<V>>(exec, label, arguments);
}

}  // namespace KokkosSoftmax::Impl

#endif
