// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROW_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROW_HPP

/// \file
/// A row and its division into chunks, head and tail.

#include <backend/AccessMode.hpp>
#include <row/Chunk.hpp>
#include <row/RowArgs.hpp>

namespace KokkosSoftmax::Impl {

/// The number of entries from p to the next address that is a multiple of `width` entries.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION int entries_to_alignment(const T* p, int width) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) / sizeof(T);
  return static_cast<int>((width - address % width) % width);
}

/// In AccessMode::peeled_vectors, the first chunk of a row begins at a multiple of this number of
/// entries: a cache line of 128 bytes, or the largest part of it that leaves one thread for each
/// peeled entry.
template <class T, int width>
constexpr int aligned_entries(int threads) {
  int entries = 128 / static_cast<int>(sizeof(T));
  while (entries > width && entries - 1 + width - 1 > threads) entries /= 2;
  return entries;
}

/// Which columns of the matrix a ChunkedRow has: all, or each step-th from `first` on. Nothing for
/// sources that don't ask for columns.
template <bool are_asked_for>
struct ColumnNumbers {
  KOKKOS_FORCEINLINE_FUNCTION void set(std::int64_t /*first*/, std::int64_t /*step*/) {}
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t i) const { return i; }
};
template <>
struct ColumnNumbers<true> {
  std::int64_t first = 0;
  std::int64_t step = 1;

  KOKKOS_FORCEINLINE_FUNCTION void set(std::int64_t first_, std::int64_t step_) {
    first = first_;
    step = step_;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t i) const {
    return first + step * i;
  }
};

/// A row, and its division into `head` single entries (up to the first aligned address), then
/// `chunks` chunks, then single entries up to the end (the tail). Head and tail are the peeled
/// entries.
template <class Source_, int width, AccessMode access, int alignment>
struct ChunkedRow {
  using Source = Source_;
  using V = typename Source::Types;
  using X = typename V::X;
  using Y = typename V::Y;
  static constexpr bool has_peeled_entries = access == AccessMode::peeled_vectors;
  static constexpr bool is_limited = limits_rows<Source>;
  static_assert(!is_limited || has_peeled_entries || access == AccessMode::scalar,
                "rows that end anywhere have a tail");

  const X* x;
  Y* y;
  std::int64_t x_stride;
  std::int64_t y_stride;
  std::int64_t columns;
  std::int64_t chunks;
  std::int64_t end;  // one past the last chunk of the part that is worked on; at most `chunks`
  int head = 0;
  bool wide_stores = true;  // y is written in whole chunks at constant distances
  [[no_unique_address]] ColumnNumbers<!Source::value_is_scaled_raw> numbers;
  std::int64_t number;
  [[no_unique_address]] SourceRow<Source> source_row;

  KOKKOS_FORCEINLINE_FUNCTION ChunkedRow(const ArgumentsOf<Source>& arguments, std::int64_t r)
      : ChunkedRow(arguments, r, arguments.row(r)) {}

  /// The same with the addresses of row r.
  KOKKOS_FORCEINLINE_FUNCTION ChunkedRow(const ArgumentsOf<Source>& arguments, std::int64_t r,
                                         const RowPointers<V>& p)
      : x_stride(access == AccessMode::scalar ? arguments.problem.x_column_stride : 1),
        y_stride(arguments.problem.y_column_stride),
        columns(columns_of(arguments, r)),
        number(r),
        source_row(arguments, r) {
    x = p.x;
    y = p.y;
    if constexpr (access == AccessMode::peeled_vectors) {
      const int to_alignment = entries_to_alignment(x, alignment);
      head = columns < to_alignment ? static_cast<int>(columns) : to_alignment;
      wide_stores = y_stride == 1 && entries_to_alignment(y + head, chunk_alignment<Y>(width)) == 0;
    }
    if constexpr (access == AccessMode::scalar) wide_stores = y_stride == 1;
    // without signs, it is a shift
    chunks = static_cast<std::int64_t>(static_cast<std::uint64_t>(columns - head) / width);
    end = chunks;
  }

  /// Ends the part that is worked on before chunk `last`, if there are as many chunks.
  KOKKOS_FORCEINLINE_FUNCTION void end_at(std::int64_t last) {
    if (last < chunks) end = last;
  }

  /// The column of the peeled entry that thread `thread_id` holds in addition to its chunks, or -1.
  /// The first threads hold the head. The threads after the longest possible head hold the tail.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t edge_column(int thread_id) const {
    constexpr int longest_head = alignment - 1;
    if (thread_id < head) return thread_id;
    const std::int64_t column = head + chunks * width + (thread_id - longest_head);
    return thread_id >= longest_head && column < columns ? column : -1;
  }

  /// The column of entry k of a chunk.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(std::int64_t chunk, int k) const {
    return numbers(head + chunk * width + k);
  }

  /// The number of entries of this row, from the first one on, whose columns are below `visible`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t entries_below(std::int64_t visible) const requires
      knows_rows<Source> {
    const std::int64_t left = visible - numbers.first;
    if (numbers.step == 1) return left > 0 ? left : 0;
    return left > 0 ? (left + numbers.step - 1) / numbers.step : 0;
  }

  /// Makes the columns up to number `last` chunks of a row that ends early, so that they are
  /// written. Those after the row's end aren't read.
  KOKKOS_FORCEINLINE_FUNCTION void cover(std::int64_t last) requires is_limited {
    static_assert(access == AccessMode::scalar, "other rows have a tail after the chunks");
    chunks = end = last;
  }

  /// One past the last chunk of which entries are read; at most `end`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t read_end([[maybe_unused]] const Source& source) const {
    if constexpr (knows_rows<Source>) {
      const std::int64_t visible = entries_below(source.visible_columns(source_row)) - head;
      const std::int64_t last = visible > 0 ? (visible + width - 1) / width : 0;
      return last < end ? last : end;
    } else if constexpr (is_limited && access == AccessMode::scalar) {
      return columns < end ? columns : end;
    } else {
      return end;
    }
  }

  /// The number of columns that count in row r.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t columns_of(const ArgumentsOf<Source>& arguments,
                                                             [[maybe_unused]] std::int64_t r) {
    if constexpr (limits_rows<Source>)
      return arguments.visible_columns(r);
    else
      return arguments.problem.columns;
  }

  KOKKOS_FORCEINLINE_FUNCTION const X* x_chunk(std::int64_t chunk) const {
    return x + (head + chunk * width) * x_stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Y* y_chunk(std::int64_t chunk) const {
    return y + (head + chunk * width) *
                   (access == AccessMode::peeled_vectors || access == AccessMode::scalar ? y_stride
                                                                                         : 1);
  }
};

/// The number of entries, at most `columns`, up to the last one that any of the rows reads.
template <class Row, int size>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t longest_read(
    [[maybe_unused]] const ArgumentsOf<typename Row::Source>& arguments,
    [[maybe_unused]] const Row (&row)[size], std::int64_t columns) {
  using Source = typename Row::Source;
  if constexpr (knows_rows<Source> || limits_rows<Source>) {
    const Source source(arguments);
    std::int64_t longest = 0;
    for (int k = 0; k < size; ++k) {
      const std::int64_t end = row[k].read_end(source);
      if (end > longest) longest = end;
    }
    return longest < columns ? longest : columns;
  } else {
    return columns;
  }
}

/// The columns of a thread's entries in a tile, for sources that ask for them. The thread's first
/// chunk is number `chunk`.
template <class Row, int width_, int threads>
class EntryColumns {
 public:
  static constexpr int width = width_;

  /// `chunks_left`: see TileSlots::chunks_left(), for the chunks that are read.
  KOKKOS_FORCEINLINE_FUNCTION EntryColumns(const Row& row, std::int64_t chunk, int chunks_left)
      : m_row(row), m_chunk(chunk), m_chunks_left(chunks_left) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(int j) const {
    return m_row.column(m_chunk + j / width * threads, j % width);
  }

  /// The distance of entry j from the thread's first entry in the row, in entries of the row.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr int offset(int j) {
    return j / width * threads * width + j % width;
  }

  /// The distance of neighbouring entries of the row, in columns.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t step() const { return m_row.numbers.step; }

  KOKKOS_FORCEINLINE_FUNCTION int chunks_left() const { return m_chunks_left; }
  /// Whether chunk i of the thread is read.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool holds(int i, int chunks_left) {
    return i * threads < chunks_left;
  }

  /// Entry j is in a chunk of the row and its column is below `visible` if offset(j) <
  /// left(visible).
  KOKKOS_FORCEINLINE_FUNCTION int left(std::int64_t visible) const {
    constexpr std::int64_t most = 1 << 30;
    const std::int64_t end = m_row.head + m_row.end * width;
    const std::int64_t last = m_row.entries_below(visible);
    const std::int64_t left = (last < end ? last : end) - (m_row.head + m_chunk * width);
    return static_cast<int>(left < 0 ? 0 : left > most ? most : left);
  }

  KOKKOS_FORCEINLINE_FUNCTION const auto& source_row() const { return m_row.source_row; }

 private:
  const Row& m_row;
  std::int64_t m_chunk;
  int m_chunks_left;
};

}  // namespace KokkosSoftmax::Impl

#endif
