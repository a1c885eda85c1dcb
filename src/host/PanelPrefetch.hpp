// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELPREFETCH_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELPREFETCH_HPP

/// \file
/// Prefetches for rows that lie side by side, in panels.

#include <host/Prefetch.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The column of a panel that lies some columns ahead of the one that is read. Behind the last
/// column, these are the first columns of the next panel, or of a later one if a panel has fewer
/// columns.
template <class X, std::int64_t panel_rows>
class ColumnAhead {
 public:
  KOKKOSSOFTMAX_HOST_FUNCTION ColumnAhead(const X* panel, std::int64_t columns,
                                          std::int64_t column_stride, std::int64_t ahead)
      : m_panel(panel + ahead / columns * panel_rows),
        m_left(columns - ahead % columns),
        m_column(m_panel + ahead % columns * column_stride),
        m_stride(column_stride) {}

  KOKKOSSOFTMAX_HOST_FUNCTION void begin_column() {
    if (m_left-- == 0) m_column = m_panel + panel_rows;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION const X* address() const { return m_column; }
  KOKKOSSOFTMAX_HOST_FUNCTION void end_column() { m_column += m_stride; }

 private:
  const X* m_panel;     // of m_column
  std::int64_t m_left;  // the number of columns of that panel that were not passed yet
  const X* m_column;
  std::int64_t m_stride;
};

/// Prefetches the columns of a panel of a few cache lines, ahead of those that are read.
///
/// \tparam vectors        of a panel
/// \tparam crosses_lines  whether vectors of x can lie in two cache lines
template <PrefetchTo level, class L, int vectors, bool crosses_lines, class X>
class PanelPrefetch {
 public:
  KOKKOSSOFTMAX_HOST_FUNCTION PanelPrefetch(const X* panel, std::int64_t columns,
                                            std::int64_t column_stride)
      : m_far(panel, columns, column_stride, columns_ahead),
        m_near(panel, columns, column_stride, near_columns_ahead) {}

  /// Before the prefetches of a column.
  KOKKOSSOFTMAX_HOST_FUNCTION void begin_column() {
    m_far.begin_column();
    if constexpr (twice) m_near.begin_column();
  }
  /// Prefetches the line that begins with vector k of the panel, if one does.
  KOKKOSSOFTMAX_HOST_FUNCTION void line_at(int k) const {
    if (k % vectors_of_line != 0) return;
    // the line of the last entry: that of the first one can have been read with the panel before
    const std::int64_t entry = (k + vectors_of_line) * L::width - 1;
    prefetch_far<level>(m_far.address() + entry, 0);
    if constexpr (twice) prefetch_at(m_near.address() + entry);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void end_column() {
    m_far.end_column();
    if constexpr (twice) m_near.end_column();
  }

 private:
  static constexpr std::int64_t rows = vectors * L::width;
  static constexpr int vectors_of_line =
      sizeof(typename L::V) < 64 ? 64 / sizeof(typename L::V) : 1;
  /// Panels of eight vectors have vectors of 32 or 16 bytes. For them, 12 was measured on AMD's
  /// Zen 3. For 16 vectors of 64 bytes, 3 was measured on Intel's Xeons (docs/trials.md).
  static constexpr std::int64_t columns_ahead =
      level == PrefetchTo::first_level ? 20 : (vectors > 8 ? 3 : (vectors > 4 ? 12 : 24));
  /// Lines that were prefetched to the second level are prefetched again, to the first level,
  /// shortly before they are read: loads of 64 bytes from two lines take much less time so on AMD's
  /// Zen 4. Loads of 32 bytes gain nothing (docs/trials.md).
  static constexpr bool twice =
      crosses_lines && level == PrefetchTo::second_level && sizeof(typename L::V) == 64;
  static constexpr std::int64_t near_columns_ahead = 4;

  ColumnAhead<X, rows> m_far;
  ColumnAhead<X, rows> m_near;
};

/// From a column of a wide panel to the one whose inputs are prefetched.
inline constexpr std::int64_t panel_inputs_ahead = 16;

struct PanelPlace {
  std::int64_t column;
  std::int64_t row;
};
/// What is prefetched while row r of column c of a wide panel is read: the same row of a later
/// column, or a row of the next panel.
KOKKOSSOFTMAX_HOST_FUNCTION PanelPlace place_ahead(std::int64_t c, std::int64_t r,
                                                   std::int64_t columns, std::int64_t rows) {
  const std::int64_t later = c + smaller(panel_inputs_ahead, columns);
  return later < columns ? PanelPlace{later, r} : PanelPlace{later - columns, r + rows};
}

/// From a column that is streamed to the one whose ends are prefetched. Streamed stores wait for
/// earlier ordinary stores, and an ordinary store waits for its line.
inline constexpr std::int64_t panel_ends_ahead = 4;

/// Prefetches the first and the last line of a column.
template <class X>
KOKKOSSOFTMAX_HOST_FUNCTION void prefetch_ends(const X* column, std::int64_t rows) {
  prefetch_at(column);
  prefetch_at(column + rows);
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
