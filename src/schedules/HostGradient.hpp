// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGRADIENT_HPP

/// \file
/// The host schedule of the gradients of operations with one number per row, with the kernels of
/// host/Gradient.hpp.

#include <row/GradientArgs.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>

namespace KokkosSoftmax::Impl {

/// Some neighbouring rows, and some of their columns.
struct HostBlock {
  std::int64_t first_row;
  std::int64_t rows;
  std::int64_t first_column;
  std::int64_t columns;
};

/// How a problem is divided into blocks, in the order in which threads take them.
class HostBlocks {
 public:
  /// \param neighbours  the number of rows with the same indices along all outer axes but the last:
  ///                    a block has no others
  HostBlocks(std::int64_t rows, std::int64_t columns, std::int64_t neighbours, bool has_rows,
             std::int64_t threads)
      : m_rows(rows), m_columns(columns), m_neighbours(neighbours) {
    // A line of a cache has at most 32 entries, which threads shouldn't share.
    constexpr std::int64_t line = 32;
    const std::int64_t per_thread = divide_up(rows, threads);
    m_rows_of_block = has_rows ? std::clamp<std::int64_t>(span_columns / columns, 1, per_thread)
                               : divide_up(per_thread, line) * line;
    m_rows_of_block = std::min({m_rows_of_block, most_rows, neighbours});
    m_blocks_of_group = divide_up(neighbours, m_rows_of_block);
    m_columns_of_block = has_rows ? std::min(columns, span_columns) : columns;
    const std::int64_t row_blocks = rows / neighbours * m_blocks_of_group;
    if (row_blocks < threads) {
      const std::int64_t parts = divide_up(threads, row_blocks);
      m_columns_of_block =
          std::min(m_columns_of_block, std::max(least_columns, divide_up(columns, parts)));
    }
    m_spans = divide_up(columns, m_columns_of_block);
  }

  static constexpr std::int64_t most_rows = 512;

  std::int64_t count() const { return m_rows / m_neighbours * m_blocks_of_group * m_spans; }

  HostBlock block(std::int64_t number) const {
    const std::int64_t of_rows = number / m_spans;
    const std::int64_t group = of_rows / m_blocks_of_group;
    const std::int64_t neighbour = of_rows % m_blocks_of_group * m_rows_of_block;
    const std::int64_t column = number % m_spans * m_columns_of_block;
    return {group * m_neighbours + neighbour, std::min(m_rows_of_block, m_neighbours - neighbour),
            column, std::min(m_columns_of_block, m_columns - column)};
  }

 private:
  static constexpr std::int64_t least_columns = 4096;

  std::int64_t m_rows;
  std::int64_t m_columns;
  std::int64_t m_neighbours;
  std::int64_t m_rows_of_block;
  std::int64_t m_blocks_of_group;  // of rows, in a group of neighbours
  std::int64_t m_columns_of_block;
  std::int64_t m_spans;
};

/// Computes one block.
template <class Source>
class HostGradientBlock {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using X = typename V::X;
  using Arguments = GradientArgs<ArgumentsOf<Source>>;

  HostGradientBlock(const Arguments& arguments, const HostBlock& block, bool streams)
      : m_arguments(arguments), m_block(block), m_streams(streams) {}

  void compute() {
    for (std::int64_t r = 0; r < m_block.rows; ++r) read_row(r);
    if constexpr (knows_rows<Source>)
      for (std::int64_t r = 0; r < m_block.rows; ++r) compute_values(r);
    else
      compute_entries();
    for (std::int64_t r = 0; r < m_block.rows; ++r) finish_row(r);
  }

 private:
  using HostX = HostNumber<X>;
  static constexpr std::int64_t most_rows = HostBlocks::most_rows;

  const auto& problem() const { return m_arguments.problem; }

  void read_row(std::int64_t r) {
    const GradientRow<X, T> row(m_arguments, m_block.first_row + r);
    m_lse[r] = row.lse;
    m_factor[r] = row.factor;
    m_offset[r] = row.offset;
    m_label[r] = row.label;
    if (has_label(r)) m_of_label[r] = label_entry(m_block.first_row + r, row);
  }
  /// Whether the label of row r is a column of the block.
  bool has_label(std::int64_t r) const {
    return m_label[r] >= m_block.first_column &&
           m_label[r] < m_block.first_column + m_block.columns;
  }
  /// dx of the label, which is computed before x may be overwritten.
  T label_entry(std::int64_t r, const GradientRow<X, T>& row) const {
    const T x = static_cast<T>(m_arguments.row(r).x[row.label * problem().x_column_stride]);
    return row(value_of(Source(m_arguments), SourceRow<Source>(m_arguments, r), x, row.label),
               true);
  }

  /// The entries in place.
  void compute_entries() const {
    const RowPointers<V> p = m_arguments.row(m_block.first_row);
    const OuterAxis& fastest = problem().outer[problem().outer_rank - 1];
    HostGradientJob<HostX, T> job = job_of(
        reinterpret_cast<const HostX*>(p.x) + m_block.first_column * problem().x_column_stride,
        reinterpret_cast<HostX*>(p.y) + m_block.first_column * problem().y_column_stride, 0,
        m_block.rows);
    job.x_stride = fastest.x_stride;
    job.dx_stride = fastest.y_stride;
    job.x_column_stride = problem().x_column_stride;
    job.dx_column_stride = problem().y_column_stride;
    job.factors = PlainSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
    const auto& kernels = host_isa().kernels<HostX, HostX>().gradient;
    const bool are_rows = job.x_column_stride == 1 && job.dx_column_stride == 1;
    (are_rows || m_block.columns == 1 ? kernels.rows : kernels.panels)(job);
  }

  /// The entries of a row whose values are computed into a buffer first, a part after the other.
  void compute_values(std::int64_t r) const {
    const Source source(m_arguments);
    const std::int64_t number = m_block.first_row + r;
    const SourceRow<Source> row(m_arguments, number);
    const RowPointers<V> p = m_arguments.row(number);
    T* const values = host_thread_buffer<T>();
    for (std::int64_t done = 0; done < m_block.columns; done += span_columns) {
      const std::int64_t first = m_block.first_column + done;
      const std::int64_t size = std::min(span_columns, m_block.columns - done);
      const std::int64_t x_stride = problem().x_column_stride;
      for (std::int64_t c = 0; c < size; ++c)
        values[c] = static_cast<T>(p.x[(first + c) * x_stride]);
      source.values_on_host(row, values, first, size, values);
      compute_buffer(values, r, size);
      for (std::int64_t c = 0; c < size; ++c)
        p.y[(first + c) * problem().y_column_stride] = static_cast<X>(values[c]);
    }
  }
  void compute_buffer(T* values, std::int64_t r, std::int64_t size) const {
    if constexpr (have_kernels<T, T>) {
      HostGradientJob<T, T> job = job_of<T>(values, values, r, 1);
      job.columns = size;
      job.factors = {T(1), T(1), true, false};
      job.streams = false;
      host_isa().kernels<T, T>().gradient.rows(job);
    } else {
      const GradientRow<X, T> row(m_arguments, m_block.first_row + r);
      for (std::int64_t c = 0; c < size; ++c) values[c] = row(values[c], false);
    }
  }

  /// A job of contiguous rows of the block from row r on.
  template <class Entry>
  HostGradientJob<Entry, T> job_of(const Entry* x, Entry* dx, std::int64_t r,
                                   std::int64_t rows) const {
    HostGradientJob<Entry, T> job{};
    job.x = x;
    job.dx = dx;
    job.x_column_stride = 1;
    job.dx_column_stride = 1;
    job.rows = rows;
    job.columns = m_block.columns;
    job.lse = m_lse + r;
    job.factor = m_factor + r;
    job.offset = m_offset + r;
    job.streams = m_streams;
    return job;
  }

  /// Writes the entry of the label, and 0 in ignored rows.
  void finish_row(std::int64_t r) const {
    if (!m_arguments.has_labels()) return;
    X* const dx = m_arguments.row(m_block.first_row + r).y;
    const std::int64_t stride = problem().y_column_stride;
    if (has_label(r)) dx[m_label[r] * stride] = static_cast<X>(m_of_label[r]);
    if (m_label[r] != NoLabel::ignored) return;
    for (std::int64_t c = 0; c < m_block.columns; ++c)
      dx[(m_block.first_column + c) * stride] = static_cast<X>(T(0));
  }

  const Arguments& m_arguments;
  const HostBlock m_block;
  const bool m_streams;
  alignas(64) T m_lse[most_rows];
  alignas(64) T m_factor[most_rows];
  alignas(64) T m_offset[most_rows];
  std::int64_t m_label[most_rows];
  T m_of_label[most_rows];
};

/// Each thread works on blocks that follow one another.
template <class Source>
struct HostGradient {
  using Arguments = GradientArgs<ArgumentsOf<Source>>;

  Arguments arguments;
  HostBlocks parts;
  bool streams;
  std::int64_t blocks;

  void operator()(std::int64_t thread) const {
    const std::int64_t end = begin_of_part(parts.count(), thread + 1, blocks);
    for (std::int64_t b = begin_of_part(parts.count(), thread, blocks); b < end; ++b)
      HostGradientBlock<Source>(arguments, parts.block(b), streams).compute();
  }
};

template <class Source, class Exec>
void host_gradient(const Exec& exec, const std::string& label,
                   const GradientArgs<ArgumentsOf<Source>>& arguments) {
  check_host_isa();
  const auto& problem = arguments.problem;
  const std::int64_t threads = exec.concurrency();
  const bool has_rows = knows_rows<Source> || problem.columns == 1 ||
                        (problem.x_column_stride == 1 && problem.y_column_stride == 1);
  const HostBlocks parts(problem.rows, problem.columns,
                         problem.outer[problem.outer_rank - 1].extent, has_rows, threads);
  const std::int64_t bytes = 2 * static_cast<std::int64_t>(sizeof(typename Source::Types::X)) *
                             capped_product(problem.rows, problem.columns);
  const bool streams = problem.x != problem.y && bytes > last_level_cache_bytes(threads);
  launch_host_blocks(
      exec, label,
      HostGradient<Source>{arguments, parts, streams, std::min(parts.count(), threads)});
}

}  // namespace KokkosSoftmax::Impl

#endif
