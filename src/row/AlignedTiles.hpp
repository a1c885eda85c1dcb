// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ALIGNEDTILES_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ALIGNEDTILES_HPP

#include <row/ColumnTiles.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

/// Like ColumnTiles, for AccessMode::phase_vectors: a lane has `width` neighbouring rows. One load
/// takes an entry of each of them if all exist and are aligned. The columns of a team are aligned
/// in the same way, so that this holds for all columns of a lane or for none. `Panel` has the rows
/// of the team, see ColumnTeam.
template <RowSource Source, class Shape, class Panel>
class AlignedTiles {
  using V = typename Source::Types;

 public:
  static constexpr int rows = Shape::width;
  static constexpr int items = Shape::items;
  static constexpr int slots = 1;
  static constexpr bool in_chunks = true;
  using RowTile = TileOf<Source, items, 1, Shape::threads, AccessMode::scalar, Strides::any>;
  using Row = typename RowTile::Row;
  static constexpr int chunks = RowTile::chunks;  // columns in the team's tile
  static_assert(Shape::rows_per_thread == 1);
  static_assert(!has_row<Source>, "the tile of a row takes entries that are loaded already");

  /// `index` is the number of the lane's first row in the panel.
  KOKKOS_FORCEINLINE_FUNCTION AlignedTiles(const Panel& panel, int index)
      : m_panel(panel), m_index(index) {}

  /// Loads the columns from `first` on, of the rows that exist.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments,
                                        const Row (&of_lane)[slots], std::int64_t first,
                                        int thread) {
    const Row& row = of_lane[0];
    const Source source(arguments);
    const int left = Slots::chunks_left(row, first, thread);
    const X* const p = row.x_chunk(first + thread);
    Raw chunk[items];
    if (is_whole(p, row.x_stride))
      load_whole(source, left, p, row.x_stride, chunk);
    else
      load_entries(source, left, p, row.x_stride, chunk);
    m_tile.take(source, row, first, thread, chunk);
  }

  KOKKOS_FORCEINLINE_FUNCTION RowTile& operator[](int k) { return m_tile[k]; }

  /// Stores map_of(k)(entry) for the entries that `load` has read. The panel tells which rows
  /// exist.
  template <class MapOf, class IsRow>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row (&row)[slots], std::int64_t first, int thread,
                                         const MapOf& map_of, const IsRow& /*is_row*/) const {
    store(row[0], first, thread, map_of, std::make_integer_sequence<int, rows>{});
  }

 private:
  using X = typename V::X;
  using Y = typename V::Y;
  using Raw = RawChunk<X, rows>;
  using Out = Chunk<Y, rows>;

  struct Slots : RowTile {
    using RowTile::chunks_left;
    using RowTile::holds;
  };

  KOKKOS_FORCEINLINE_FUNCTION bool has_row(int k) const { return m_panel.is_row(m_index + k); }

  /// Whether the lane moves whole chunks at p, at distances of `stride` entries.
  template <class Entry>
  KOKKOS_FORCEINLINE_FUNCTION bool is_whole(const Entry* p, std::int64_t stride) const {
    constexpr std::uint64_t alignment = alignof(Chunk<Entry, rows>);
    const auto offsets =
        reinterpret_cast<std::uintptr_t>(p) | static_cast<std::uint64_t>(stride) * sizeof(Entry);
    return offsets % alignment == 0 && has_row(0) && has_row(rows - 1);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void load_whole(const Source& source, int left, const X* p,
                                                     std::int64_t stride, Raw (&chunk)[items]) {
    const std::int64_t step = Shape::threads * stride;
    if (Slots::holds(items - 1, left)) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i, p += step) chunk[i] = *reinterpret_cast<const Raw*>(p);
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i, p += step) {
        chunk[i] = raw_chunk_of<X, rows>(source.padding());
        if (Slots::holds(i, left)) chunk[i] = *reinterpret_cast<const Raw*>(p);
      }
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void load_entries(const Source& source, int left, const X* p,
                                                std::int64_t stride, Raw (&chunk)[items]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += Shape::threads * stride) {
      Chunk<X, rows> entries;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) {
        entries.entry[k] = source.padding();
        if (has_row(k) && Slots::holds(i, left)) entries.entry[k] = p[k];
      }
      chunk[i] = Kokkos::bit_cast<Raw>(entries);
    }
  }

  template <class MapOf, int... k>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread,
                                         const MapOf& map_of,
                                         std::integer_sequence<int, k...>) const {
    const decltype(map_of(0)) map[] = {map_of(k)...};
    const int left = Slots::chunks_left(row, first, thread);
    Y* p = row.y_chunk(first + thread);
    const std::int64_t step = Shape::threads * row.y_stride;
    Out out[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      out[i] = {{static_cast<Y>(map[k](m_tile[k].chunk(i).entry[0]))...}};
    if (is_whole(p, row.y_stride)) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i, p += step)
        if (Slots::holds(i, left)) store_whole(reinterpret_cast<Out*>(p), out[i]);
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i, p += step) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int q = 0; q < rows; ++q)
          if (has_row(q) && Slots::holds(i, left)) p[q] = out[i].entry[q];
      }
    }
  }

  const Panel& m_panel;
  int m_index;
  TilesOfRows<Source, RowTile, rows> m_tile;
};

}  // namespace KokkosSoftmax::Impl

#endif
