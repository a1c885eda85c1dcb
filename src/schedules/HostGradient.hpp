// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGRADIENT_HPP

/// \file
/// The host schedule of the gradients of operations with one number per row, with the kernels of
/// host/Gradient.hpp.

#include <algorithm>
#include <cstdlib>
#include <row/GeneralBlock.hpp>
#include <row/GradientArgs.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>

namespace KokkosSoftmax::Impl {

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
    m_columns_of_block = std::min(columns, has_rows ? span_columns : most_columns);
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
  static constexpr std::int64_t most_columns = std::int64_t{1} << 23;  // floats can number them

  std::int64_t m_rows;
  std::int64_t m_columns;
  std::int64_t m_neighbours;
  std::int64_t m_rows_of_block;
  std::int64_t m_blocks_of_group;  // of rows, in a group of neighbours
  std::int64_t m_columns_of_block;
  std::int64_t m_spans;
};

/// Whether rows are computed one after the other, and not side by side.
template <class Source, class Problem>
bool computes_rows(const Problem& problem) {
  if (problem.columns == 1 || (problem.x_column_stride == 1 && problem.y_column_stride == 1))
    return true;
  return knows_rows<Source> &&
         std::abs(problem.x_column_stride) <= std::abs(fastest_axis(problem).x_stride);
}

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
    read_rows();
    if (m_arguments.has_labels()) {
      read_labels();
      compute_labels();
    }
    if constexpr (knows_rows<Source>)
      compute_values();
    else
      compute_entries();
    if (m_arguments.has_labels())
      for (std::int64_t r = 0; r < m_block.rows; ++r) finish_row(r);
  }

 private:
  using HostX = HostNumber<X>;
  static constexpr std::int64_t most_rows = HostBlocks::most_rows;
  static_assert(most_rows <= VisibleColumns::most_rows);
  /// Values that stay in the second-level cache.
  static constexpr std::int64_t piece_entries = 32768;
  static_assert(piece_entries <= host_buffer_size &&
                piece_entries > BlockBuffer<T>::column_distance(most_rows));

  const auto& problem() const { return m_arguments.problem; }

  void read_rows() {
    const NumbersOfRows<const T> lse(problem(), m_arguments.row_lse, m_block.first_row);
    const NumbersOfRows<const T> derivative(problem(), m_arguments.derivative, m_block.first_row);
    for (std::int64_t r = 0; r < m_block.rows; ++r) {
      m_lse[r] = lse[r];
      m_factor[r] = m_arguments.factor * derivative[r];
      m_offset[r] = T(0);
    }
  }
  /// Reads the labels and their entries.
  void read_labels() {
    const auto& index = m_arguments.labels.index;
    const std::int64_t first = outer_offset(problem(), m_block.first_row, index.outer_stride);
    const std::int64_t stride = index.outer_stride[problem().outer_rank - 1];
    const X* x = m_arguments.row(m_block.first_row).x;
    for (std::int64_t r = 0; r < m_block.rows; ++r, x += fastest_axis(problem()).x_stride) {
      m_label[r] = label_at(problem(), m_arguments.labels, first + r * stride);
      m_offset[r] = GradientRow<X, T>::offset_of(m_arguments, m_label[r]);
      const bool is_here = has_label(r);
      m_label_column[r] = is_here ? static_cast<T>(m_label[r] - m_block.first_column) : T(-1);
      m_of_label[r] = is_here ? static_cast<T>(x[m_label[r] * problem().x_column_stride]) : T(0);
    }
  }
  /// Whether the label of row r is a column of the block.
  bool has_label(std::int64_t r) const {
    return m_label[r] >= m_block.first_column &&
           m_label[r] < m_block.first_column + m_block.columns;
  }
  /// dx of the labels, given their entries. It is computed before x may be overwritten.
  void compute_labels() {
    if constexpr (have_kernels<T, T> && !knows_rows<Source>) {
      alignas(64) T one[most_rows], zero[most_rows] = {};
      std::fill_n(one, m_block.rows, T(1));
      HostGradientJob<T, T> probabilities = job_of<T>(m_of_label, m_of_label, 0, m_block.rows);
      probabilities.x_stride = 1;
      probabilities.dx_stride = 1;
      probabilities.columns = 1;
      probabilities.factors = factors();
      probabilities.factor = one;
      probabilities.offset = zero;
      probabilities.label = nullptr;
      probabilities.streams = false;
      host_isa().kernels<T, T>().gradient.panels(probabilities);
    } else {
      for (std::int64_t r = 0; r < m_block.rows; ++r)
        m_of_label[r] = softmax_from_lse<X>(m_of_label[r] * m_arguments.scale, m_lse[r]);
    }
    for (std::int64_t r = 0; r < m_block.rows; ++r)
      m_of_label[r] = GradientRow<X, T>::product(
          m_factor[r], (m_of_label[r] - m_arguments.of_label) - m_offset[r]);
  }
  HostFactors<T> factors() const {
    return PlainSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
  }

  /// The entries in place.
  void compute_entries() const {
    const RowPointers<V> p = m_arguments.row(m_block.first_row);
    const OuterAxis& fastest = fastest_axis(problem());
    HostGradientJob<HostX, T> job = job_of(
        reinterpret_cast<const HostX*>(p.x) + m_block.first_column * problem().x_column_stride,
        reinterpret_cast<HostX*>(p.y) + m_block.first_column * problem().y_column_stride, 0,
        m_block.rows);
    job.x_stride = fastest.x_stride;
    job.dx_stride = fastest.y_stride;
    job.x_column_stride = problem().x_column_stride;
    job.dx_column_stride = problem().y_column_stride;
    job.factors = factors();
    const auto& kernels = host_isa().kernels<HostX, HostX>().gradient;
    const bool are_rows = job.x_column_stride == 1 && job.dx_column_stride == 1;
    (are_rows || m_block.columns == 1 ? kernels.rows : kernels.panels)(job);
  }

  /// The entries of a block whose values are computed into a buffer first, a piece after the other.
  /// The buffer has the order of x, so that cache lines are read as a whole.
  void compute_values() const {
    const bool are_rows = computes_rows<Source>(problem());
    const std::int64_t columns = std::min(
        m_block.columns,
        are_rows ? piece_entries : piece_entries / BlockBuffer<T>::column_distance(m_block.rows));
    const std::int64_t rows =
        are_rows ? std::min(piece_entries / columns, m_block.rows) : m_block.rows;
    for (std::int64_t r = 0; r < m_block.rows; r += rows)
      for (std::int64_t c = 0; c < m_block.columns; c += columns)
        compute_piece({m_block.first_row + r, std::min(rows, m_block.rows - r),
                       m_block.first_column + c, std::min(columns, m_block.columns - c)},
                      are_rows);
  }
  void compute_piece(const HostBlock& piece, bool are_rows) const {
    T* const values = host_thread_buffer<T>();
    const auto buffer = are_rows ? BlockBuffer<T>::of_rows(values, piece.rows, piece.columns)
                                 : BlockBuffer<T>::of_columns(values, piece.rows, piece.columns);
    GeneralBlock<V>(m_arguments, piece).values(buffer);
    X* const dx =
        m_arguments.row(piece.first_row).y + piece.first_column * problem().y_column_stride;
    const std::int64_t row_stride = fastest_axis(problem()).y_stride;
    if constexpr (std::is_same_v<X, T>) {
      compute_buffer(buffer, piece, dx, row_stride, problem().y_column_stride);
    } else {
      compute_buffer(buffer, piece, values, buffer.row_stride(), buffer.column_stride());
      buffer.copy_to(dx, row_stride, problem().y_column_stride);
    }
  }
  /// Computes dx from the values in the buffer. dx may be the buffer.
  void compute_buffer(const BlockBuffer<T>& buffer, const HostBlock& piece, T* dx,
                      std::int64_t row_stride, std::int64_t column_stride) const {
    const std::int64_t r = piece.first_row - m_block.first_row;
    if constexpr (have_kernels<T, T>) {
      HostGradientJob<T, T> job = job_of<T>(buffer.data(), dx, r, piece.rows);
      job.x_stride = buffer.row_stride();
      job.x_column_stride = buffer.column_stride();
      job.dx_stride = row_stride;
      job.dx_column_stride = column_stride;
      job.columns = piece.columns;
      job.factors = {T(1), T(1), true, false};
      job.streams = m_streams && dx != buffer.data();
      const auto& kernels = host_isa().kernels<T, T>().gradient;
      (job.x_column_stride == 1 && job.dx_column_stride == 1 ? kernels.rows : kernels.panels)(job);
    } else {
      for (std::int64_t i = 0; i < piece.rows; ++i) {
        const GradientRow<X, T> row(m_arguments, piece.first_row + i);
        for (std::int64_t c = 0; c < piece.columns; ++c)
          dx[i * row_stride + c * column_stride] =
              row(buffer.data()[i * buffer.row_stride() + c * buffer.column_stride()], false);
      }
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
    job.label = m_arguments.has_labels() ? m_label_column + r : nullptr;
    job.of_label = m_of_label + r;
    job.streams = m_streams;
    return job;
  }

  /// Writes 0 in ignored rows.
  void finish_row(std::int64_t r) const {
    if (m_label[r] != NoLabel::ignored) return;
    X* const dx = m_arguments.row(m_block.first_row + r).y;
    for (std::int64_t c = 0; c < m_block.columns; ++c)
      dx[(m_block.first_column + c) * problem().y_column_stride] = static_cast<X>(T(0));
  }

  const Arguments& m_arguments;
  const HostBlock m_block;
  const bool m_streams;
  alignas(64) T m_lse[most_rows];
  alignas(64) T m_factor[most_rows];
  alignas(64) T m_offset[most_rows];
  std::int64_t m_label[most_rows];
  T m_label_column[most_rows];  // of the block, see HostGradientJob
  alignas(64) T m_of_label[most_rows];
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
  const HostBlocks parts(problem.rows, problem.columns, fastest_axis(problem).extent,
                         computes_rows<Source>(problem), threads);
  const bool streams = exceeds_caches(problem, threads);
  launch_host_blocks(
      exec, label,
      HostGradient<Source>{arguments, parts, streams, std::min(parts.count(), threads)});
}

}  // namespace KokkosSoftmax::Impl

#endif
