// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP

/// \file
/// The kernels of gradients of operations with one number per row. Three are for rows whose columns
/// lie side by side: two for rows that consist of chunks, and one for any. The last one is for
/// columns whose rows lie side by side. All are launched over a range.

#include <backend/DivideUp.hpp>
#include <row/Chunk.hpp>
#include <row/GradientArgs.hpp>
#include <row/Row.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// a / b for numbers that aren't negative. A division of 32-bit numbers takes a third of the
/// instructions.
KOKKOS_FORCEINLINE_FUNCTION std::int64_t quotient(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t most = 0xffffffff;
  return a <= most && b <= most ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b)
                                : a / b;
}

/// The place of a label at this distance from the first of `count` columns, or -1.
template <int count>
KOKKOS_FORCEINLINE_FUNCTION int place_below(std::int64_t distance) {
  return distance >= 0 && distance < count ? static_cast<int>(distance) : -1;
}

/// What belongs to a row.
template <class Source>
struct GradientOfRow {
  using V = typename Source::Types;
  using T = typename V::Compute;

  GradientRow<typename V::X, T> row;
  [[no_unique_address]] SourceRow<Source> source_row;

  template <class Arguments, bool one_axis = false>
  KOKKOS_FORCEINLINE_FUNCTION GradientOfRow(const Arguments& arguments, std::int64_t r,
                                            std::bool_constant<one_axis> axes = {})
      : row(arguments, r, axes), source_row(arguments, r) {}

  KOKKOS_FORCEINLINE_FUNCTION typename V::X dx(const Source& source, T x, std::int64_t column,
                                               bool is_label) const {
    if (row.is_ignored()) return static_cast<typename V::X>(T(0));
    return static_cast<typename V::X>(row(value_of(source, source_row, x, column), is_label));
  }
  /// The same for an entry that isn't the label, of a row that isn't ignored.
  KOKKOS_FORCEINLINE_FUNCTION typename V::X dx(const Source& source, T x,
                                               std::int64_t column) const {
    return static_cast<typename V::X>(row(value_of(source, source_row, x, column)));
  }
};

/// What the kernels of rows whose columns lie side by side have in common.
template <class Source, int width>
class GradientChunks {
 protected:
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Raw = RawChunk<X, width>;
  using OfRow = GradientOfRow<Source>;
  static constexpr int lanes = 32;

 public:
  using Arguments = GradientArgs<ArgumentsOf<Source>>;

  explicit GradientChunks(const Arguments& arguments_) : arguments(arguments_) {}

  Arguments arguments;

 protected:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t rows() const { return arguments.problem.rows; }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t columns() const { return arguments.problem.columns; }

  /// Whether there is one outer axis and numbers of 32 bits suffice, if a row is divided into
  /// `count` equal parts of `whole` columns in all.
  bool fits_32_bits(std::int64_t count, std::int64_t whole) const {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    return arguments.problem.outer_rank == 1 && whole <= most && rows() * count <= most;
  }

  /// The results of a chunk that has neither the label nor the end of a row, of a row that isn't
  /// ignored.
  KOKKOS_FORCEINLINE_FUNCTION static Chunk<X, width> chunk_without_label(const Source& source,
                                                                         std::int64_t column,
                                                                         const OfRow& of_row,
                                                                         const T (&x)[width]) {
    Chunk<X, width> out;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) out.entry[k] = of_row.dx(source, x[k], column + k);
    return out;
  }
  /// The results of a chunk at this column, which has no end of a row.
  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> chunk_of_row(const Source& source,
                                                           std::int64_t column, const OfRow& of_row,
                                                           const T (&x)[width]) const {
    const int label = place_below<width>(of_row.row.label - column);
    Chunk<X, width> out = chunk_without_label(source, column, of_row, x);
    if (label >= 0 || of_row.row.is_ignored()) set_label(source, column, of_row, label, x, out);
    return out;
  }

 private:
  /// Replaces the entry of the label, or all entries of an ignored row. It computes one entry,
  /// because the other lanes of the warp, whose chunks have no label, wait for it.
  KOKKOS_FORCEINLINE_FUNCTION void set_label(const Source& source, std::int64_t column,
                                             const OfRow& of_row, int label, const T (&x)[width],
                                             Chunk<X, width>& out) const {
    T of_label = x[0];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 1; k < width; ++k) of_label = k == label ? x[k] : of_label;
    const X dx = of_row.dx(source, of_label, column + label, true);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k)
      if (k == label || of_row.row.is_ignored()) out.entry[k] = dx;
  }
};

/// Rows that consist of whole chunks, or of halves of chunks, along one outer axis. A row is
/// divided into pieces of `lanes` chunks. The last piece can have fewer. Several rows of up to half
/// as many chunks are one piece. A warp computes `items` pieces, so that what is computed once per
/// row or per warp takes little of the time.
template <class Source, int width>
class GradientPiecesKernel : public GradientChunks<Source, width> {
  using Base = GradientChunks<Source, width>;
  using Base::arguments;
  using Base::columns;
  using Base::lanes;
  using Base::rows;
  using typename Base::OfRow;
  using typename Base::Raw;
  using typename Base::T;
  using typename Base::X;
  static constexpr int items = 4;

 public:
  using typename Base::Arguments;
  /// Floats have 64 registers, and half types 72.
  using Bounds = std::conditional_t<sizeof(X) == 2, Kokkos::LaunchBounds<128, 7>,
                                    Kokkos::LaunchBounds<256, 4>>;

  /// \param in_halves  whether halves of chunks are loaded and stored, because rows begin at
  ///                   multiples of them, or end there
  GradientPiecesKernel(const Arguments& arguments_, bool in_halves)
      : Base(arguments_),
        m_in_halves(in_halves),
        m_rows(static_cast<int>(rows())),
        m_columns(static_cast<int>(columns())),
        m_log_lanes(log_of_lanes_of_row()),
        m_pieces_of_row(static_cast<int>(pieces_of_row())) {}

  /// Whether there is one outer axis, numbers of 32 bits suffice, and few lanes have nothing to do
  /// at the end of each row. Long rows of half types lose time in halves.
  static bool serves(const Arguments& arguments, bool in_halves) {
    constexpr std::int64_t most_columns_in_halves = 512;
    const GradientPiecesKernel kernel(arguments, in_halves);
    if (in_halves && sizeof(X) == 2 && kernel.columns() > most_columns_in_halves) return false;
    const std::int64_t pieces = kernel.pieces_of_row();
    const std::int64_t whole = pieces * (width << kernel.m_log_lanes);
    return kernel.fits_32_bits(pieces, whole) && 5 * kernel.columns() >= 3 * whole;
  }

  /// The number of iterations of the range.
  std::int64_t iterations() const {
    const std::int64_t pieces = divide_up(rows(), std::int64_t{rows_of_piece()}) * pieces_of_row();
    return divide_up(pieces, std::int64_t{items}) * lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    if (m_in_halves)
      compute<true>(iteration);
    else
      compute<false>(iteration);
  }

 private:
  struct Place {
    int row;
    int column;
  };

  template <bool in_halves>
  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t iteration) const {
    const auto warp = static_cast<unsigned>(iteration / lanes);
    const unsigned pieces_of_row = static_cast<unsigned>(m_pieces_of_row);
    const unsigned rows_before = warp * items / pieces_of_row;  // in pieces
    const unsigned piece = warp * items - rows_before * pieces_of_row;
    const auto lane = static_cast<int>(iteration % lanes);
    const int lane_of_row = lane & ((1 << m_log_lanes) - 1);
    const Place first{static_cast<int>(rows_before) * rows_of_piece() + (lane >> m_log_lanes),
                      (static_cast<int>(piece) * lanes + lane_of_row) * width};
    Raw chunk[items];
    Place at = first;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, at = after(at))
      if (exists(at))
        chunk[i] = load<in_halves>(arguments.row_of_one_axis(at.row).x + at.column, at.column);
    const Source source(arguments);
    at = first;
    OfRow of_row(arguments, at.row < m_rows ? at.row : 0, std::true_type());
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (at.row >= m_rows) break;
      if (exists(at)) {
        T x[width];
        widen<X, width>(chunk[i], x);
        store<in_halves>(this->chunk_of_row(source, at.column, of_row, x),
                         arguments.row_of_one_axis(at.row).y + at.column, at.column);
      }
      const Place next = after(at);
      if (i + 1 < items && next.row != at.row && next.row < m_rows)
        of_row = OfRow(arguments, next.row, std::true_type());
      at = next;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION bool exists(const Place& at) const {
    return at.column < m_columns && at.row < m_rows;
  }
  /// The same lane of the next piece.
  KOKKOS_FORCEINLINE_FUNCTION Place after(const Place& at) const {
    const int column = at.column + lanes * width;
    const int whole = m_pieces_of_row * lanes * width;
    return column < whole ? Place{at.row, column} : Place{at.row + rows_of_piece(), column - whole};
  }
  template <class Half>
  struct Halves {
    Half half[2];
  };
  template <bool in_halves>
  KOKKOS_FORCEINLINE_FUNCTION Raw load(const X* x, int column) const {
    using Half = RawChunk<X, width / 2>;
    if constexpr (!in_halves) return *reinterpret_cast<const Raw*>(x);
    const Half* const half = reinterpret_cast<const Half*>(x);
    return Kokkos::bit_cast<Raw>(Halves<Half>{half[0], has_second_half(column) ? half[1] : Half{}});
  }
  template <bool in_halves>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Chunk<X, width>& chunk, X* dx, int column) const {
    using Half = Chunk<X, width / 2>;
    if constexpr (!in_halves) return store_whole(reinterpret_cast<Chunk<X, width>*>(dx), chunk);
    const auto halves = Kokkos::bit_cast<Halves<Half>>(chunk);
    Half* const half = reinterpret_cast<Half*>(dx);
    half[0] = halves.half[0];
    if (has_second_half(column)) half[1] = halves.half[1];
  }
  KOKKOS_FORCEINLINE_FUNCTION bool has_second_half(int column) const {
    return column + width / 2 < m_columns;
  }

  std::int64_t pieces_of_row() const { return divide_up(columns(), std::int64_t{lanes * width}); }
  KOKKOS_FORCEINLINE_FUNCTION int rows_of_piece() const { return lanes >> m_log_lanes; }
  int log_of_lanes_of_row() const {
    int log = 0;
    while ((1 << log) < lanes && (width << log) < columns()) ++log;
    return log;
  }

  bool m_in_halves;
  int m_rows;
  int m_columns;
  int m_log_lanes;  // a row, or a piece of it, has 2^m_log_lanes lanes
  int m_pieces_of_row;
};

/// Rows that consist of whole chunks, along one outer axis. A warp computes a part of one row, with
/// `items` chunks per lane. A chunk takes fewer instructions and registers than in pieces. The
/// entry of the label is written a second time after all chunks, so that no chunk has a branch for
/// it.
template <class Source, int width>
class GradientPartsKernel : public GradientChunks<Source, width> {
  using Base = GradientChunks<Source, width>;
  using Base::arguments;
  using Base::columns;
  using Base::lanes;
  using Base::rows;
  using typename Base::OfRow;
  using typename Base::Raw;
  using typename Base::T;
  using typename Base::X;
  static constexpr int items = 4;
  static constexpr int step = lanes * width;

 public:
  using typename Base::Arguments;
  /// Doubles have 80 registers.
  using Bounds = Kokkos::LaunchBounds<256, 3>;

  explicit GradientPartsKernel(const Arguments& arguments_)
      : Base(arguments_),
        m_columns(static_cast<int>(columns())),
        m_parts_of_row(static_cast<int>(parts_of_row())) {}

  /// Whether there is one outer axis, numbers of 32 bits suffice, and at least half of the lanes
  /// have something to do.
  static bool serves(const Arguments& arguments) {
    const GradientPartsKernel kernel(arguments);
    const std::int64_t whole = kernel.parts_of_row() * items * step;
    return kernel.fits_32_bits(kernel.parts_of_row(), whole) && 2 * kernel.columns() >= whole;
  }

  /// The number of iterations of the range.
  std::int64_t iterations() const { return rows() * parts_of_row() * lanes; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    const auto part = static_cast<unsigned>(iteration / lanes);
    const unsigned row = part / static_cast<unsigned>(m_parts_of_row);
    const auto part_of_row = static_cast<int>(part - row * static_cast<unsigned>(m_parts_of_row));
    const int column = part_of_row * items * step + static_cast<int>(iteration % lanes) * width;
    const auto p = arguments.row_of_one_axis(row);
    compute(row, column, p.x + column, p.y + column);
  }

 private:
  std::int64_t parts_of_row() const { return (columns() + items * step - 1) / (items * step); }

  /// Computes this lane's chunks, the first of which is at `column`.
  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t row, int column, const X* x, X* dx) const {
    const int left = m_columns - column;
    Raw chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i * step < left) chunk[i] = *reinterpret_cast<const Raw*>(x + i * step);
    const Source source(arguments);
    const OfRow of_row(arguments, row, std::true_type());
    if (of_row.row.is_ignored()) return write_zeros(left, dx);
    const int label = place_of_label(of_row.row.label - column);
    T of_label = T(0);
    if (label >= 0) of_label = static_cast<T>(x[label]);  // before dx replaces x
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i * step >= left) break;
      T value[width];
      widen<X, width>(chunk[i], value);
      store_whole(reinterpret_cast<Chunk<X, width>*>(dx + i * step),
                  this->chunk_without_label(source, column + i * step, of_row, value));
    }
    if (label >= 0) dx[label] = of_row.dx(source, of_label, column + label, true);
  }

  /// The place, counted from this lane's first entry, of a label at this distance from it if the
  /// lane has it, and -1 otherwise.
  KOKKOS_FORCEINLINE_FUNCTION static int place_of_label(std::int64_t distance) {
    const int place = place_below<items * step>(distance);
    return place % step < width ? place : -1;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void write_zeros(int left, X* dx) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i * step < left)
        store_whole(reinterpret_cast<Chunk<X, width>*>(dx + i * step), Chunk<X, width>{});
  }

  int m_columns;
  int m_parts_of_row;
};

/// Rows whose columns lie side by side. The entries of all rows are divided into chunks of `width`.
/// A lane computes `items` chunks, one of each run of `lanes` chunks. Rows are back to back if
/// chunks go beyond the end of a row.
template <class Source, int width>
class GradientRowsKernel : public GradientChunks<Source, width> {
  using Base = GradientChunks<Source, width>;
  using Base::columns;
  using Base::lanes;
  using Base::rows;
  using typename Base::OfRow;
  using typename Base::Raw;
  using typename Base::T;
  using typename Base::X;
  static constexpr int items = 2;

 public:
  using Base::arguments;
  using typename Base::Arguments;

  /// With more registers per thread, too few threads are resident to hide the latency of the
  /// numbers of rows.
  using Bounds = Kokkos::LaunchBounds<256, 4>;

  explicit GradientRowsKernel(const Arguments& arguments_)
      : Base(arguments_),
        m_is_dense(is_dense()),
        m_crosses_rows(columns() >= width && columns() < lanes * width && columns() % width != 0) {}

  /// The number of iterations of the range.
  std::int64_t iterations() const {
    constexpr std::int64_t entries_of_run = items * lanes * width;
    return (entries() + entries_of_run - 1) / entries_of_run * lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    if constexpr (!knows_rows<Source>)
      if (m_crosses_rows) return compute<true>(iteration);
    compute<false>(iteration);
  }

 private:
  static constexpr std::int64_t step = lanes * width;

  struct Entry {
    std::int64_t row;
    std::int64_t column;
  };

  template <bool crosses_rows>
  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t iteration) const {
    const std::int64_t first =
        (iteration / lanes * (items * lanes) + iteration % lanes) * width;  // entry
    Entry at[items];
    Raw chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      at[i] = i == 0 ? entry(first) : after(at[i - 1]);
      if (first + i * step + width <= entries())
        chunk[i] = *reinterpret_cast<const Raw*>(
            m_is_dense ? arguments.problem.x + (first + i * step) : x_of(at[i]));
    }
    OfRow of_row(arguments, at[0].row < rows() ? at[0].row : 0);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::int64_t number = first + i * step;
      if (number + width <= entries()) {
        if (i > 0 && at[i].row != at[i - 1].row) of_row = OfRow(arguments, at[i].row);
        store_whole(reinterpret_cast<Chunk<X, width>*>(m_is_dense ? arguments.problem.y + number
                                                                  : dx_of(at[i])),
                    computed_chunk<crosses_rows>(at[i], of_row, chunk[i]));
      } else if (number < entries()) {
        compute_rest(number);
      }
    }
  }

  /// Whether the entries of all rows follow one another in x and in dx.
  bool is_dense() const {
    const auto& p = arguments.problem;
    const bool are_columns = p.columns == 1 || (p.x_column_stride == 1 && p.y_column_stride == 1);
    const bool are_rows = p.rows == 1 || (p.outer_rank == 1 && p.outer[0].x_stride == p.columns &&
                                          p.outer[0].y_stride == p.columns);
    return are_columns && are_rows;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t entries() const { return rows() * columns(); }

  KOKKOS_FORCEINLINE_FUNCTION Entry entry(std::int64_t number) const {
    const std::int64_t row = quotient(number, columns());
    return {row, number - row * columns()};
  }
  /// The entry after `step` others.
  KOKKOS_FORCEINLINE_FUNCTION Entry after(const Entry& at) const {
    const std::int64_t column = at.column + step;
    if (column < columns()) return {at.row, column};
    if (column < 2 * columns()) return {at.row + 1, column - columns()};
    const Entry further = entry(column);
    return {at.row + further.row, further.column};
  }
  KOKKOS_FORCEINLINE_FUNCTION const X* x_of(const Entry& at) const {
    return arguments.row(at.row).x + at.column * arguments.problem.x_column_stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION X* dx_of(const Entry& at) const {
    return arguments.row(at.row).y + at.column * arguments.problem.y_column_stride;
  }

  template <bool crosses_rows>
  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> computed_chunk(const Entry& at, const OfRow& of_row,
                                                             const Raw& chunk) const {
    const Source source(arguments);
    T x[width];
    widen<X, width>(chunk, x);
    if constexpr (crosses_rows) return chunk_of_two_rows(source, at, of_row, x);
    if (at.column + width <= columns()) return this->chunk_of_row(source, at.column, of_row, x);
    Chunk<X, width> out;
    compute_rows(source, at, of_row, x, out);
    return out;
  }

  /// A chunk that can have the end of a row and the begin of the next one. There is no branch,
  /// because most warps have such a chunk if rows are short.
  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> chunk_of_two_rows(const Source& source,
                                                                const Entry& at,
                                                                const OfRow& of_first,
                                                                const T (&x)[width]) const {
    using Row = GradientRow<X, T>;
    const auto first_count = static_cast<int>(columns() - at.column);
    const Row first = of_first.row;
    const bool has_second = first_count < width && at.row + 1 < rows();
    const Row second(arguments, has_second ? at.row + 1 : at.row);
    const int first_label = place_below<width>(first.label - at.column);
    const int place_in_second = place_below<width>(second.label);
    const int second_label = place_in_second < 0 ? -1 : first_count + place_in_second;
    Chunk<X, width> out;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      const bool is_second = k >= first_count;
      const Row row(is_second, first, second);
      const bool is_label = k == (is_second ? second_label : first_label);
      const T dx = row(source.value(x[k], 0), is_label);
      out.entry[k] = static_cast<X>(row.is_ignored() ? T(0) : dx);
    }
    return out;
  }

  /// A chunk in several rows. All indices of arrays are constants, so that these stay in registers.
  KOKKOS_FORCEINLINE_FUNCTION void compute_rows(const Source& source, Entry at, OfRow of_row,
                                                const T (&x)[width], Chunk<X, width>& out) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      out.entry[k] = of_row.dx(source, x[k], at.column, at.column == of_row.row.label);
      if (++at.column < columns() || k + 1 == width) continue;
      at = {at.row + 1, 0};
      of_row = OfRow(arguments, at.row < rows() ? at.row : 0);
    }
  }

  /// The last entries, fewer than a chunk.
  KOKKOS_FORCEINLINE_FUNCTION void compute_rest(std::int64_t number) const {
    const Source source(arguments);
    for (; number < entries(); ++number) {
      const Entry at = entry(number);
      const OfRow of_row(arguments, at.row);
      *dx_of(at) =
          of_row.dx(source, static_cast<T>(*x_of(at)), at.column, at.column == of_row.row.label);
    }
  }

  bool m_is_dense;
  bool m_crosses_rows;  // chunks have entries of one or two rows, which are short
};

/// Columns whose rows lie side by side. A lane computes `width` neighbouring rows in `items`
/// columns.
template <class Source, int width>
class GradientColumnsKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Raw = RawChunk<X, width>;
  using OfRow = GradientOfRow<Source>;
  static constexpr int items = 8;

 public:
  using Arguments = GradientArgs<ArgumentsOf<Source>>;

  using Bounds = Kokkos::LaunchBounds<>;  // the compiler's choice

  explicit GradientColumnsKernel(const Arguments& arguments_) : arguments(arguments_) {}

  /// The number of iterations of the range.
  std::int64_t iterations() const {
    return arguments.problem.rows / width * ((arguments.problem.columns + items - 1) / items);
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    const std::int64_t chunks = neighbours() / width;
    const std::int64_t line = quotient(iteration, chunks);
    const std::int64_t blocks = (arguments.problem.columns + items - 1) / items;
    const std::int64_t group = quotient(line, blocks);
    const std::int64_t row = group * neighbours() + (iteration - line * chunks) * width;
    compute(row, (line - group * blocks) * items);
  }

  Arguments arguments;

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t neighbours() const {
    return arguments.problem.outer[arguments.problem.outer_rank - 1].extent;
  }

  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t row, std::int64_t column) const {
    const auto& problem = arguments.problem;
    const RowPointers<V> p = arguments.row(row);
    const X* const x = p.x + column * problem.x_column_stride;
    X* const dx = p.y + column * problem.y_column_stride;
    const std::int64_t left = problem.columns - column;
    Raw chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i < left) chunk[i] = *reinterpret_cast<const Raw*>(x + i * problem.x_column_stride);
    compute_rows(row, column, left, chunk, dx, std::make_integer_sequence<int, width>{});
  }

  template <int... k>
  KOKKOS_FORCEINLINE_FUNCTION void compute_rows(std::int64_t row, std::int64_t column,
                                                std::int64_t left, const Raw (&chunk)[items], X* dx,
                                                std::integer_sequence<int, k...>) const {
    const Source source(arguments);
    const OfRow of_row[width] = {OfRow(arguments, row + k)...};
    const int label[width] = {place_below<items>(of_row[k].row.label - column)...};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (i >= left) break;
      T value[width];
      widen<X, width>(chunk[i], value);
      Chunk<X, width> out;
      if (arguments.has_labels())
        out = {{of_row[k].dx(source, value[k], column + i, i == label[k])...}};
      else
        out = {{of_row[k].dx(source, value[k], column + i)...}};
      store_whole(reinterpret_cast<Chunk<X, width>*>(dx + i * arguments.problem.y_column_stride),
                  out);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
