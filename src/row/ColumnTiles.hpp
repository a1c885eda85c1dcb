// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_COLUMNTILES_HPP
#define KOKKOSSOFTMAX_SRC_ROW_COLUMNTILES_HPP

#include <row/NeighbourSource.hpp>
#include <row/TileOf.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

/// One tile per row of a lane, for entries that are loaded in chunks across the rows.
template <RowSource Source, class RowTile, int rows>
class TilesOfRows {
  using T = typename Source::Types::Compute;

 public:
  using X = typename Source::Types::X;
  using Row = typename RowTile::Row;
  static constexpr int items = RowTile::items;

  KOKKOS_FORCEINLINE_FUNCTION RowTile& operator[](int k) { return m_tile[k]; }
  KOKKOS_FORCEINLINE_FUNCTION const RowTile& operator[](int k) const { return m_tile[k]; }

  /// Takes chunks that are entries of all rows, one chunk per item.
  KOKKOS_FORCEINLINE_FUNCTION void take(const Source& source, const Row& row, std::int64_t first,
                                        int thread, const RawChunk<X, rows> (&chunk)[items]) {
    T entry[rows][items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      T of_rows[rows];
      widen<X, rows>(chunk[i], of_rows);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) entry[k][i] = of_rows[k];
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k)
      m_tile[k].take(source, RowTile::columns(source, row, first, thread), entry[k]);
  }

  /// Takes the values of the entries.
  KOKKOS_FORCEINLINE_FUNCTION void set_values(const T (&value)[rows][items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows; ++k) {
      typename RowTile::ValueChunk of_row[items];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i) of_row[i].entry[0] = value[k][i];
      m_tile[k].set_chunks(of_row);
    }
  }

 private:
  RowTile m_tile[rows];
};

/// The entries of some neighbouring rows in some columns, with one tile per row. The columns are
/// divided among the threads of the team. With AccessMode::vectors_across_rows one load takes an
/// entry of each row; otherwise the rows are loaded one by one.
template <RowSource Source, class Shape>
class ColumnTiles {
  using V = typename Source::Types;

 public:
  static constexpr bool in_chunks = Shape::access == AccessMode::vectors_across_rows;
  static constexpr int rows = in_chunks ? Shape::width : Shape::rows_per_thread;
  static constexpr int items = Shape::items;
  static_assert(Shape::width * Shape::rows_per_thread == rows, "rows in chunks, or rows apart");

  /// The number of rows that need a Row object of their own: only the first row of a chunk, or
  /// every row.
  static constexpr int slots = in_chunks ? 1 : rows;
  static constexpr Strides strides = slots == 1 ? Strides::any : Strides::any_opaque;
  using RowTile = TileOf<Source, items, 1, Shape::threads, AccessMode::scalar, strides>;
  static constexpr int chunks = RowTile::chunks;  // columns in the team's tile

 private:
  using SourceOfLane =
      std::conditional_t<in_chunks, typename SourceOfChunks<Source, rows>::type, Source>;
  using Slots =
      TileSlots<SourceOfLane, items, Shape::width, Shape::threads, Shape::access, Strides::any>;

 public:
  using Row = std::conditional_t<in_chunks, typename Slots::Row, typename RowTile::Row>;

  /// Loads the columns from `first` on.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments,
                                        const Row (&row)[slots], std::int64_t first, int thread) {
    if constexpr (in_chunks) {
      const SourceOfLane source(arguments);
      RawChunk<X, rows> chunk[items];
      Chunks::load_chunks(source, row[0], first, thread, chunk);
      take(source, row[0], first, thread, chunk);
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) m_tile[k].load(arguments, row[k], first, thread);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION RowTile& operator[](int k) { return m_tile[k]; }

  /// Stores map_of(k)(entry) for the entries that the tile of row k holds, where `load` has read
  /// them. `is_row(k)` tells whether row k exists.
  template <class MapOf, class IsRow>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row (&row)[slots], std::int64_t first, int thread,
                                         const MapOf& map_of, const IsRow& is_row) const {
    if constexpr (in_chunks) {
      if (is_row(0))
        store_chunks(row[0], first, thread, map_of, std::make_integer_sequence<int, rows>{});
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k)
        if (is_row(k)) m_tile[k].store(row[k], first, thread, map_of(k));
    }
  }

 private:
  using T = typename V::Compute;
  using X = typename V::X;
  using Y = typename V::Y;

  struct Chunks : Slots {
    using Slots::chunks_left;
    using Slots::holds;
    using Slots::load_chunks;
  };

  KOKKOS_FORCEINLINE_FUNCTION void take(const SourceOfLane& source, const Row& row,
                                        std::int64_t first, int thread,
                                        const RawChunk<X, rows> (&chunk)[items]) {
    if constexpr (knows_rows<Source>) {
      static_assert(!std::is_same_v<Source, SourceOfLane>, "only GeneralSource has such rows");
      const EntryColumns<Row, 1, Shape::threads> columns(
          row, first + thread, Chunks::chunks_left(row.read_end(source), first, thread));
      T value[rows][items];
      source.apply(columns, chunk, value);
      m_tile.set_values(value);
    } else {
      m_tile.take(source, row, first, thread, chunk);
    }
  }

  template <class MapOf, int... k>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(const Row& row, std::int64_t first, int thread,
                                                const MapOf& map_of,
                                                std::integer_sequence<int, k...>) const {
    const decltype(map_of(0)) map[] = {map_of(k)...};
    const int left = Chunks::chunks_left(row, first, thread);
    Y* p = row.y_chunk(first + thread);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += Shape::threads * row.y_stride) {
      const Chunk<Y, rows> out{{static_cast<Y>(map[k](m_tile[k].chunk(i).entry[0]))...}};
      if (Chunks::holds(i, left)) store_whole(reinterpret_cast<Chunk<Y, rows>*>(p), out);
    }
  }

  TilesOfRows<Source, RowTile, rows> m_tile;
};

}  // namespace KokkosSoftmax::Impl

#endif
