// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TILE_HPP
#define KOKKOSSOFTMAX_SRC_TILE_HPP

/// \file
/// A tile: the part of a row that a group of threads holds in registers at one time, `items` chunks
/// of `width` neighbouring entries a thread, chunks dealt out to the threads in turn.

#include <Epilogue.hpp>
#include <Fill.hpp>
#include <KernelArguments.hpp>
#include <type_traits>

// Only fully unrolled loops let a compiler keep an array in registers.
#if defined(__CUDA_ARCH__) || defined(__HIPCC__) || defined(__clang__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("unroll")
#elif defined(__GNUC__) && !defined(__CUDACC__)
#define KOKKOSSOFTMAX_IMPL_UNROLL _Pragma("GCC unroll 128")
#else
#define KOKKOSSOFTMAX_IMPL_UNROLL
#endif

namespace KokkosSoftmax::Impl {

/// Entries of T in a 16-byte load, the widest there is on today's GPUs.
template <class T>
inline constexpr int widest = 16 / static_cast<int>(sizeof(T));

/// Of how many entries the address of a chunk of `width` entries of T must be a multiple.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr int chunk_alignment(int width) {
  return width < widest<T> ? width : widest<T>;
}

/// `width` entries that move in one load or store, or in as few as there can be.
template <class T, int width>
struct alignas(sizeof(T) * chunk_alignment<T>(width)) Chunk {
  T entry[width];
};

template <class T>
KOKKOS_FORCEINLINE_FUNCTION int entries_to_alignment(const T* p, int width) {
  const auto address = reinterpret_cast<std::uintptr_t>(p) / sizeof(T);
  return static_cast<int>((width - address % width) % width);
}

/// The entries to whose multiple chunks are aligned in Fill::edges: a cache line, or as much of it
/// as leaves each entry of the edges a thread.
template <class T, int width>
constexpr int aligned_entries(int threads) {
  int entries = 128 / static_cast<int>(sizeof(T));
  while (entries > width && entries - 1 + width - 1 > threads) entries /= 2;
  return entries;
}

/// A row, and how its entries fall into chunks: `head` single entries, then `chunks` chunks, then
/// single entries to the end.
template <class V, int width, Fill fill, int alignment>
struct ChunkedRow {
  using X = typename V::X;
  using Y = typename V::Y;

  const X* x;
  Y* y;
  std::int64_t x_stride;
  std::int64_t y_stride;
  std::int64_t columns;
  std::int64_t chunks;
  std::int64_t end;  // the chunk where the part of the row ends that is worked on; `chunks` or less
  int head = 0;
  bool wide_stores = true;  // whole chunks, at addresses known relative to each other

  KOKKOS_FORCEINLINE_FUNCTION ChunkedRow(const KernelArguments<V>& arguments, std::int64_t r)
      : ChunkedRow(arguments, arguments.row(r)) {}

  KOKKOS_FORCEINLINE_FUNCTION ChunkedRow(const KernelArguments<V>& arguments,
                                         const RowPointers<V>& p)
      : x_stride(fill == Fill::scalar ? arguments.problem.x_column_stride : 1),
        y_stride(arguments.problem.y_column_stride),
        columns(arguments.problem.columns) {
    x = p.x;
    y = p.y;
    if constexpr (fill == Fill::edges) {
      const int to_alignment = entries_to_alignment(x, alignment);
      head = columns < to_alignment ? static_cast<int>(columns) : to_alignment;
      wide_stores = y_stride == 1 && entries_to_alignment(y + head, chunk_alignment<Y>(width)) == 0;
    }
    if constexpr (fill == Fill::scalar) wide_stores = y_stride == 1;
    chunks = (columns - head) / width;
    end = chunks;
  }

  /// The entry that thread `rank` holds beside its chunks, or -1: the head goes to the first
  /// threads, the tail to the ones behind the longest possible head.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t edge_column(int rank) const {
    constexpr int longest_head = alignment - 1;
    if (rank < head) return rank;
    const std::int64_t column = head + chunks * width + (rank - longest_head);
    return rank >= longest_head && column < columns ? column : -1;
  }

  KOKKOS_FORCEINLINE_FUNCTION const X* x_chunk(std::int64_t chunk) const {
    return x + (head + chunk * width) * x_stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION Y* y_chunk(std::int64_t chunk) const {
    return y +
           (head + chunk * width) * (fill == Fill::edges || fill == Fill::scalar ? y_stride : 1);
  }
};

/// The entries one thread holds. `threads` threads share the tile, this one is number `rank`.
/// All arrays are indexed by constants once the loops are unrolled, so that they stay in registers.
/// Places without an entry hold -inf, which adds nothing to a sum.
template <class V, int items_, int width_, int threads_, Fill fill_>
struct Tile {
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
  using Row = ChunkedRow<V, width, fill, aligned_entries<typename V::X, width>(threads)>;

  T value[size];
  T edge;

  /// Loads the chunks from number `first` on; the edge belongs to the tile with chunk 0.
  KOKKOS_FORCEINLINE_FUNCTION void load(const KernelArguments<V>& arguments, const Row& row,
                                        std::int64_t first, int rank) {
    const int left = chunks_left(row, first, rank);
    const X* p = row.x_chunk(first + rank);
    if (fill != Fill::scalar || row.x_stride == 1)
      load_chunks(arguments, left, p, width);  // inlined: immediate offsets
    else
      load_chunks(arguments, left, p, row.x_stride);
    edge = static_cast<T>(arguments.nothing);
    if constexpr (fill == Fill::edges) {
      const std::int64_t column = first == 0 ? row.edge_column(rank) : -1;
      if (column >= 0) edge = static_cast<T>(row.x[column]);
      edge = arguments.scale * edge;
    }
  }

  /// For a place in the row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) value[j] = -Kokkos::Experimental::infinity_v<T>;
    edge = -Kokkos::Experimental::infinity_v<T>;
  }

  /// The largest entry, not less than `start`. NaN is passed over: it shows in the sum.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    if constexpr (fill == Fill::edges) start = larger(start, edge);
    T partial[chains] = {start, start, start, start};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) partial[j % chains] = larger(partial[j % chains], value[j]);
    return larger(larger(partial[0], partial[1]), larger(partial[2], partial[3]));
  }

  /// The sum of exp(entry); with `keep` the terms take the entries' places.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) {
    T partial[chains] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) {
      const T weight = exp(value[j]);
      if constexpr (keep) value[j] = weight;
      partial[j % chains] += weight;
    }
    if constexpr (fill == Fill::edges) {
      T weight = T(0);
      // only the first few warps can have one: the others skip the exponential
      if (edge != -Kokkos::Experimental::infinity_v<T>) weight = exp(edge);
      if constexpr (keep) edge = weight;
      partial[0] += weight;
    }
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
  }

  /// Stores map(entry) in the places that `load` with the same arguments has read.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int rank,
                                         const Map& map) const {
    const int left = chunks_left(row, first, rank);
    Y* p = row.y_chunk(first + rank);
    if (fill == Fill::exact || fill == Fill::guarded || row.wide_stores)
      store_chunks(left, p, map);
    else
      store_entries(left, p, row.y_stride, map);
    if constexpr (fill == Fill::edges) {
      const std::int64_t column = first == 0 ? row.edge_column(rank) : -1;
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(edge));
    }
  }

 private:
  /// Chunk i of the thread is at p + i * threads * distance.
  template <class Distance>
  KOKKOS_FORCEINLINE_FUNCTION void load_chunks(const KernelArguments<V>& arguments, int left,
                                               const X* p, Distance distance) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      Chunk<X, width> chunk;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) chunk.entry[k] = arguments.nothing;
      if (holds(i, left))
        chunk = *reinterpret_cast<const Chunk<X, width>*>(p + i * threads * distance);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) value[i * width + k] = static_cast<T>(chunk.entry[k]);
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) value[j] = arguments.scale * value[j];
  }

  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(int left, Y* p, const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!holds(i, left)) continue;
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(map(value[i * width + k]));
      reinterpret_cast<Chunk<Y, width>*>(p)[i * threads] = out;
    }
  }

  /// The same one by one, for a y that is strided or aligned in another way than x.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_entries(int left, Y* p, std::int64_t stride,
                                                 const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!holds(i, left)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        p[(i * threads * width + k) * stride] = static_cast<Y>(map(value[i * width + k]));
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
};

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
