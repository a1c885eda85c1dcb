// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSSPANELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTLOSSPANELS_HPP

/// \file
/// The host schedule of cross_entropy for rows that lie side by side, with the kernels of
/// log_softmax: the logarithms of the probabilities of a few rows are computed into a buffer that
/// stays in the cache.

#include <schedules/HostLossOutput.hpp>
#include <schedules/HostPanelBuffer.hpp>
#include <schedules/HostPanels.hpp>

namespace KokkosSoftmax::Impl {

/// The rows that lie side by side, see HostPanels.hpp.
template <class V>
class HostLossPanels {
 public:
  using Arguments = LossArgs<V>;
  using T = typename V::Compute;
  using X = typename V::X;
  using Buffer = HostPanelBuffer<T>;
  using Job = HostPanelsJob<T, T, T>;
  static constexpr std::int64_t line = Buffer::line;

  HostLossPanels(const Arguments& arguments, std::int64_t /*threads*/)
      : m_arguments(arguments), m_output(arguments) {}

  std::int64_t neighbours() const { return fastest_axis(m_arguments.problem).extent; }

  std::int64_t columns() const { return m_arguments.problem.columns; }
  void compute(std::int64_t first, std::int64_t count) const {
    compute_in_panel_buffer<T>(*this, first, count);
  }

  /// All columns of some rows, for which the buffer has space.
  void compute_held(std::int64_t first, std::int64_t rows) const {
    const HostBlock block{first, rows, 0, columns()};
    const BlockBuffer<T> log_p = Buffer::of(block);
    T lse[host_panel_rows];
    Job all = job(log_p, lse);
    all.buffer = host_thread_buffer<T, host_panel_buffer_size<T>>();
    const BlockInput<X> entries = entries_of(m_arguments, block);
    bool is_loaded = true;
    if constexpr (std::is_same_v<X, T>)
      if (entries.row_stride == 1) {
        all.x = entries.data;
        all.x_column_stride = entries.column_stride;
        is_loaded = false;
      }
    if (is_loaded) m_output.load(block, log_p);
    kernels().panels(all);
    double total[host_panel_rows];
    if (m_output.smooths()) m_output.sum_rows(log_p, total);
    m_output.write_rows(
        first, rows, lse, [&](std::int64_t r, std::int64_t column) { return log_p.run(column)[r]; },
        [&](std::int64_t r) { return m_output.mean(total[r]); });
  }

  // The parts of rows, see HostBlocksInParts. There are no entries to write.
  struct State {
    HostPanelStates<T> rows;
    double total[host_panel_rows];  // of the entries' shares (LossArgs), if the loss is smoothed
  };
  using Parts = HostBlocksInParts<HostLossPanels>;
  void reduce(const HostBlock& block, State& state) const {
    bool is_first = true;
    Buffer::for_each_piece(block, [&](const HostBlock& piece) {
      const BlockBuffer<T> entries = Buffer::of(piece);
      m_output.load(piece, entries);
      State of_piece;
      State& to = is_first ? state : of_piece;
      kernels().reduce_panel(job(entries, nullptr), 0, piece.rows, 0, piece.columns, to.rows);
      if (m_output.smooths()) {
        m_output.make_infinite(entries);
        m_output.sum_rows(entries, to.total);
      }
      if (!is_first) merge(state, of_piece, piece.rows);
      is_first = false;
    });
  }
  void merge(State& into, const State& from, std::int64_t rows) const {
    kernels().merge_panel(into.rows, from.rows, rows);
    if (m_output.smooths())
      for (std::int64_t r = 0; r < rows; ++r) into.total[r] += from.total[r];
  }

  /// The logarithm of a probability is an affine function of the entry. So the mean of the
  /// logarithms is the logarithm for the mean entry.
  void finish(const HostBlock& block, const State& all) const {
    const std::int64_t first = block.first_row, rows = block.rows;
    const BlockBuffer<T> of_label_and_mean = Buffer::of({first, rows, 0, 2});
    T* const of_label = of_label_and_mean.run(0);
    T* const of_mean = of_label_and_mean.run(1);
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::int64_t column = std::max<std::int64_t>(m_output.label(first + r), 0);
      of_label[r] =
          static_cast<T>(*entries_of(m_arguments, HostBlock{first + r, 1, column, 1}).data);
      of_mean[r] = m_output.smooths() ? m_output.mean(all.total[r]) : of_label[r];
    }
    T lse[host_panel_rows];
    const Job both = job(of_label_and_mean, lse);
    kernels().finish_panel(both, 0, rows, all.rows);
    kernels().write_panel(both, 0, rows, 0, 2, all.rows);
    m_output.write_rows(
        first, rows, lse, [&](std::int64_t r, std::int64_t) { return of_label[r]; },
        [&](std::int64_t r) { return of_mean[r]; });
  }
  void write(const HostBlock&, const State&) const {}

 private:
  static const auto& kernels() { return HostTableOf<ValueTypes<T>>::table().log_softmax; }

  /// The job of the entries in the buffer.
  Job job(const BlockBuffer<T>& buffer, T* lse) const {
    Job job = job_in_buffer(buffer);
    job.factors = m_output.factors();
    job.lse = {lse, 1};
    return job;
  }

  const Arguments& m_arguments;
  HostLossOutput<V> m_output;
};

}  // namespace KokkosSoftmax::Impl

#endif
