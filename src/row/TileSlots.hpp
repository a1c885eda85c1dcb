// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_TILESLOTS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_TILESLOTS_HPP

/// \file
/// A tile: the part of a row that a group of threads holds in registers at one time, `items` chunks
/// of `width` neighbouring entries a thread, chunks dealt out to the threads in turn.

#include <numerics/Exp.hpp>
#include <row/Row.hpp>

namespace KokkosSoftmax::Impl {

/// What a tile expects of the distance between columns.
enum class Strides {
  one_or_any,  ///< neighbouring entries have code of their own
  any,
  any_opaque  ///< and nvcc isn't to see the pointers of entries of two bytes: where such a tile is
              ///< one of several, it would find each by as many additions as there are items before
};

/// Where the entries of one thread are, and how they are read. `threads` threads share the tile,
/// this one is number `thread_id`. All arrays are indexed by constants once the loops are unrolled,
/// so that they stay in registers.
template <class V, int items_, int width_, int threads_, AccessMode access_, Strides strides>
class TileSlots {
 public:
  using X = typename V::X;
  using Y = typename V::Y;
  using T = typename V::Compute;
  static constexpr int items = items_;
  static constexpr int width = width_;
  static constexpr int threads = threads_;
  static constexpr AccessMode access = access_;
  static constexpr int size = items * width;      // entries of a thread
  static constexpr int chunks = items * threads;  // in the whole tile
  static_assert(access != AccessMode::scalar || width == 1);
  static_assert(access != AccessMode::peeled_vectors || threads >= 2 * (width - 1),
                "an edge entry needs a thread");
  template <int row_width, AccessMode row_access>
  using RowOf = ChunkedRow<V, row_width, row_access, aligned_entries<X, row_width>(threads)>;
  /// A chunk across rows is one entry of each of them.
  using Row = std::conditional_t<access == AccessMode::vectors_across_rows,
                                 RowOf<1, AccessMode::scalar>, RowOf<width, access>>;
  using Raw = RawChunk<X, width>;

 protected:
  template <class Entry>
  static constexpr bool is_opaque = strides == Strides::any_opaque && sizeof(Entry) == 2;
  static constexpr int accumulators = 4;  // of operations that don't wait for one another

  /// The thread's chunks from number `first` on, as they are in memory; `padding` behind the end.
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunks(const RowArgs<V>& arguments, const Row& row,
                                                      std::int64_t first, int thread_id,
                                                      Raw (&chunk)[items]) {
    const int left = chunks_left(row, first, thread_id);
    const X* p = row.x_chunk(first + thread_id);
    if (access != AccessMode::vectors_across_rows &&
        (access != AccessMode::scalar || (strides == Strides::one_or_any && row.x_stride == 1)))
      load_chunks_at(arguments, left, p, width, chunk);  // inlined: immediate offsets
    else
      load_chunks_at(arguments, left, p, row.x_stride, chunk);
  }

  /// The entry beside the chunks, or -1; the edge belongs to the tile with chunk 0.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t edge_column(const Row& row, std::int64_t first,
                                                              int thread_id) {
    return first == 0 ? row.edge_column(thread_id) : -1;
  }

  /// Chunk i of this thread is there where i * threads < chunks_left.
  KOKKOS_FORCEINLINE_FUNCTION static int chunks_left(const Row& row, std::int64_t first,
                                                     int thread_id) {
    const std::int64_t left = row.end - first;
    return static_cast<int>(left < chunks ? left : chunks) - thread_id;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool holds(int i, int left) {
    return access == AccessMode::full_tile || i * threads < left;
  }

 private:
  /// The chunks of the thread are `threads * distance` apart. The pointer moves on outside of the
  /// guards, so that these guard a load alone and become predicates.
  template <class Distance>
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunks_at(const RowArgs<V>& arguments, int left,
                                                         const X* p, Distance distance,
                                                         Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * distance) {
      if constexpr (is_opaque<X>) make_opaque(p);
      chunk[i] = raw_chunk_of<X, width>(arguments.padding);
      if (holds(i, left)) chunk[i] = *reinterpret_cast<const Raw*>(p);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
