// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP

/// \file
/// The kernels of gradients of operations with one number per row that are launched over a range.
/// Two are for rows along one outer axis whose columns lie side by side: one for rows of some
/// chunks, and one for shorter rows. One is for all other rows. The last one is for columns whose
/// rows lie side by side. PackedGradientKernel is for short rows that lie back to back.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <row/Chunk.hpp>
#include <row/GradientArgs.hpp>
#include <row/Row.hpp>
#include <type_traits>
#include <utility>

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
  /// `count` equal parts of `whole` columns in all, beside a few peeled entries.
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
};

/// Rows along one outer axis, at any address if x and dx are aligned in the same way. A row is
/// divided into parts of up to `items` chunks per lane. Several short rows share a warp, each with
/// some of its lanes. The entries before the first chunk and after the last one are *peeled*: they
/// are computed one by one. The entry of the label is written a second time after all chunks, so
/// that no chunk has a branch for it.
template <class Source, int width>
class GradientPartsKernel : public GradientChunks<Source, width> {
  using Base = GradientChunks<Source, width>;
  using Base::arguments;
  using Base::columns;
  using Base::rows;
  using typename Base::OfRow;
  using typename Base::Raw;
  using typename Base::T;
  using typename Base::V;
  using typename Base::X;
  static constexpr int items = 4;
  static constexpr int log_of_warp = 5;
  /// Doubles have few peeled entries, and are faster if these are computed after the chunks: their
  /// stores would come before the load of the label's entry. (Measured on an H200.)
  static constexpr bool peels_last = sizeof(X) == 8;
  /// Other kernels are faster for rows of fewer chunks (measured on an H200).
  static constexpr std::int64_t fewest_chunks = sizeof(X) == 8 ? 2 : 4;
  static_assert(Base::lanes == 1 << log_of_warp);

 public:
  using typename Base::Arguments;
  /// Doubles have 80 registers, and other types 64.
  using Bounds = Kokkos::LaunchBounds<256, sizeof(X) == 8 ? 3 : 4>;

  explicit GradientPartsKernel(const Arguments& arguments_)
      : Base(arguments_),
        m_columns(static_cast<int>(columns())),
        m_log_lanes(log_of_lanes()),
        m_parts_of_row(static_cast<int>(parts_of_row(m_log_lanes))) {}

  /// Whether rows are long enough, x and dx are aligned in the same way along one outer axis, and
  /// numbers of 32 bits suffice.
  static bool serves(const Arguments& arguments) {
    const GradientPartsKernel kernel(arguments);
    const std::int64_t parts = kernel.parts_of_row(kernel.m_log_lanes);
    return kernel.chunks_of_row() >= fewest_chunks && kernel.is_aligned_alike() &&
           kernel.fits_32_bits(parts, width * kernel.chunks_of_parts(kernel.m_log_lanes));
  }

  /// The number of iterations of the range.
  std::int64_t iterations() const { return (rows() * m_parts_of_row) << m_log_lanes; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    if (m_log_lanes == log_of_warp)
      compute<true>(iteration);
    else
      compute<false>(iteration);
  }

 private:
  bool is_aligned_alike() const {
    const auto& p = arguments.problem;
    const auto number = [](const X* x) { return reinterpret_cast<std::uintptr_t>(x) / sizeof(X); };
    const auto between_rows = static_cast<std::uint64_t>(p.outer[0].x_stride - p.outer[0].y_stride);
    const std::uint64_t differences =
        (number(p.x) - number(p.y)) | (p.rows == 1 ? 0 : between_rows);
    return p.x_column_stride == 1 && p.y_column_stride == 1 && differences % width == 0;
  }

  /// Those of a row that begins with a chunk. Others can have one less.
  std::int64_t chunks_of_row() const { return columns() / width; }
  std::int64_t parts_of_row(int log_lanes) const {
    return divide_up(chunks_of_row(), std::int64_t{items} << log_lanes);
  }
  std::int64_t chunks_of_parts(int log_lanes) const {
    return (parts_of_row(log_lanes) * items) << log_lanes;
  }
  /// A row of up to 128 chunks is one part, with the fewest lanes that leave each of them `items`
  /// chunks, or one less if the row is short. Longer rows have the most lanes (32, 16 or 8) with
  /// which 4 of 5 places for chunks are taken. (All measured on an H200.)
  int log_of_lanes() const {
    constexpr int most_chunks_of_short_row = sizeof(X) == 8 ? 4 : 8, fewest_of_long_row = 3;
    const std::int64_t chunks = chunks_of_row();
    int log = 0;
    if (chunks <= (items << log_of_warp)) {
      const int most = chunks <= most_chunks_of_short_row ? items - 1 : items;
      while ((std::int64_t{most} << log) < chunks) ++log;
    } else {
      log = log_of_warp;
      while (log > fewest_of_long_row && 5 * chunks < 4 * chunks_of_parts(log)) --log;
    }
    return log;
  }

  /// \tparam whole_warps  whether a part has all lanes of a warp
  template <bool whole_warps>
  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t iteration) const {
    const int log_lanes = whole_warps ? log_of_warp : m_log_lanes;
    const int lanes = 1 << log_lanes, step = width << log_lanes;
    const auto lane = static_cast<int>(iteration & (lanes - 1));
    const auto part = static_cast<unsigned>(iteration >> log_lanes);
    const unsigned row = part / static_cast<unsigned>(m_parts_of_row);
    const auto part_of_row = static_cast<int>(part - row * static_cast<unsigned>(m_parts_of_row));
    const auto p = arguments.row_of_one_axis(row);
    const auto before = static_cast<int>(reinterpret_cast<std::uintptr_t>(p.x) / sizeof(X) % width);
    const int head = before == 0 ? 0 : width - before;
    const int column = head + part_of_row * items * step + lane * width;
    const int left = head + (m_columns - head) / width * width - column;
    const X* const x = p.x + column;
    X* const dx = p.y + column;
    Raw chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i * step < left) chunk[i] = *reinterpret_cast<const Raw*>(x + i * step);
    const OfRow of_row(arguments, row, std::true_type());
    if (!peels_last && part_of_row == 0) compute_peeled(of_row, p, head, lane, lanes);
    compute_chunks(of_row, chunk, column, left, step, x, dx);
    if (peels_last && part_of_row == 0) compute_peeled(of_row, p, head, lane, lanes);
  }

  /// Computes the peeled entries that this lane has. A row has at most 2 * (width - 1) of them.
  KOKKOS_FORCEINLINE_FUNCTION void compute_peeled(const OfRow& of_row, const RowPointers<V>& p,
                                                  int head, int lane, int lanes) const {
    const Source source(arguments);
    const int peeled = head + (m_columns - head) % width;
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int e = lane; e < peeled; e += lanes) {
      const int column = e < head ? e : m_columns - peeled + e;
      const T x = static_cast<T>(p.x[column]);
      p.y[column] = of_row.dx(source, x, column, column == of_row.row.label);
    }
  }

  /// Computes this lane's chunks. The first one is at `column`, and there at `x` and `dx`. `left`:
  /// the number of entries from there to the end of the row's last chunk.
  KOKKOS_FORCEINLINE_FUNCTION void compute_chunks(const OfRow& of_row, const Raw (&chunk)[items],
                                                  int column, int left, int step, const X* x,
                                                  X* dx) const {
    if (of_row.row.is_ignored()) return write_zeros(left, step, dx);
    const Source source(arguments);
    const int label = place_of_label(of_row.row.label - column, left, step);
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
  /// lane has it in a chunk, and -1 otherwise.
  KOKKOS_FORCEINLINE_FUNCTION static int place_of_label(std::int64_t distance, int left, int step) {
    if (distance < 0 || distance >= left || distance >= items * step) return -1;
    const auto place = static_cast<int>(distance);
    return (place & (step - 1)) < width ? place : -1;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void write_zeros(int left, int step, X* dx) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i * step < left)
        store_whole(reinterpret_cast<Chunk<X, width>*>(dx + i * step), Chunk<X, width>{});
  }

  int m_columns;
  int m_log_lanes;
  int m_parts_of_row;
};

/// Rows of few chunks, or halves of chunks, along one outer axis. A lane computes a chunk of each
/// of `items` rows, whose numbers are all loaded before one is used.
template <class Source, int width>
class GradientShortRowsKernel : public GradientChunks<Source, width> {
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
  static constexpr int most_chunks = 4;

 public:
  using typename Base::Arguments;
  /// Floats have 64 registers, and half types 72.
  using Bounds = std::conditional_t<sizeof(X) == 2, Kokkos::LaunchBounds<128, 7>,
                                    Kokkos::LaunchBounds<256, 4>>;

  /// \param in_halves  whether halves of chunks are loaded and stored, because rows begin at
  ///                   multiples of them, or end there
  GradientShortRowsKernel(const Arguments& arguments_, bool in_halves)
      : Base(arguments_),
        m_in_halves(in_halves),
        m_rows(static_cast<int>(rows())),
        m_columns(static_cast<int>(columns())),
        m_log_lanes(log_of_lanes_of_row()) {}

  /// Whether there is one outer axis, rows are short, and numbers of 32 bits suffice. The caller
  /// checks that rows begin at chunks, or at halves of chunks.
  static bool serves(const Arguments& arguments) {
    return arguments.problem.columns <= most_chunks * width &&
           GradientShortRowsKernel(arguments, false).fits_32_bits(1, most_chunks * width);
  }

  /// The number of iterations of the range.
  std::int64_t iterations() const {
    return divide_up(rows(), std::int64_t{items} * rows_of_warp()) * lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    const auto lane = static_cast<int>(iteration % lanes);
    const int column = (lane & ((1 << m_log_lanes) - 1)) * width;
    if (column >= m_columns) return;
    const int rows_before = static_cast<int>(iteration / lanes) * items * rows_of_warp();
    const int first = rows_before + (lane >> m_log_lanes);
    constexpr std::make_integer_sequence<int, items> each;
    if (m_in_halves)
      compute<true>(first, column, each);
    else
      compute<false>(first, column, each);
  }

 private:
  template <bool in_halves, int... i>
  KOKKOS_FORCEINLINE_FUNCTION void compute(int first, int column,
                                           std::integer_sequence<int, i...>) const {
    const int row[items] = {first + i * rows_of_warp()...};
    Raw chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < items; ++k)
      if (row[k] < m_rows)
        chunk[k] = load<in_halves>(arguments.row_of_one_axis(row[k]).x + column, column);
    const OfRow of_row[items] = {
        OfRow(arguments, row[i] < m_rows ? row[i] : 0, std::true_type())...};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < items; ++k) {
      if (row[k] >= m_rows) break;
      store<in_halves>(computed(of_row[k], column, chunk[k]),
                       arguments.row_of_one_axis(row[k]).y + column, column);
    }
  }

  /// The results of a chunk. There is no branch for the label, because a warp has those of many
  /// rows.
  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> computed(const OfRow& of_row, int column,
                                                       const Raw& chunk) const {
    const Source source(arguments);
    const int label = place_below<width>(of_row.row.label - column);
    T x[width];
    widen<X, width>(chunk, x);
    Chunk<X, width> out;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      const T dx = of_row.row(source.value(x[k], 0), k == label);
      out.entry[k] = static_cast<X>(of_row.row.is_ignored() ? T(0) : dx);
    }
    return out;
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

  KOKKOS_FORCEINLINE_FUNCTION int rows_of_warp() const { return lanes >> m_log_lanes; }
  int log_of_lanes_of_row() const {
    int log = 0;
    while ((1 << log) < most_chunks && (width << log) < m_columns) ++log;
    return log;
  }

  bool m_in_halves;
  int m_rows;
  int m_columns;
  int m_log_lanes;  // a row has 2^m_log_lanes lanes
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
      : Base(arguments_), m_is_dense(is_dense()) {}

  /// The number of iterations of the range.
  std::int64_t iterations() const {
    constexpr std::int64_t entries_of_run = items * lanes * width;
    return (entries() + entries_of_run - 1) / entries_of_run * lanes;
  }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
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
                    computed_chunk(at[i], of_row, chunk[i]));
      } else if (number < entries()) {
        compute_rest(number);
      }
    }
  }

 private:
  static constexpr std::int64_t step = lanes * width;

  struct Entry {
    std::int64_t row;
    std::int64_t column;
  };

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

  /// The results of a chunk at this column, which has no end of a row.
  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> chunk_of_row(const Source& source,
                                                           std::int64_t column, const OfRow& of_row,
                                                           const T (&x)[width]) const {
    const int label = place_below<width>(of_row.row.label - column);
    Chunk<X, width> out = this->chunk_without_label(source, column, of_row, x);
    if (label >= 0 || of_row.row.is_ignored()) set_label(source, column, of_row, label, x, out);
    return out;
  }

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

  KOKKOS_FORCEINLINE_FUNCTION Chunk<X, width> computed_chunk(const Entry& at, const OfRow& of_row,
                                                             const Raw& chunk) const {
    const Source source(arguments);
    T x[width];
    widen<X, width>(chunk, x);
    if (at.column + width <= columns()) return chunk_of_row(source, at.column, of_row, x);
    Chunk<X, width> out;
    compute_rows(source, at, of_row, x, out);
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
};

/// Columns whose rows lie side by side. A lane computes `width` neighbouring rows in blocks of
/// `items` columns.
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

  explicit GradientColumnsKernel(const Arguments& arguments_)
      : arguments(arguments_),
        m_columns_of_lane(columns_of_lane()),
        m_lanes_of_row(divide_up(arguments.problem.columns, m_columns_of_lane)) {}

  /// The number of iterations of the range.
  std::int64_t iterations() const { return arguments.problem.rows / width * m_lanes_of_row; }

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    const std::int64_t chunks = neighbours() / width;
    const std::int64_t line = quotient(iteration, chunks);
    const std::int64_t group = quotient(line, m_lanes_of_row);
    const std::int64_t row = group * neighbours() + (iteration - line * chunks) * width;
    const std::int64_t first = (line - group * m_lanes_of_row) * m_columns_of_lane;
    compute(row, first, std::make_integer_sequence<int, width>{});
  }

  Arguments arguments;

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t neighbours() const {
    return arguments.problem.outer[arguments.problem.outer_rank - 1].extent;
  }
  /// Up to 32 columns, if they leave enough lanes to fill a GPU: a lane loads the numbers of its
  /// rows once. (Measured on an H200, which can have 270 336 lanes at one time.)
  std::int64_t columns_of_lane() const {
    constexpr std::int64_t enough_lanes = std::int64_t{1} << 19;
    const bool has_many = sizeof(X) == 2 || (arguments.has_labels() && width > 1);
    const std::int64_t most_blocks = has_many ? 4 : 2;
    const std::int64_t blocks = divide_up(arguments.problem.columns, std::int64_t{items});
    const std::int64_t blocks_of_all = arguments.problem.rows / width * blocks;
    return items * std::clamp<std::int64_t>(blocks_of_all / enough_lanes, 1, most_blocks);
  }

  template <int... k>
  KOKKOS_FORCEINLINE_FUNCTION void compute(std::int64_t row, std::int64_t first,
                                           std::integer_sequence<int, k...> each) const {
    const auto& problem = arguments.problem;
    const RowPointers<V> p = arguments.row(row);
    const X* x = p.x + first * problem.x_column_stride;
    X* dx = p.y + first * problem.y_column_stride;
    const std::int64_t rest = problem.columns - first;
    std::int64_t left = rest < m_columns_of_lane ? rest : m_columns_of_lane;
    Raw chunk[items];
    load_block(x, left, chunk);
    const OfRow of_row[width] = {OfRow(arguments, row + k)...};  // loaded together with the chunks
    std::int64_t column = first;
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    while (true) {
      compute_block(of_row, column, left, chunk, dx, each);
      if ((left -= items) <= 0) return;
      column += items;
      x += items * problem.x_column_stride;
      dx += items * problem.y_column_stride;
      load_block(x, left, chunk);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void load_block(const X* x, std::int64_t left,
                                              Raw (&chunk)[items]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (i < left)
        chunk[i] = *reinterpret_cast<const Raw*>(x + i * arguments.problem.x_column_stride);
  }

  template <int... k>
  KOKKOS_FORCEINLINE_FUNCTION void compute_block(const OfRow (&of_row)[width], std::int64_t column,
                                                 std::int64_t left, const Raw (&chunk)[items],
                                                 X* dx, std::integer_sequence<int, k...>) const {
    const Source source(arguments);
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

  std::int64_t m_columns_of_lane;
  std::int64_t m_lanes_of_row;  // the columns of a chunk of rows are divided among them
};

}  // namespace KokkosSoftmax::Impl

#endif
