// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_HOSTBLOCK_HPP
#define KOKKOSSOFTMAX_SRC_ROW_HOSTBLOCK_HPP

/// \file
/// Blocks of rows and columns on hosts, and buffers in which the entries of a block are computed.

#include <Kokkos_Macros.hpp>
#include <algorithm>
#include <cstdint>
#include <impl/KokkosSoftmax_RowProblem.hpp>

namespace KokkosSoftmax::Impl {

/// Some neighbouring rows, and some of their columns. The rows have the same indices along all
/// outer axes except the last.
struct HostBlock {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t first_column;
  std::int64_t columns;
};

/// An array that is read with a block, from the block's first entry on. The strides are in entries.
template <class Entry>
struct BlockInput {
  const Entry* data;
  std::int64_t row_stride;
  std::int64_t column_stride;
};

/// Rows whose entries are contiguous.
template <class T>
struct ContiguousRows {
  const T* data = nullptr;  // null if there are no such rows
  std::int64_t stride = 0;

  const T* row(std::int64_t r) const { return data + r * stride; }
};

/// The outer axis along which neighbouring rows have the smallest distance.
template <class Problem>
const OuterAxis& fastest_axis(const Problem& problem) {
  return problem.outer[problem.outer_rank - 1];
}

/// The entries of x in a block.
template <class Arguments>
BlockInput<typename Arguments::X> entries_of(const Arguments& arguments, const HostBlock& block) {
  const auto& problem = arguments.problem;
  return {arguments.row(block.first_row).x + block.first_column * problem.x_column_stride,
          fastest_axis(problem).x_stride, problem.x_column_stride};
}

/// Rows of up to so many columns are computed several at a time, so that vectors needn't end with
/// rows.
inline constexpr std::int64_t most_short_columns = 64;

/// A buffer for the entries of a block. A *run* is what is contiguous in it: a row or a column.
template <class T>
class BlockBuffer {
 public:
  /// The rows stand back to back.
  static BlockBuffer of_rows(T* data, std::int64_t rows, std::int64_t columns) {
    return {data, rows, columns, columns, true};
  }
  /// The rows lie side by side.
  static BlockBuffer of_columns(T* data, std::int64_t rows, std::int64_t columns) {
    return {data, columns, rows, column_distance(rows), false};
  }
  /// The entries from column to column if rows lie side by side: a cache line more than the rows,
  /// so that columns aren't a power of two apart.
  static constexpr std::int64_t column_distance(std::int64_t rows) { return rows + line; }
  /// The entries of a cache line.
  static constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));

  T* data() const { return m_data; }
  T* run(std::int64_t k) const { return m_data + k * m_distance; }
  bool runs_are_rows() const { return m_runs_are_rows; }
  std::int64_t runs() const { return m_runs; }
  std::int64_t run_size() const { return m_size; }
  std::int64_t row_stride() const { return m_runs_are_rows ? m_distance : 1; }
  std::int64_t column_stride() const { return m_runs_are_rows ? 1 : m_distance; }

  /// Replaces each entry v by f(v, the entry of `input` for the same row and column). This is done
  /// for the first size_of(k) entries of run k; no others are read.
  template <class Entry, class SizeOf, class F>
  void combine(const BlockInput<Entry>& input, const SizeOf& size_of, const F& f) const {
    for_each_stretch(input.row_stride, input.column_stride, [&](const Stretch& at) {
      combine_run(run(at.run) + at.first, std::min(at.size, size_of(at.run) - at.first),
                  input.data + at.offset, at.stride, f);
    });
  }
  /// The same for all entries.
  template <class Entry, class F>
  void combine(const BlockInput<Entry>& input, const F& f) const {
    if (m_runs_are_rows && input.column_stride == 1 && input.row_stride == m_size)
      combine_run(m_data, m_runs * m_size, input.data, 1, f);
    else if (m_runs_are_rows && input.row_stride == 0 && m_size <= most_short_columns && m_runs > 1)
      combine_repeated(input, f);
    else
      combine(input, AllOfRun{m_size}, f);
  }

  /// Replaces each entry v by f(v).
  template <class SizeOf, class F>
  void replace(const SizeOf& size_of, const F& f) const {
    for (std::int64_t k = 0; k < m_runs; ++k) replace_run(run(k), size_of(k), f);
  }
  template <class F>
  void replace(const F& f) const {
    if (m_distance == m_size)
      replace_run(m_data, m_runs * m_size, f);
    else
      replace(AllOfRun{m_size}, f);
  }

  /// Copies the entries to y, whose strides are in entries.
  template <class Y>
  void copy_to(Y* y, std::int64_t row_stride, std::int64_t column_stride) const {
    for_each_stretch(row_stride, column_stride, [&](const Stretch& at) {
      copy_run(run(at.run) + at.first, at.size, y + at.offset, at.stride);
    });
  }

 private:
  /// Some entries of a run, and where they are in an array.
  struct Stretch {
    std::int64_t run;
    std::int64_t first;  // of the run's entries
    std::int64_t size;
    std::int64_t offset;  // in the array
    std::int64_t stride;
  };
  /// Calls f(stretch) for all runs, given the strides of an array. If the entries of neighbouring
  /// runs lie side by side there, a few entries of each run come before the next ones, so that each
  /// cache line is read or written once. So few lines stay in the first-level cache, also if they
  /// are a power of two apart.
  template <class F>
  void for_each_stretch(std::int64_t row_stride, std::int64_t column_stride, const F& f) const {
    constexpr std::int64_t few = 8;
    const std::int64_t run_stride = m_runs_are_rows ? row_stride : column_stride;
    const std::int64_t stride = m_runs_are_rows ? column_stride : row_stride;
    const bool crosses = m_runs > 1 && stride > 1 && stride > run_stride;
    const std::int64_t step = crosses ? few : std::max<std::int64_t>(m_size, 1);
    for (std::int64_t i = 0; i < m_size; i += step)
      for (std::int64_t k = 0; k < m_runs; ++k)
        f(Stretch{k, i, std::min(step, m_size - i), k * run_stride + i * stride, stride});
  }

  /// combine() for short rows with the same entries: those of several rows are combined at once, so
  /// that vectors needn't end with rows.
  template <class Entry, class F>
  void combine_repeated(const BlockInput<Entry>& input, const F& f) const {
    constexpr std::int64_t most_entries = 512;
    Entry entries[most_entries];
    const std::int64_t rows = std::min(most_entries / m_size, m_runs);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t c = 0; c < m_size; ++c)
        entries[r * m_size + c] = input.data[c * input.column_stride];
    for (std::int64_t r = 0; r < m_runs; r += rows)
      combine_run(run(r), std::min(rows, m_runs - r) * m_size, entries, 1, f);
  }

  struct AllOfRun {
    std::int64_t size;
    std::int64_t operator()(std::int64_t /*k*/) const { return size; }
  };

  BlockBuffer(T* data, std::int64_t runs, std::int64_t size, std::int64_t distance,
              bool runs_are_rows)
      : m_data(data),
        m_runs(runs),
        m_size(size),
        m_distance(distance),
        m_runs_are_rows(runs_are_rows) {}

  template <class Entry, class F>
  static void combine_run(T* KOKKOS_RESTRICT v, std::int64_t size,
                          const Entry* KOKKOS_RESTRICT entries, std::int64_t stride, const F& f) {
    if (size <= 0) return;
    if (stride == 1) {
      for (std::int64_t i = 0; i < size; ++i) v[i] = f(v[i], entries[i]);
    } else if (stride == 0) {
      const Entry entry = entries[0];
      for (std::int64_t i = 0; i < size; ++i) v[i] = f(v[i], entry);
    } else {
      for (std::int64_t i = 0; i < size; ++i) v[i] = f(v[i], entries[i * stride]);
    }
  }
  template <class F>
  static void replace_run(T* v, std::int64_t size, const F& f) {
    for (std::int64_t i = 0; i < size; ++i) v[i] = f(v[i]);
  }
  template <class Y>
  static void copy_run(const T* KOKKOS_RESTRICT v, std::int64_t size, Y* KOKKOS_RESTRICT y,
                       std::int64_t stride) {
    if (stride == 1)
      for (std::int64_t i = 0; i < size; ++i) y[i] = static_cast<Y>(v[i]);
    else
      for (std::int64_t i = 0; i < size; ++i) y[i * stride] = static_cast<Y>(v[i]);
  }

  T* m_data;
  std::int64_t m_runs;
  std::int64_t m_size;      // of a run
  std::int64_t m_distance;  // from run to run
  bool m_runs_are_rows;
};

}  // namespace KokkosSoftmax::Impl

#endif
