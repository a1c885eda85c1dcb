// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTPANELBUFFER_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTPANELBUFFER_HPP

/// \file
/// A thread's buffer for rows that lie side by side, and how rows and columns are divided into what
/// it holds.

#include <algorithm>
#include <row/GeneralBlock.hpp>
#include <row/HostBlock.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>

namespace KokkosSoftmax::Impl {

template <class T>
class HostPanelBuffer {
 public:
  /// The rows whose entries in one column fill a cache line.
  static constexpr std::int64_t line = BlockBuffer<T>::line;
  static constexpr std::int64_t most_rows = std::min(host_panel_rows, VisibleColumns::most_rows);

  /// Whether the rows of a problem lie side by side, and are so many that vectors serve them.
  template <class Problem>
  static bool serves(const Problem& problem) {
    const OuterAxis& fastest = fastest_axis(problem);
    return problem.columns > 1 && fastest.extent >= line &&
           std::abs(fastest.x_stride) < std::abs(problem.x_column_stride);
  }

  /// The buffer for a block that it holds.
  static BlockBuffer<T> of(const HostBlock& block) {
    return BlockBuffer<T>::of_columns(host_thread_buffer<T, size>(), block.rows, block.columns);
  }

  /// Divides rows [first, first + count) into panels. Calls held(first row, number of rows) for
  /// those of which the buffer holds all columns, and in_parts(...) for others.
  template <class Held, class InParts>
  static void for_each_panel(std::int64_t first, std::int64_t count, std::int64_t columns,
                             const Held& held, const InParts& in_parts) {
    const std::int64_t rows_held = (size / columns - line) / line * line;
    const bool are_held = rows_held >= least_rows;
    const std::int64_t rows = are_held ? std::min(rows_held, most_rows) : rows_of_parts;
    for (std::int64_t r = 0; r < count; r += rows)
      if (are_held)
        held(first + r, std::min(rows, count - r));
      else
        in_parts(first + r, std::min(rows, count - r));
  }

  /// Calls f(piece) for pieces of a block that the buffer holds, which have all of its rows. The
  /// last columns come first.
  template <class F>
  static void for_each_piece(const HostBlock& block, const F& f) {
    const std::int64_t columns = piece_size / BlockBuffer<T>::column_distance(block.rows);
    for (std::int64_t c = (block.columns - 1) / columns * columns; c >= 0; c -= columns)
      f(HostBlock{block.first_row, block.rows, block.first_column + c,
                  std::min(columns, block.columns - c)});
  }

 private:
  static constexpr std::int64_t size =
      (std::int64_t{1} << 20) / static_cast<std::int64_t>(sizeof(T));
  /// Pieces stay in the second-level cache.
  static constexpr std::int64_t piece_size = size / 4;
  /// Panels of fewer rows read too little of each column. Columns in parts take less time then.
  static constexpr std::int64_t least_rows = 8 * line;
  static constexpr std::int64_t rows_of_parts = 16 * line;
  static_assert(piece_size >= BlockBuffer<T>::column_distance(host_panel_rows));
};

/// Columns in parts, see compute_in_parts(), of up to host_panel_rows rows that lie side by side.
/// The class Panels (HostPanels.hpp) computes blocks. It has
///
/// - State, columns(), merge(into, from, rows)
/// - reduce(block, state), finish(block, state), write(block, state)
template <class Panels>
class HostBlocksInParts {
 public:
  using State = typename Panels::State;

  HostBlocksInParts(const Panels& panels, std::int64_t first_row, std::int64_t rows,
                    std::int64_t most_parts = HostColumnParts::most)
      : m_panels(panels),
        m_first_row(first_row),
        m_rows(rows),
        m_parts(panels.columns(), most_parts) {}

  std::int64_t count() const { return m_parts.count(); }
  void reduce(std::int64_t p, State& state) const { m_panels.reduce(block(p, p + 1), state); }
  void merge(State& into, const State& from) const { m_panels.merge(into, from, m_rows); }
  void finish(const State& rows) const { m_panels.finish(block(0, count()), rows); }
  void write(std::int64_t first, std::int64_t last, const State& rows) const {
    m_panels.write(block(first, last), rows);
  }

 private:
  /// Parts [first, last).
  HostBlock block(std::int64_t first, std::int64_t last) const {
    const std::int64_t column = m_parts.begin(first);
    return {m_first_row, m_rows, column, m_parts.begin(last) - column};
  }

  const Panels& m_panels;
  std::int64_t m_first_row;
  std::int64_t m_rows;
  HostColumnParts m_parts;
};

/// Computes rows [first, first + count) with such a class, which also has compute_held(first row,
/// number of rows) for rows of which the buffer holds all columns.
template <class T, class Panels>
void compute_in_panel_buffer(const Panels& panels, std::int64_t first, std::int64_t count) {
  HostPanelBuffer<T>::for_each_panel(
      first, count, panels.columns(),
      [&](std::int64_t r, std::int64_t rows) { panels.compute_held(r, rows); },
      [&](std::int64_t r, std::int64_t rows) {
        compute_in_parts(HostBlocksInParts<Panels>(panels, r, rows, 1));
      });
}

/// A job of all rows and columns of a buffer, which are replaced by their results.
template <class T>
HostPanelsJob<T, T, T> job_in_buffer(const BlockBuffer<T>& buffer) {
  HostPanelsJob<T, T, T> job;
  static_cast<HostJob<T, T, T>&>(job) = job_of_values<T>();
  job.x = buffer.data();
  job.x_column_stride = buffer.column_stride();
  job.y = buffer.data();
  job.y_column_stride = buffer.column_stride();
  job.y_stride = 1;
  job.rows = buffer.run_size();
  job.columns = buffer.runs();
  return job;
}

}  // namespace KokkosSoftmax::Impl

#endif
