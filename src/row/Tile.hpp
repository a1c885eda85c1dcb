// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_TILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_TILE_HPP

#include <numerics/ExpForSum.hpp>
#include <row/TileSlots.hpp>

namespace KokkosSoftmax::Impl {

/// A tile's entries in the type that is computed with. Places without an entry hold -inf, which
/// adds nothing to a sum.
template <class V, int items, int width, int threads, AccessMode access,
          Strides strides = Strides::one_or_any>
class Tile : public TileSlots<V, items, width, threads, access, strides> {
  using Slots = TileSlots<V, items, width, threads, access, strides>;
  using Slots::accumulators;

 public:
  using Slots::size;
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;

  /// Loads the chunks from number `first` on; the edge belongs to the tile with chunk 0. `see` gets
  /// the chunks as they are in memory.
  template <class See>
  KOKKOS_FORCEINLINE_FUNCTION void load(const RowArgs<V>& arguments, const Row& row,
                                        std::int64_t first, int thread_id, const See& see) {
    Raw chunk[items];
    Slots::load_chunks(arguments, row, first, thread_id, chunk);
    see(chunk);
    take(arguments, chunk);
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) m_edge = arguments.load(row.x[column]);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const RowArgs<V>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    load(arguments, row, first, thread_id, [](const Raw(&)[items]) {});
  }

  /// The same of chunks that have been loaded before, without an edge.
  KOKKOS_FORCEINLINE_FUNCTION void take(const RowArgs<V>& arguments, const Raw (&chunk)[items]) {
    take_unscaled(chunk);
    scale_loaded(arguments);
  }

  /// The same of entries that have been widened before.
  KOKKOS_FORCEINLINE_FUNCTION void take(const RowArgs<V>& arguments, const T (&entry)[size]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = entry[j];
    m_edge = -Kokkos::Experimental::infinity_v<T>;
    scale_loaded(arguments);
  }

  /// The same without a multiplication by 1: the branch, which would keep loads from memory from
  /// overlapping, does no harm where chunks come from scratch.
  KOKKOS_FORCEINLINE_FUNCTION void take_from_scratch(const RowArgs<V>& arguments,
                                                     const Raw (&chunk)[items]) {
    take_unscaled(chunk);
    if (arguments.scale != T(1)) scale(arguments);
  }

  /// For a place in the row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = -Kokkos::Experimental::infinity_v<T>;
    m_edge = -Kokkos::Experimental::infinity_v<T>;
  }

  /// What the tile holds of chunk i, to be stashed elsewhere, and back again. The edge is lost.
  using ValueChunk = Chunk<T, width>;
  KOKKOS_FORCEINLINE_FUNCTION ValueChunk chunk(int i) const {
    ValueChunk chunk;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) chunk.entry[k] = m_value[i * width + k];
    return chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_chunks(const ValueChunk (&values)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = values[j / width].entry[j % width];
    m_edge = T(0);
  }

  /// The largest entry, not less than `start`. NaN is passed over: it shows in the sum.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    if constexpr (access == AccessMode::peeled_vectors) start = larger(start, m_edge);
    // nvcc takes seven instructions for -inf and a double, in place of three.
    make_opaque(start);
    T partial[accumulators] = {start, start, start, start};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      partial[j % accumulators] = larger(partial[j % accumulators], m_value[j]);
    return larger(larger(partial[0], partial[1]), larger(partial[2], partial[3]));
  }

  /// The sum of exp(entry); with `keep` the terms take the entries' places.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) {
    if constexpr (keep && std::is_same_v<Exp, ExpAccurate<double>>) {
      if (exp.shift() != T(0)) subtract(exp.shift());
      return sum_by_terms<keep>([&](T v) { return exp.of_shifted(v); });
    } else {
      return sum_by(exp, [&](const auto& term) { return sum_by_terms<keep>(term); });
    }
  }

  /// Stores map(what the tile holds) in the places that `load` with the same arguments has read.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread_id,
                                         const Map& map) const {
    const int left = Slots::chunks_left(row, first, thread_id);
    Y* p = row.y_chunk(first + thread_id);
    if (access == AccessMode::full_tile || access == AccessMode::guarded_vectors ||
        (strides == Strides::one_or_any && row.wide_stores))
      store_chunks(left, p, map);
    else
      store_entries(left, p, row.y_stride, map);
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge));
    }
  }

 private:
  template <bool keep, class Term>
  KOKKOS_FORCEINLINE_FUNCTION T sum_by_terms(const Term& term) {
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      add_term<keep>(partial[j % accumulators], term, m_value[j], m_value[j]);
    if constexpr (access == AccessMode::peeled_vectors) {
      // only the first few warps can have one: the others skip the exponential
      if (m_edge != -Kokkos::Experimental::infinity_v<T>)
        add_term<keep>(partial[0], term, m_edge, m_edge);
      else if (keep)
        m_edge = T(0);
    }
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void subtract(T shift) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] -= shift;
    m_edge -= shift;
  }

  KOKKOS_FORCEINLINE_FUNCTION void take_unscaled(const Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) widen<X, width>(chunk[i], m_value + i * width);
    m_edge = -Kokkos::Experimental::infinity_v<T>;
  }

  /// A branch keeps loads from overlapping a bit; multiplying doubles by 1 costs more than that.
  KOKKOS_FORCEINLINE_FUNCTION void scale_loaded(const RowArgs<V>& arguments) {
    if (sizeof(T) < 8 || arguments.scale != T(1)) scale(arguments);
  }

  KOKKOS_FORCEINLINE_FUNCTION void scale(const RowArgs<V>& arguments) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = arguments.scaled(m_value[j]);
  }

  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(int left, Y* p, const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Slots::holds(i, left)) continue;
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
      if constexpr (Slots::template is_opaque<Y>) make_opaque(p);
      Y out[width];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out[k] = static_cast<Y>(map(m_value[i * width + k]));
      if (!Slots::holds(i, left)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) p[k * stride] = out[k];
    }
  }

  T m_value[size];
  T m_edge;
};

/// The tile of a team.
template <class V, class Shape>
using TeamTile = Tile<V, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::access>;

}  // namespace KokkosSoftmax::Impl

#endif
