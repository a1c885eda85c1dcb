// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENTHALF2_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENTHALF2_HPP

#include <impl/device/numerics/KokkosSoftmax_PartialSums.hpp>
#include <row/HalfPair.hpp>
#include <row/RowArgs.hpp>

namespace KokkosSoftmax::Impl {

/// A lane's chunks of entries of a half type in scratch memory, at a distance of `threads` slots.
/// Half types have many entries per byte, so that the number of instructions matters: the largest
/// entry is searched two entries at a time.
template <class Source, int width, int threads>
class AsyncSegmentHalf2 {
 public:
  using V = typename Source::Types;
  using X = typename V::X;
  using Y = typename V::Y;
  using T = typename V::Compute;
  using Slot = RawChunk<X, width>;
  static_assert(moves_in_pairs<X, width>);

  /// The slots first + p for p = 0, threads, 2 * threads, ... below `end`.
  KOKKOS_FORCEINLINE_FUNCTION AsyncSegmentHalf2(const Slot* first, int end)
      : m_first(first), m_end(end) {}

  /// The largest value of scale * entry. NaN is ignored. (Rounding the product preserves the
  /// order.)
  KOKKOS_FORCEINLINE_FUNCTION T largest(const ArgumentsOf<Source>& arguments) const {
    const Source source(arguments);
    const HalfPair turned = source.factor() < T(0) ? both_signs : 0;
    Slot most = raw_chunk_of<X, width>(source.padding());
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < pairs; ++i) most.entry[i] ^= turned;
    KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
    for (int p = 0; p < m_end; p += threads) {
      const Slot chunk = load_whole(m_first + p);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < pairs; ++i)
        most.entry[i] = larger_of_pairs<X>(most.entry[i], chunk.entry[i] ^ turned);
    }
    T max = larger_in_pair<X>(most.entry[0]);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 1; i < pairs; ++i) max = larger(max, larger_in_pair<X>(most.entry[i]));
    return Kokkos::abs(source.factor()) * max;
  }

  /// The sum of exp(entry). It is not compensated, because a lane has only a few terms.
  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) const {
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
    for (int p = 0; p < m_end; p += threads) {
      T entry[width];
      widen<X, width>(load_whole(m_first + p), entry);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) partial[k % accumulators] += exp(entry[k]);
    }
    return sum_of_partials(partial);
  }

  /// Stores map(entry), a whole chunk at one time.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(Y* y, const Map& map) const {
    auto* to = reinterpret_cast<Chunk<Y, width>*>(y);
    KOKKOSSOFTMAX_IMPL_UNROLL_TWICE
    for (int p = 0; p < m_end; p += threads) {
      T entry[width];
      widen<X, width>(load_whole(m_first + p), entry);
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(map(entry[k]));
      store_whole(to + p, out);
    }
  }

 private:
  static constexpr int pairs = width / 2;

  const Slot* m_first;
  int m_end;
};

}  // namespace KokkosSoftmax::Impl

#endif
