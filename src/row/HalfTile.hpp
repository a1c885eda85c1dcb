// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_HALFTILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_HALFTILE_HPP

#include <impl/device/numerics/KokkosSoftmax_ExpHalf.hpp>
#include <row/HalfPair.hpp>
#include <row/Tile.hpp>

namespace KokkosSoftmax::Impl {

/// A tile of a half type for operations that don't keep exponentials. Its entries stay in pairs, as
/// they are in memory. That leaves room for twice as many loads in flight or for more teams. An
/// entry takes four and a half instructions up to the sum: half an instruction for the maximum, and
/// one each for the widening, a multiply-add, 2^t and the addition.
///
/// `loads_full_tiles`: whether tiles of aligned rows that have all of their chunks are loaded
/// without guards. It pays if most tiles have them.
template <RowSource Source, int items, int width, int threads, AccessMode access,
          bool loads_full_tiles = false>
class HalfTile : public TileSlots<Source, items, width, threads, access, Strides::one_or_any> {
  using V = typename Source::Types;
  using Slots = TileSlots<Source, items, width, threads, access, Strides::one_or_any>;

 public:
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;
  static_assert(moves_in_pairs<X, width>);
  static_assert(Source::value_is_scaled_raw, "entries stay as they are in memory");

  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    const Source source(arguments);
    if (loads_full_tiles && access == AccessMode::guarded_vectors && Slots::is_full(row, first))
      Slots::template load_chunks<false>(source, row, first, thread_id, m_chunk);
    else
      Slots::load_chunks(source, row, first, thread_id, m_chunk);
    m_left = Slots::chunks_left(row, first, thread_id);
    m_scale = source.factor();
    m_edge = -Kokkos::Experimental::infinity_v<T>;
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) m_edge = source.value(static_cast<T>(row.x[column]), row.numbers(column));
    }
  }

  /// Fills the tile with -inf, for a row or a part of a row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    m_left = 0;
    m_scale = T(1);
    m_edge = -Kokkos::Experimental::infinity_v<T>;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      m_chunk[i] = raw_chunk_of<X, width>(static_cast<X>(-Kokkos::Experimental::infinity_v<T>));
  }

  /// The largest of scale * entry and `start`; NaN is ignored. (The maximum can be taken before the
  /// product because the rounding of the product keeps the order.)
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    const T of_pairs = m_scale < T(0) ? largest<both_signs>() : largest<0>();
    return larger(larger(start, m_edge), Kokkos::abs(m_scale) * of_pairs);
  }

  /// The sum of factor * scale * entry over the entries that `load` with the same arguments has
  /// read.
  KOKKOS_FORCEINLINE_FUNCTION T total(const Row& row, std::int64_t first, int thread_id,
                                      T factor) const {
    T sum = sum_of_pairs([&](T entry) { return factor * (m_scale * entry); });
    if constexpr (access == AccessMode::peeled_vectors)
      if (Slots::edge_column(row, first, thread_id) >= 0) sum += factor * m_edge;
    return sum;
  }

  /// The sum of exp(scale * entry).
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) const {
    static_assert(!keep, "entries in pairs have no room for exponentials");
    // If the reference isn't added to the logarithm of the sum, the result may be small, and the
    // logarithm must have all of its digits.
    constexpr bool precise = !Exp::logarithm_joins_reference;
    T sum;
    if (ExpHalfFused<T>::serves(m_scale, exp.against()) && (!precise || m_scale == T(1))) {
      const ExpHalfFused<T> fused(m_scale, exp.against());
      sum = sum_of_pairs(fused);
      if (precise) sum *= fused.inverse_near_one(exp.against());
    } else {
      sum = sum_of_pairs([&](T entry) { return exp(m_scale * entry); });
    }
    if (access == AccessMode::peeled_vectors && m_edge != -Kokkos::Experimental::infinity_v<T>)
      sum += exp(m_edge);
    return sum;
  }

  /// Stores map(scale * entry) in the places from which `load` with the same arguments has read.
  /// Entries are widened a second time here. make_opaque hides that from the compiler, which would
  /// otherwise keep the results of the first time in registers.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread_id,
                                         const Map& map) const {
    Y* p = row.y_chunk(first + thread_id);
    const bool whole = access != AccessMode::peeled_vectors || row.wide_stores;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Slots::holds(i, m_left)) continue;
      Raw chunk = m_chunk[i];
      for (HalfPair& pair : chunk.entry) make_opaque(pair);
      T entry[width];
      widen<X, width>(chunk, entry);
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(map(m_scale * entry[k]));
      if (whole) {
        store_whole(reinterpret_cast<Chunk<Y, width>*>(p) + i * threads, out);
      } else {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < width; ++k) p[(i * threads * width + k) * row.y_stride] = out.entry[k];
      }
    }
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge));
    }
  }

 private:
  static constexpr int pairs = width / 2;  // per chunk

  /// The largest entry after an exclusive or with `turned`, which is 0 or flips all signs.
  template <HalfPair turned>
  KOKKOS_FORCEINLINE_FUNCTION T largest() const {
    HalfPair most[pairs];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int p = 0; p < pairs; ++p) most[p] = m_chunk[0].entry[p] ^ turned;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = pairs; j < items * pairs; ++j) {
      HalfPair& largest = most[j % pairs];
      largest = larger_of_pairs<X>(largest, m_chunk[j / pairs].entry[j % pairs] ^ turned);
    }
    T all = -Kokkos::Experimental::infinity_v<T>;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int p = 0; p < pairs; ++p) all = larger(all, larger_in_pair<X>(most[p]));
    return all;
  }

  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum_of_pairs(const Exp& exp) const {
    T partial[accumulators] = {};
    unrolled_while<items>([&](int i) {
      if (!Slots::holds(i, m_left)) return false;  // exponentials of padding cost as much as others
      T entry[width];
      widen<X, width>(m_chunk[i], entry);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) partial[k % accumulators] += exp(entry[k]);
      return true;
    });
    return sum_of_partials(partial);
  }

  Raw m_chunk[items];
  int m_left;
  T m_scale;
  T m_edge;
};

}  // namespace KokkosSoftmax::Impl

#endif
