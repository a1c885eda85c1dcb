// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_RAWPAIRTILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_RAWPAIRTILE_HPP

#include <row/HalfPair.hpp>
#include <row/PairTile.hpp>

namespace KokkosSoftmax::Impl {

/// Whether a tile with two inputs keeps the entries as they are in memory: those of half types, if
/// a lane has so many that they would take most of the registers.
template <RowSource Source, int items, int width>
inline constexpr bool keeps_raw_pairs =
    moves_in_pairs<typename Source::Types::X, width>&& items* width >= 32;

/// A PairTile whose entries stay as they are in memory. They take half of the registers, and are
/// widened a second time for the results.
template <RowSource Source, int items, int width, int threads, AccessMode access>
class RawPairTile : public PairSlots<Source, items, width, threads, access, Strides::one_or_any> {
  using Slots = PairSlots<Source, items, width, threads, access, Strides::one_or_any>;

 public:
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;

  /// Loads the chunks from number `first` on. The tile with chunk 0 also loads the peeled entries.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    const Source source(arguments);
    Slots::load_chunks(source, row, first, thread_id, m_first);
    Slots::load_second(source, row, first, thread_id, m_second);
    m_left = Slots::chunks_left(row, first, thread_id);
    m_pairs = source.pairs();
    m_edge = {T(0), T(0)};
    if constexpr (access == AccessMode::peeled_vectors)
      m_edge = EdgeEntry<Source>(source, row, Slots::edge_column(row, first, thread_id))
                   .value(source, row);
  }

  /// The terms have no reference, so that there is no maximum to find.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const { return start; }

  /// The sum of t.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp&) const {
    T partial[accumulators] = {};
    m_pairs.with_pair([&](const auto& pair_of) {
      for_each_chunk([&](int i) {
        T first[width], second[width];
        widen<X, width>(m_first[i], first);
        widen<X, width>(m_second[i], second);
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < width; ++k) partial[k % accumulators] += pair_of(first[k], second[k]).t;
      });
    });
    if constexpr (access == AccessMode::peeled_vectors) partial[0] += m_edge.t;
    return sum_of_partials(partial);
  }

  /// Stores map(p, t) in the places from which `load` with the same arguments has read.
  /// make_opaque hides from the compiler that entries were widened before. It would otherwise keep
  /// the results in registers.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread_id,
                                         const Map& map) const {
    Y* const p = row.y_chunk(first + thread_id);
    const bool whole = access != AccessMode::peeled_vectors || row.wide_stores;
    m_pairs.with_pair([&](const auto& pair_of) {
      for_each_chunk([&](int i) {
        const Chunk<Y, width> out = results(i, pair_of, map);
        if (whole) {
          store_whole(reinterpret_cast<Chunk<Y, width>*>(p) + i * threads, out);
        } else {
          KOKKOSSOFTMAX_IMPL_UNROLL
          for (int k = 0; k < width; ++k)
            p[(i * threads * width + k) * row.y_stride] = out.entry[k];
        }
      });
    });
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge.p, m_edge.t));
    }
  }

 private:
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_chunk(const Body& body) const {
    unrolled_while<items>([&](int i) {
      if (!Slots::holds(i, m_left)) return false;
      body(i);
      return true;
    });
  }

  template <class PairOf, class Map>
  KOKKOS_FORCEINLINE_FUNCTION Chunk<Y, width> results(int i, const PairOf& pair_of,
                                                      const Map& map) const {
    Raw raw_first = m_first[i], raw_second = m_second[i];
    for (HalfPair& pair : raw_first.entry) make_opaque(pair);
    for (HalfPair& pair : raw_second.entry) make_opaque(pair);
    T first[width], second[width];
    widen<X, width>(raw_first, first);
    widen<X, width>(raw_second, second);
    Chunk<Y, width> out;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      const EntryPair<T> entry = pair_of(first[k], second[k]);
      out.entry[k] = static_cast<Y>(map(entry.p, entry.t));
    }
    return out;
  }

  Raw m_first[items];
  Raw m_second[items];
  int m_left;
  typename Source::Pairs m_pairs;
  EntryPair<T> m_edge;
};

}  // namespace KokkosSoftmax::Impl

#endif
