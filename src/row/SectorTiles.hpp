// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_SECTORTILES_HPP
#define KOKKOSSOFTMAX_SRC_ROW_SECTORTILES_HPP

#include <row/SectorPanel.hpp>
#include <row/TileOf.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

/// Like ColumnTiles, for AccessMode::whole_sectors: the rows of a lane are `Shape::lanes` rows
/// apart in memory, so that one pointer serves them all.
template <RowSource Source, class Shape>
class SectorTiles {
  using V = typename Source::Types;

 public:
  static constexpr int rows = Shape::rows_per_thread;
  static constexpr int items = Shape::items;
  static constexpr int slots = 1;
  static constexpr bool in_chunks = false;
  using RowTile = TileOf<Source, items, 1, Shape::threads, AccessMode::scalar, Strides::any_opaque>;
  using Row = typename RowTile::Row;
  using Panel = SectorPanel<typename V::Y>;
  static constexpr int chunks = RowTile::chunks;  // columns in the team's tile
  static_assert(Shape::width == 1);
  static_assert(!Row::is_limited || rows == 1, "each row ends elsewhere");

  /// `index` is the number of the lane's first row, `row`, in the panel.
  KOKKOS_FORCEINLINE_FUNCTION SectorTiles(const Panel& panel, int index)
      : m_panel(panel), m_index(index) {}

  /// Loads the columns from `first` on, of the rows that exist.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments,
                                        const Row (&of_lane)[slots], std::int64_t first,
                                        int thread) {
    const Row& row = of_lane[0];
    const Source source(arguments);
    int left[rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) left[k] = left_of(row.read_end(source), first, thread, k);
    X entry[rows][items];
    const X* p = row.x_chunk(first + thread);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += Shape::threads * row.x_stride) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) {
        entry[k][i] = source.padding();
        if (Slots::holds(i, left[k])) entry[k][i] = p[k * Shape::lanes];
      }
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) take(source, row, first, thread, entry[k], m_tile[k]);
  }

  KOKKOS_FORCEINLINE_FUNCTION RowTile& operator[](int k) { return m_tile[k]; }

  /// Stores map_of(k)(entry) for the entries that the team writes. The stores of a column follow
  /// one another, because they can be to parts of one sector. The panel tells which rows exist.
  template <class MapOf, class IsRow>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row (&row)[slots], std::int64_t first, int thread,
                                         const MapOf& map_of, const IsRow& /*is_row*/) const {
    store(row[0], first, thread, map_of, std::make_integer_sequence<int, rows>{});
  }

 private:
  using T = typename V::Compute;
  using X = typename V::X;
  using Y = typename V::Y;

  struct Slots : RowTile {
    using RowTile::chunks_left;
    using RowTile::holds;
  };

  /// See TileSlots::chunks_left(); for row k of the lane, 0 if it doesn't exist.
  KOKKOS_FORCEINLINE_FUNCTION int left_of(std::int64_t end, std::int64_t first, int thread,
                                          int k) const {
    return m_index + k * Shape::lanes < m_panel.rows() ? Slots::chunks_left(end, first, thread) : 0;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void take(const Source& source, const Row& row,
                                               std::int64_t first, int thread,
                                               const X (&entry)[items], RowTile& tile) {
    T value[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) value[i] = static_cast<T>(entry[i]);
    tile.take(source, RowTile::columns(source, row, first, thread), value);
  }

  template <class MapOf, int... k>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread,
                                         const MapOf& map_of,
                                         std::integer_sequence<int, k...>) const {
    const decltype(map_of(0)) map[] = {map_of(k)...};
    const int left[] = {left_of(row.end, first, thread, k)...};
    Y* p = row.y_chunk(first + thread);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += Shape::threads * row.y_stride) {
      const auto written = m_panel.written(p, m_index);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int q = 0; q < rows; ++q) {
        const Y out = static_cast<Y>(map[q](m_tile[q].chunk(i).entry[0]));
        if (Slots::holds(i, left[q]) && is_in(written, q)) p[q * Shape::lanes] = out;
      }
    }
  }

  /// Whether row k of the lane is one of those that are written. Most rows are too far from the
  /// borders of the panel to be others.
  KOKKOS_FORCEINLINE_FUNCTION bool is_in(const typename Panel::Written& written, int k) const {
    const bool near_begin = k * Shape::lanes < Panel::sector - 1;
    const bool near_end = (rows - 1 - k) * Shape::lanes < Panel::sector;
    const int index = m_index + k * Shape::lanes;
    return (!near_begin || index >= written.begin) && (!near_end || index < written.end);
  }

  const Panel& m_panel;
  int m_index;
  RowTile m_tile[rows];
};

}  // namespace KokkosSoftmax::Impl

#endif
