// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELPREFETCH_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELPREFETCH_HPP

/// \file
/// Prefetches for rows that lie side by side, in panels of a few cache lines.

#include <host/Prefetch.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Prefetches the columns of a panel, some columns ahead of those that are read. Behind the last
/// column, these are the first columns of the next panel, or of a later one if a panel has fewer
/// columns.
///
/// \tparam vectors  of a panel
template <PrefetchTo level, class L, int vectors, class X>
class PanelPrefetch {
 public:
  KOKKOSSOFTMAX_HOST_FUNCTION PanelPrefetch(const X* panel, std::int64_t columns,
                                            std::int64_t column_stride)
      : m_panel(panel + columns_ahead / columns * rows),
        m_left(columns - columns_ahead % columns),
        m_column(m_panel + columns_ahead % columns * column_stride),
        m_stride(column_stride) {}

  /// Before the prefetches of a column.
  KOKKOSSOFTMAX_HOST_FUNCTION void begin_column() {
    if (m_left-- == 0) m_column = m_panel + rows;
  }
  /// Prefetches the line that begins with vector k of the panel, if one does.
  KOKKOSSOFTMAX_HOST_FUNCTION void line_at(int k) const {
    // the line of the last entry: that of the first one can have been read with the panel before
    if (k % vectors_of_line == 0)
      prefetch_far<level>(m_column + (k + vectors_of_line) * L::width - 1, 0);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void end_column() { m_column += m_stride; }

 private:
  static constexpr std::int64_t rows = vectors * L::width;
  static constexpr int vectors_of_line =
      sizeof(typename L::V) < 64 ? 64 / sizeof(typename L::V) : 1;
  static constexpr std::int64_t columns_ahead = level == PrefetchTo::first_level ? 20 : 24;

  const X* m_panel;     // of the column that is prefetched
  std::int64_t m_left;  // the number of columns of that panel that aren't prefetched yet
  const X* m_column;
  std::int64_t m_stride;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
