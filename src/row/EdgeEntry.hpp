// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_EDGEENTRY_HPP
#define KOKKOSSOFTMAX_SRC_ROW_EDGEENTRY_HPP

/// \file
/// The single entries before and after the chunks of a row.

#include <row/Row.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Impl {

/// The peeled entry of a thread (see ChunkedRow), or none. It is loaded when the object is made, so
/// that the load overlaps with those of the thread's chunks.
template <class Source>
class EdgeEntry {
  using X = typename Source::Types::X;
  using T = typename Source::Types::Compute;

 public:
  /// `column` is that of the entry in the row; -1: none.
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION EdgeEntry(const Source& source, const Row& row, std::int64_t column)
      : m_x(source.padding()), m_column(row.numbers(column)) {
    if (column >= 0) m_x = row.x[column];
  }

  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION T value(const Source& source, const Row& /*row*/) const {
    return source.value(static_cast<T>(m_x), m_column);
  }

 private:
  X m_x;
  std::int64_t m_column;
};

/// The same for sources with two inputs per entry. The pair of a thread without an entry is zero.
template <class Source>
requires has_two_inputs<Source>
class EdgeEntry<Source> {
  using X = typename Source::Types::X;
  using T = typename Source::Types::Compute;

 public:
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION EdgeEntry(const Source& /*source*/, const Row& row,
                                        std::int64_t column)
      : m_is_entry(column >= 0) {
    if (!m_is_entry) return;
    m_x = row.x[column];
    m_second = row.source_row.dy[row.numbers(column) * row.source_row.stride];
  }

  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION auto value(const Source& source, const Row& /*row*/) const {
    using Pair = decltype(source.pair(T(0), T(0)));
    return m_is_entry ? source.pair(static_cast<T>(m_x), static_cast<T>(m_second))
                      : Pair{T(0), T(0)};
  }

 private:
  bool m_is_entry;
  X m_x{};
  X m_second{};
};

/// The same for sources that read more than x.
template <class Source>
requires knows_rows<Source>
class EdgeEntry<Source> {
  using T = typename Source::Types::Compute;

 public:
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION EdgeEntry(const Source& source, const Row& row, std::int64_t column)
      : m_takes_part(column >= 0 && row.numbers(column) < source.visible_columns(row.source_row)) {
    if (m_takes_part) m_entry = source.load(row.source_row, row.x[column], row.numbers(column));
  }

  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION T value(const Source& source, const Row& row) const {
    return m_takes_part ? source.value(row.source_row, m_entry)
                        : -Kokkos::Experimental::infinity_v<T>;
  }

 private:
  bool m_takes_part;
  typename Source::Entry m_entry{};
};

}  // namespace KokkosSoftmax::Impl

#endif
