// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ROWWRITER_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ROWWRITER_HPP

#include <host/RowEntries.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The number of elements from p to the next multiple of 64 bytes.
template <class T>
KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t to_cache_line(const T* p) {
  return static_cast<std::int64_t>((-reinterpret_cast<std::uintptr_t>(p) & 63) / sizeof(T));
}

/// Whether rows are whole cache lines: y is that of the first one, `stride` leads to the next one.
template <class T>
KOKKOSSOFTMAX_HOST_FUNCTION bool are_whole_lines(const T* y, std::int64_t stride,
                                                 std::int64_t columns) {
  constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(T));
  return stride % line == 0 && columns % line == 0 && to_cache_line(y) == 0;
}

/// How the columns of a row before and behind the vectors that are whole cache lines are written.
enum class RowEnds {
  stored,
  /// Past the caches, too: for rows that are written one right after the other, so that the
  /// processor joins the end of one with the begin of the next.
  streamed,
  /// There are none: a row is whole vectors, or whole cache lines if it is streamed.
  none
};

/// Writes a row: y[c] = output(entry of column c). Whole cache lines are written past the caches if
/// `streams`.
template <bool m_streams, class L, class Y, class Entries, class Output,
          RowEnds m_ends = RowEnds::stored>
class RowWriter {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION RowWriter(Y* y, std::int64_t columns, const Entries& entries,
                                        const Output& output)
      : m_y(y), m_columns(columns), m_entries(entries), m_output(output) {}

  /// Writes the columns that aren't written.
  KOKKOSSOFTMAX_HOST_FUNCTION void write_rest() {
    begin();
    for (std::int64_t n = whole_vectors(); n > 0; --n) write_vector();
    if constexpr (m_ends != RowEnds::none) write_some(m_columns - m_column);
  }

  /// Writes the columns before the first whole vector.
  KOKKOSSOFTMAX_HOST_FUNCTION void begin() {
    if (m_ends != RowEnds::none && m_streams && m_column == 0)
      write_some(smaller(to_cache_line(m_y), m_columns));
  }
  /// The number of vectors that are left, after begin(). Write two of them at a time if two make a
  /// cache line, and so on.
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t whole_vectors() const {
    constexpr int line = 64 / static_cast<int>(sizeof(Y));
    constexpr bool in_lines = m_streams && m_ends != RowEnds::none && line > L::width;
    constexpr int step = in_lines ? line : L::width;
    return (m_columns - m_column) / step * (step / L::width);
  }
  /// Where the next vector is written.
  KOKKOSSOFTMAX_HOST_FUNCTION const Y* next() const { return m_y + m_column; }
  KOKKOSSOFTMAX_HOST_FUNCTION void write_vector() {
    const V v = m_output(m_entries.at(m_column));
    if constexpr (m_streams)
      L::stream_to(m_y + m_column, v);
    else
      L::store(m_y + m_column, v);
    m_column += L::width;
  }

 private:
  /// Writes fewer columns than a cache line has.
  KOKKOSSOFTMAX_HOST_FUNCTION void write_some(std::int64_t columns) {
    while (columns > 0) {
      const int n = static_cast<int>(smaller(columns, L::width));
      const FirstElements<T, L::width> some(n);
      const V v = m_output(m_entries.first(m_column, some));
      if constexpr (m_streams && m_ends == RowEnds::streamed)
        some.stream_to(m_y + m_column, v);
      else if constexpr (m_streams)
        some.store_in_parts(m_y + m_column, v);
      else
        some.store(m_y + m_column, v);
      m_column += n;
      columns -= n;
    }
  }

  Y* m_y;
  std::int64_t m_columns;
  std::int64_t m_column = 0;
  Entries m_entries;
  Output m_output;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
