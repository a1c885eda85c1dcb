// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_TILESLOTS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_TILESLOTS_HPP

/// \file
/// Tiles: a tile is the part of a row that a group of threads holds in registers at one time. Each
/// thread has slots for `items` chunks of `width` neighbouring entries. The chunks are assigned to
/// the threads in turn.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/numerics/KokkosSoftmax_PartialSums.hpp>
#include <row/Row.hpp>

namespace KokkosSoftmax::Impl {

/// What a tile assumes about the stride between columns.
enum class Strides {
  one_or_any,  ///< any stride, with separate code for stride 1
  any,         ///< any stride, with the same code for all
  any_opaque   ///< as `any`, and pointers to entries of two bytes are hidden from nvcc: if a kernel
               ///< has several such tiles, nvcc would compute the pointer to each item by as many
               ///< additions as there are items before it
};

/// The places of one thread's entries in the row, and how they are read. `threads` threads share
/// the tile, and this thread has the number `thread_id`. All arrays are indexed by constants after
/// the loops are unrolled, so that they stay in registers.
template <class Source, int items_, int width_, int threads_, AccessMode access_, Strides strides>
class TileSlots {
 public:
  using V = typename Source::Types;
  using X = typename V::X;
  using Y = typename V::Y;
  using T = typename V::Compute;
  static constexpr int items = items_;
  static constexpr int width = width_;
  static constexpr int threads = threads_;
  static constexpr AccessMode access = access_;
  static constexpr int size = items * width;      // entries per thread
  static constexpr int chunks = items * threads;  // in the whole tile
  static_assert(access != AccessMode::scalar || width == 1);
  static_assert(access != AccessMode::peeled_vectors || threads >= 2 * (width - 1),
                "an edge entry needs a thread");
  template <int row_width, AccessMode row_access>
  using RowOf = ChunkedRow<Source, row_width, row_access, aligned_entries<X, row_width>(threads)>;
  /// A chunk across rows has one entry per row, so the number of a chunk is the number of its
  /// column.
  using Row = std::conditional_t<access == AccessMode::vectors_across_rows,
                                 RowOf<1, AccessMode::scalar>, RowOf<width, access>>;
  using Raw = RawChunk<X, width>;

 protected:
  template <class Entry>
  static constexpr bool is_opaque = strides == Strides::any_opaque && sizeof(Entry) == 2;

  /// Loads the thread's chunks from number `first` on, as they are in memory. Chunks after the last
  /// one that is read are filled with `padding`. `guarded`: whether there can be such chunks.
  template <bool guarded = true>
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunks(const Source& source, const Row& row,
                                                      std::int64_t first, int thread_id,
                                                      Raw (&chunk)[items]) {
    const int left = chunks_left(row.read_end(source), first, thread_id);
    const X* p = row.x_chunk(first + thread_id);
    if (access != AccessMode::vectors_across_rows &&
        (access != AccessMode::scalar || (strides == Strides::one_or_any && row.x_stride == 1)))
      load_chunks_at<guarded>(source, left, p, width, chunk);  // for immediate offsets
    else
      load_chunks_at<guarded>(source, left, p, row.x_stride, chunk);
  }

  /// The column of the thread's peeled entry, or -1. Peeled entries belong to the tile with chunk
  /// 0.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t edge_column(const Row& row, std::int64_t first,
                                                              int thread_id) {
    return first == 0 ? row.edge_column(thread_id) : -1;
  }

  /// Whether all threads have all chunks from number `first` on.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_full(const Row& row, std::int64_t first) {
    return row.end - first >= chunks;
  }

  /// Chunk i of this thread exists if i * threads < chunks_left.
  KOKKOS_FORCEINLINE_FUNCTION static int chunks_left(const Row& row, std::int64_t first,
                                                     int thread_id) {
    return chunks_left(row.end, first, thread_id);
  }
  KOKKOS_FORCEINLINE_FUNCTION static int chunks_left(std::int64_t end, std::int64_t first,
                                                     int thread_id) {
    std::int64_t left = end - first;
    if constexpr (Row::is_limited)  // the row can have ended billions of columns before
      if (left < 0) left = 0;
    return static_cast<int>(left < chunks ? left : chunks) - thread_id;
  }
  KOKKOS_FORCEINLINE_FUNCTION static constexpr bool holds(int i, int left) {
    return access == AccessMode::full_tile || i * threads < left;
  }

 private:
  /// Loads the thread's chunks, which are `threads * distance` entries apart. Threads that hold all
  /// chunks of a strided row need no guards, whose predicates would take registers beside what the
  /// source reads besides x.
  template <bool guarded, class Distance>
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunks_at(const Source& source, int left, const X* p,
                                                         Distance distance, Raw (&chunk)[items]) {
    if constexpr (knows_rows<Source> &&
                  (access == AccessMode::scalar || access == AccessMode::vectors_across_rows)) {
      if (holds(items - 1, left)) return load_guarded<false>(source, left, p, distance, chunk);
    }
    load_guarded<guarded>(source, left, p, distance, chunk);
  }

  /// The pointer is advanced outside of the guards, so that each guard contains only a load and
  /// becomes a predicate.
  template <bool guarded, class Distance>
  KOKKOS_FORCEINLINE_FUNCTION static void load_guarded(const Source& source, int left, const X* p,
                                                       Distance distance, Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * distance) {
      if constexpr (is_opaque<X>) make_opaque(p);
      chunk[i] = raw_chunk_of<X, width>(source.padding());
      if (!guarded || holds(i, left)) chunk[i] = *reinterpret_cast<const Raw*>(p);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
