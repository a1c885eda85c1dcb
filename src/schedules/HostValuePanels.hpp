// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUEPANELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVALUEPANELS_HPP

/// \file
/// The host schedule for sources that know rows, if these lie side by side. The values of a few
/// rows are computed into a buffer, side by side, and the vector kernels of host/ work on the
/// buffer.

#include <schedules/HostPanelBuffer.hpp>
#include <schedules/HostPanels.hpp>
#include <schedules/HostValues.hpp>

namespace KokkosSoftmax::Impl {

/// The rows that lie side by side, see HostPanels.hpp.
template <class Op, class Source>
class HostValuePanels {
 public:
  using V = typename Source::Types;
  using Arguments = ArgumentsOf<Source>;
  using T = typename V::Compute;
  using Y = typename V::Y;
  using Buffer = HostPanelBuffer<T>;
  using Kernels = HostKernelsOf<typename OpOnComputed<Op>::type>;
  using Job = HostPanelsJob<T, T, T>;
  static constexpr std::int64_t line = 64 / std::min(sizeof(typename V::X), sizeof(Y));

  HostValuePanels(const Arguments& arguments, std::int64_t threads)
      : m_arguments(arguments),
        m_output(arguments),
        m_streams(writes_to_y() && exceeds_caches(arguments.problem, threads)) {}

  std::int64_t neighbours() const { return fastest_axis(m_arguments.problem).extent; }

  std::int64_t columns() const { return m_arguments.problem.columns; }
  void compute(std::int64_t first, std::int64_t count) const {
    compute_in_panel_buffer<T>(*this, first, count);
  }

  /// All columns of some rows, which the buffer holds.
  void compute_held(std::int64_t first, std::int64_t rows) const {
    const HostBlock block{first, rows, 0, columns()};
    load(block);
    T numbers[Buffer::most_rows];  // the results of rows, or their maxima
    Job all = job(block);
    all.buffer = host_thread_buffer<T, host_panel_buffer_size<T>>();
    if constexpr (Op::writes_entries)
      all.max = {numbers, 1};
    else
      all.y = numbers;
    kernels().panels(all);
    if constexpr (!Op::writes_entries) {
      m_output.write_numbers(first, rows, numbers);
    } else {
      if (!writes_to_y()) store(block);
      m_output.finish(first, rows, numbers);
    }
  }

  // The parts of rows, see HostBlocksInParts.
  using State = HostPanelStates<T>;
  using Parts = HostBlocksInParts<HostValuePanels>;
  void reduce(const HostBlock& block, State& states) const {
    bool is_first = true;
    Buffer::for_each_piece(block, [&](const HostBlock& piece) {
      load(piece);
      State of_piece;
      kernels().reduce_panel(job(piece), 0, piece.rows, 0, piece.columns,
                             is_first ? states : of_piece);
      if (!is_first) merge(states, of_piece, piece.rows);
      is_first = false;
    });
  }

  void merge(State& into, const State& from, std::int64_t rows) const {
    kernels().merge_panel(into, from, rows);
  }
  void finish(const HostBlock& block, const State& states) const {
    Job all = job(block);
    T numbers[Buffer::most_rows];
    if constexpr (!Op::writes_entries) all.y = numbers;
    kernels().finish_panel(all, 0, block.rows, states);
    if constexpr (!Op::writes_entries) m_output.write_numbers(block.first_row, block.rows, numbers);
  }

  void write([[maybe_unused]] const HostBlock& block, [[maybe_unused]] const State& states) const {
    if constexpr (Op::writes_entries) write_entries(block, states);
  }

 private:
  const auto& kernels() const { return Kernels::get(m_arguments.function); }

  /// Whether the kernels write the results of rows to y, without a buffer.
  bool writes_to_y() const {
    return std::is_same_v<Y, T> && Op::writes_entries &&
           fastest_axis(m_arguments.problem).y_stride == 1;
  }

  void load(const HostBlock& block) const {
    GeneralBlock<V>(m_arguments, block).values(Buffer::of(block));
  }
  Y* y(const HostBlock& block) const {
    return m_arguments.row(block.first_row).y +
           block.first_column * m_arguments.problem.y_column_stride;
  }
  void store(const HostBlock& block) const {
    const auto& problem = m_arguments.problem;
    Buffer::of(block).copy_to(y(block), fastest_axis(problem).y_stride, problem.y_column_stride);
  }

  /// The job of a block whose values are in the buffer.
  Job job(const HostBlock& block) const {
    Job job = job_in_buffer(Buffer::of(block));
    set_outputs_of_rows(job, m_arguments, block.first_row);
    if (writes_to_y()) {
      job.y = reinterpret_cast<T*>(y(block));
      job.y_column_stride = m_arguments.problem.y_column_stride;
      job.streams = m_streams;
    }
    return job;
  }

  void write_entries(const HostBlock& block, const State& states) const {
    Buffer::for_each_piece(block, [&](const HostBlock& piece) {
      load(piece);
      kernels().write_panel(job(piece), 0, piece.rows, 0, piece.columns, states);
      if (!writes_to_y()) store(piece);
    });
    for (std::int64_t r = 0; r < block.rows; ++r)
      if (has_nan_results(HostState<T>{states.max[r], states.reference[r], states.sum[r]}))
        m_output.finish_masked(block.first_row + r, block.first_column,
                               block.first_column + block.columns);
  }

  const Arguments& m_arguments;
  HostValuesOutput<Op, Source> m_output;
  bool m_streams;
};

}  // namespace KokkosSoftmax::Impl

#endif
