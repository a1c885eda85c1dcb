// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_NEIGHBOURPAIRS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_NEIGHBOURPAIRS_HPP

#include <row/TileSlots.hpp>

namespace KokkosSoftmax::Impl {

/// The entries of some neighbouring rows in some columns, for a source with two inputs whose
/// entries a lane loads in chunks across the rows (AccessMode::vectors_across_rows). The columns
/// are divided among the threads of the team, as by ColumnTiles.
///
/// The inputs are kept as they are in memory, and an EntryPair is computed each time that it is
/// needed: pairs of half types would take twice as many registers.
template <RowSource Source_, class Shape>
class NeighbourPairs
    : TileSlots<Source_, Shape::items, Shape::width, Shape::threads, Shape::access, Strides::any> {
  using Slots =
      TileSlots<Source_, Shape::items, Shape::width, Shape::threads, Shape::access, Strides::any>;
  using typename Slots::Raw;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;

 public:
  using Source = Source_;
  using typename Slots::Row;
  static constexpr bool in_chunks = true;
  static constexpr int rows = Shape::width;
  static constexpr int slots = 1;
  static constexpr int items = Shape::items;
  static constexpr int chunks = Slots::chunks;  // columns in the team's tile
  static_assert(Shape::rows_per_thread == 1, "the rows of a lane are neighbours");

  /// The entries of one of the rows: what reduce_tile() needs of a tile.
  class RowTile {
   public:
    using Source = Source_;

    KOKKOS_FORCEINLINE_FUNCTION RowTile(const NeighbourPairs& tiles, int k)
        : m_tiles(tiles), m_k(k) {}

    /// The terms have no reference, so that there is no maximum to find.
    KOKKOS_FORCEINLINE_FUNCTION T max(T start) const { return start; }

    /// The sum of t.
    template <bool keep, class Exp>
    KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp&) const {
      return m_tiles.sum_of_row(m_k);
    }

   private:
    const NeighbourPairs& m_tiles;
    int m_k;
  };

  KOKKOS_FORCEINLINE_FUNCTION RowTile operator[](int k) const { return RowTile(*this, k); }

  /// Loads the columns from `first` on.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments,
                                        const Row (&row)[slots], std::int64_t first, int thread) {
    m_arguments = &arguments;
    const Source source(arguments);
    Slots::load_chunks(source, row[0], first, thread, m_first);
    load_second(source, row[0], first, thread);
  }

  /// Stores map_of(k)(p, t) for the entries of each row k, in the places from which `load` with the
  /// same arguments has read. `is_row(0)` tells whether the rows exist.
  template <class MapOf, class IsRow>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row (&row)[slots], std::int64_t first, int thread,
                                         const MapOf& map_of, const IsRow& is_row) const {
    if (!is_row(0)) return;
    const int left = Slots::chunks_left(row[0], first, thread);
    Y* p = row[0].y_chunk(first + thread);
    Source(*m_arguments).with_pair([&](const auto& pair_of) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i, p += Shape::threads * row[0].y_stride) {
        T y[rows], dy[rows];
        widen_chunk(i, y, dy);
        Chunk<Y, rows> out;
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < rows; ++k) {
          const auto pair = pair_of(y[k], dy[k]);
          out.entry[k] = static_cast<Y>(map_of(k)(pair.p, pair.t));
        }
        if (Slots::holds(i, left)) store_whole(reinterpret_cast<Chunk<Y, rows>*>(p), out);
      }
    });
  }

 private:
  /// The second input of the chunks that load_chunks() loads.
  KOKKOS_FORCEINLINE_FUNCTION void load_second(const Source& source, const Row& row,
                                               std::int64_t first, int thread) {
    const int left = Slots::chunks_left(row, first, thread);
    const std::int64_t stride = row.source_row.stride;
    const X* p = row.source_row.dy + row.column(first + thread, 0) * stride;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += Shape::threads * row.numbers.step * stride) {
      m_second[i] = raw_chunk_of<X, rows>(source.padding());
      if (Slots::holds(i, left)) m_second[i] = *reinterpret_cast<const Raw*>(p);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION T sum_of_row(int k) const {
    T partial[accumulators] = {};
    Source(*m_arguments).with_pair([&](const auto& pair_of) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i) {
        T y[rows], dy[rows];
        widen_chunk(i, y, dy);
        partial[i % accumulators] += pair_of(y[k], dy[k]).t;
      }
    });
    return sum_of_partials(partial);
  }

  KOKKOS_FORCEINLINE_FUNCTION void widen_chunk(int i, T (&y)[rows], T (&dy)[rows]) const {
    widen<X, rows>(m_first[i], y);
    widen<X, rows>(m_second[i], dy);
  }

  const ArgumentsOf<Source>* m_arguments;
  Raw m_first[items];
  Raw m_second[items];
};

}  // namespace KokkosSoftmax::Impl

#endif
