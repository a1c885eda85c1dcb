// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_HOSTBLOCK_HPP
#define KOKKOSSOFTMAX_SRC_ROW_HOSTBLOCK_HPP

/// \file
/// Blocks of rows and columns on hosts, and buffers in which the entries of a block are computed.

#include <Kokkos_Macros.hpp>
#include <algorithm>
#include <cstdint>

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

/// A buffer for the entries of a block. A *run* is what is contiguous in it: a row or a column.
template <class T>
class BlockBuffer {
 public:
  /// The rows stand back to back.
  static BlockBuffer of_rows(T* data, std::int64_t rows, std::int64_t columns) {
    return {data, rows, columns, columns, true};
  }
  /// The columns are `distance` entries apart, and the rows lie side by side.
  static BlockBuffer of_columns(T* data, std::int64_t rows, std::int64_t columns,
                                std::int64_t distance) {
    return {data, columns, rows, distance, false};
  }

  T* data() const { return m_data; }
  T* run(std::int64_t k) const { return m_data + k * m_distance; }
  bool runs_are_rows() const { return m_runs_are_rows; }
  std::int64_t runs() const { return m_runs; }
  std::int64_t run_size() const { return m_size; }
  std::int64_t row_stride() const { return m_runs_are_rows ? m_distance : 1; }
  std::int64_t column_stride() const { return m_runs_are_rows ? 1 : m_distance; }

  /// Replaces each entry v by f(v, the entry of `input` for the same row and column). Of run k only
  /// the first size_of(k) entries, which `input` is read for.
  template <class Entry, class SizeOf, class F>
  void combine(const BlockInput<Entry>& input, const SizeOf& size_of, const F& f) const {
    const std::int64_t run_stride = m_runs_are_rows ? input.row_stride : input.column_stride;
    const std::int64_t stride = m_runs_are_rows ? input.column_stride : input.row_stride;
    // Across the runs, if their entries lie side by side: each cache line is read once.
    const bool crosses = m_runs > 1 && stride > 1 && stride > run_stride;
    const std::int64_t step = crosses ? crossed_entries : std::max<std::int64_t>(m_size, 1);
    for (std::int64_t i = 0; i < m_size; i += step)
      for (std::int64_t k = 0; k < m_runs; ++k)
        combine_run(run(k) + i, std::min(step, size_of(k) - i),
                    input.data + k * run_stride + i * stride, stride, f);
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
    const std::int64_t run_stride = m_runs_are_rows ? row_stride : column_stride;
    const std::int64_t stride = m_runs_are_rows ? column_stride : row_stride;
    const bool crosses = m_runs > 1 && stride > 1 && stride > run_stride;
    const std::int64_t step = crosses ? crossed_entries : std::max<std::int64_t>(m_size, 1);
    for (std::int64_t i = 0; i < m_size; i += step)
      for (std::int64_t k = 0; k < m_runs; ++k)
        copy_run(run(k) + i, std::min(step, m_size - i), y + k * run_stride + i * stride, stride);
  }

 private:
  static constexpr std::int64_t most_short_columns = 64;

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

  /// The entries of a run that are read or written before those of the next run, if neighbouring
  /// runs share cache lines. So many lines stay in the first-level cache.
  static constexpr std::int64_t crossed_entries = 8;

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
