// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_PAIRTILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_PAIRTILE_HPP

#include <row/EdgeEntry.hpp>
#include <row/TileSlots.hpp>

namespace KokkosSoftmax::Impl {

/// The slots of a tile of a source with two inputs.
template <RowSource Source, int items, int width, int threads, AccessMode access, Strides strides>
class PairSlots : public TileSlots<Source, items, width, threads, access, strides> {
  using Slots = TileSlots<Source, items, width, threads, access, strides>;

 public:
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::X;

 protected:
  /// The second input of the chunks that load_chunks() loads. Its chunks are loaded whole if they
  /// are aligned as those of x are.
  KOKKOS_FORCEINLINE_FUNCTION static void load_second(const Source& source, const Row& row,
                                                      std::int64_t first, int thread_id,
                                                      Raw (&chunk)[items]) {
    const int left = Slots::chunks_left(row, first, thread_id);
    const std::int64_t stride = row.source_row.stride * row.numbers.step;
    const X* const p = row.source_row.dy + row.column(first + thread_id, 0) * row.source_row.stride;
    if (has_whole_chunks(p, stride)) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i) {
        chunk[i] = raw_chunk_of<X, width>(source.padding());
        if (Slots::holds(i, left))
          chunk[i] = *reinterpret_cast<const Raw*>(p + i * (threads * width));
      }
    } else {
      load_entries(source, left, p, stride, chunk);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static bool has_whole_chunks(const X* p, std::int64_t stride) {
    if constexpr (access == AccessMode::full_tile || access == AccessMode::guarded_vectors)
      return true;  // LaunchContext::access_serves() has checked it
    if constexpr (strides != Strides::one_or_any) return false;
    return stride == 1 && entries_to_alignment(p, chunk_alignment<X>(width)) == 0;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void load_entries(const Source& source, int left, const X* p,
                                                       std::int64_t stride, Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * width * stride) {
      if constexpr (Slots::template is_opaque<X>) make_opaque(p);
      X entry[width];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) {
        entry[k] = source.padding();
        if (Slots::holds(i, left)) entry[k] = p[k * stride];
      }
      chunk[i] = Kokkos::bit_cast<Raw>(entry);
    }
  }
};

/// The entries of a tile of a source with two inputs: an EntryPair per entry. Slots without an
/// entry have zeros.
template <RowSource Source_, int items, int width, int threads, AccessMode access,
          Strides strides = Strides::one_or_any>
class PairTile : public PairSlots<Source_, items, width, threads, access, strides> {
  using Slots = PairSlots<Source_, items, width, threads, access, strides>;

 public:
  using Source = Source_;
  using Slots::size;
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;

  /// Loads the chunks from number `first` on. The tile with chunk 0 also loads the peeled entries.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    const Source source(arguments);
    Raw chunk[items], second[items];
    Slots::load_chunks(source, row, first, thread_id, chunk);
    Slots::load_second(source, row, first, thread_id, second);
    m_edge = {T(0), T(0)};
    if constexpr (access == AccessMode::peeled_vectors) {
      const EdgeEntry<Source> edge(source, row, Slots::edge_column(row, first, thread_id));
      make_pairs(source, chunk, second);
      m_edge = edge.value(source, row);
    } else {
      make_pairs(source, chunk, second);
    }
  }

  /// Fills the tile with zeros, for a row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_p[j] = m_t[j] = T(0);
    m_edge = {T(0), T(0)};
  }

  /// The terms have no reference, so that there is no maximum to find.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const { return start; }

  /// The sum of t.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp&) const {
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) partial[j % accumulators] += m_t[j];
    if constexpr (access == AccessMode::peeled_vectors) partial[0] += m_edge.t;
    return sum_of_partials(partial);
  }

  /// Stores map(p, t) in the places from which `load` with the same arguments has read.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread_id,
                                         const Map& map) const {
    const int left = Slots::chunks_left(row, first, thread_id);
    Y* const p = row.y_chunk(first + thread_id);
    if (access == AccessMode::full_tile || access == AccessMode::guarded_vectors ||
        (strides == Strides::one_or_any && row.wide_stores))
      store_chunks(left, p, map);
    else
      store_entries(left, p, row.y_stride, map);
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge.p, m_edge.t));
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void make_pairs(const Source& source, const Raw (&chunk)[items],
                                              const Raw (&second)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      widen<X, width>(chunk[i], m_p + i * width);
      widen<X, width>(second[i], m_t + i * width);
    }
    source.template make_pairs<size>(m_p, m_t);
  }

  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(int left, Y* p, const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Slots::holds(i, left)) continue;
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        out.entry[k] = static_cast<Y>(map(m_p[i * width + k], m_t[i * width + k]));
      store_whole(reinterpret_cast<Chunk<Y, width>*>(p) + i * threads, out);
    }
  }

  /// The same, entry by entry, for a y that is strided or not aligned in the same way as x.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_entries(int left, Y* p, std::int64_t stride,
                                                 const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * width * stride) {
      if constexpr (Slots::template is_opaque<Y>) make_opaque(p);
      if (!Slots::holds(i, left)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        p[k * stride] = static_cast<Y>(map(m_p[i * width + k], m_t[i * width + k]));
    }
  }

  T m_p[size];
  T m_t[size];
  EntryPair<T> m_edge;
};

}  // namespace KokkosSoftmax::Impl

#endif
