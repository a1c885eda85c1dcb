// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TILE_HPP
#define KOKKOSSOFTMAX_SRC_TILE_HPP

/// \file
/// A tile: the part of a row that a group of threads holds in registers at one time, `items` chunks
/// of `width` neighbouring entries a thread, chunks dealt out to the threads in turn.

#include <ChunkedRow.hpp>
#include <Epilogue.hpp>

namespace KokkosSoftmax::Impl {

/// The entries one thread holds. `threads` threads share the tile, this one is number `rank`.
/// All arrays are indexed by constants once the loops are unrolled, so that they stay in registers.
/// Places without an entry hold -inf, which adds nothing to a sum.
/// `strided`: there is no code for neighbouring entries beside that for any stride.
template <class V, int items_, int width_, int threads_, Fill fill_, bool strided = false>
class Tile {
 public:
  using X = typename V::X;
  using Y = typename V::Y;
  using T = typename V::Compute;
  static constexpr int items = items_;
  static constexpr int width = width_;
  static constexpr int threads = threads_;
  static constexpr Fill fill = fill_;
  static constexpr int size = items * width;
  static constexpr int chunks = items * threads;  // in the whole tile
  static constexpr int chains = 4;                // of operations that don't wait for one another
  static_assert(fill != Fill::scalar || width == 1);
  static_assert(fill != Fill::edges || threads >= 2 * (width - 1), "an edge entry needs a thread");
  using Row = ChunkedRow<V, width, fill, aligned_entries<X, width>(threads)>;
  using Raw = RawChunk<X, width>;

  /// Loads the chunks from number `first` on; the edge belongs to the tile with chunk 0. `see` gets
  /// the chunks as they are in memory.
  template <class See>
  KOKKOS_FORCEINLINE_FUNCTION void load(const KernelArguments<V>& arguments, const Row& row,
                                        std::int64_t first, int rank, const See& see) {
    const int left = chunks_left(row, first, rank);
    const X* p = row.x_chunk(first + rank);
    Raw chunk[items];
    if (fill != Fill::scalar || (!strided && row.x_stride == 1))
      load_chunks(arguments, left, p, width, chunk);  // inlined: immediate offsets
    else
      load_chunks(arguments, left, p, row.x_stride, chunk);
    see(chunk);
    take(arguments, chunk);
    if constexpr (fill == Fill::edges) {
      const std::int64_t column = first == 0 ? row.edge_column(rank) : -1;
      if (column >= 0) m_edge = arguments.load(row.x[column]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const KernelArguments<V>& arguments, const Row& row,
                                        std::int64_t first, int rank) {
    load(arguments, row, first, rank, [](const Raw(&)[items]) {});
  }

  /// The same of chunks that have been loaded before, without an edge.
  KOKKOS_FORCEINLINE_FUNCTION void take(const KernelArguments<V>& arguments,
                                        const Raw (&chunk)[items]) {
    take_unscaled(chunk);
    scale(arguments.scale);
  }

  /// The same without a multiplication by 1: the branch, which would keep loads from memory from
  /// overlapping, does no harm where chunks come from scratch.
  KOKKOS_FORCEINLINE_FUNCTION void take_from_scratch(const KernelArguments<V>& arguments,
                                                     const Raw (&chunk)[items]) {
    take_unscaled(chunk);
    if (arguments.scale != T(1)) scale(arguments.scale);
  }

  /// For a place in the row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = -Kokkos::Experimental::infinity_v<T>;
    m_edge = -Kokkos::Experimental::infinity_v<T>;
  }

  /// What the tile holds of chunk i, to be parked elsewhere, and back again. The edge is lost.
  using Place = Chunk<T, width>;
  KOKKOS_FORCEINLINE_FUNCTION Place place(int i) const {
    Place place;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) place.entry[k] = m_value[i * width + k];
    return place;
  }
  KOKKOS_FORCEINLINE_FUNCTION void put(const Place (&places)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = places[j / width].entry[j % width];
    m_edge = T(0);
  }

  /// The largest entry, not less than `start`. NaN is passed over: it shows in the sum.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    if constexpr (fill == Fill::edges) start = larger(start, m_edge);
    T partial[chains] = {start, start, start, start};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) partial[j % chains] = larger(partial[j % chains], m_value[j]);
    return larger(larger(partial[0], partial[1]), larger(partial[2], partial[3]));
  }

  /// The sum of exp(entry); with `keep` the terms take the entries' places.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) {
    T partial[chains] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) {
      const T weight = exp(m_value[j]);
      if constexpr (keep) m_value[j] = weight;
      partial[j % chains] += weight;
    }
    if constexpr (fill == Fill::edges) {
      T weight = T(0);
      // only the first few warps can have one: the others skip the exponential
      if (m_edge != -Kokkos::Experimental::infinity_v<T>) weight = exp(m_edge);
      if constexpr (keep) m_edge = weight;
      partial[0] += weight;
    }
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
  }

  /// Stores map(what the tile holds) in the places that `load` with the same arguments has read.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int rank,
                                         const Map& map) const {
    const int left = chunks_left(row, first, rank);
    Y* p = row.y_chunk(first + rank);
    if (fill == Fill::exact || fill == Fill::guarded || (!strided && row.wide_stores))
      store_chunks(left, p, map);
    else
      store_entries(left, p, row.y_stride, map);
    if constexpr (fill == Fill::edges) {
      const std::int64_t column = first == 0 ? row.edge_column(rank) : -1;
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge));
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void take_unscaled(const Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) widen<X, width>(chunk[i], m_value + i * width);
    m_edge = -Kokkos::Experimental::infinity_v<T>;
  }

  KOKKOS_FORCEINLINE_FUNCTION void scale(T factor) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = factor * m_value[j];
  }

  /// The chunks of the thread are `threads * distance` apart. The pointer moves on outside of the
  /// guards, so that these guard a load alone and become predicates.
  template <class Distance>
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunks(const KernelArguments<V>& arguments, int left,
                                                      const X* p, Distance distance,
                                                      Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * distance) {
      chunk[i] = raw_chunk_of<X, width>(arguments.nothing);
      if (holds(i, left)) chunk[i] = *reinterpret_cast<const Raw*>(p);
    }
  }

  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(int left, Y* p, const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!holds(i, left)) continue;
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(map(m_value[i * width + k]));
      store_whole(reinterpret_cast<Chunk<Y, width>*>(p) + i * threads, out);
    }
  }

  /// The same one by one, for a y that is strided or aligned in another way than x.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_entries(int left, Y* p, std::int64_t stride,
                                                 const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * width * stride) {
      Y out[width];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out[k] = static_cast<Y>(map(m_value[i * width + k]));
      if (!holds(i, left)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) p[k * stride] = out[k];
    }
  }

  /// Chunk i of this thread is there where i * threads < chunks_left.
  KOKKOS_FORCEINLINE_FUNCTION static int chunks_left(const Row& row, std::int64_t first, int rank) {
    const std::int64_t left = row.end - first;
    return static_cast<int>(left < chunks ? left : chunks) - rank;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool holds(int i, int left) {
    return fill == Fill::exact || i * threads < left;
  }

  T m_value[size];
  T m_edge;
};

/// The tile of a team.
template <class V, class Shape>
using TeamTile = Tile<V, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::fill>;

/// The end of a row whose tile is still there: its share of the row, or the row's one value in the
/// thread that is `first`.
template <class Share, class Output>
KOKKOS_FORCEINLINE_FUNCTION void write_share(const Share& share, const typename Share::Row& row,
                                             int rank, bool first, const Output& output) {
  if constexpr (Output::one_value_a_row) {
    if (first) *row.y = static_cast<typename Share::Y>(output.value);
  } else {
    share.store(row, 0, rank, output);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
