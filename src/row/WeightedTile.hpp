// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_WEIGHTEDTILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_WEIGHTEDTILE_HPP

#include <row/Tile.hpp>
#include <row/WeightedSource.hpp>

namespace KokkosSoftmax::Impl {

/// The values of a tile, and their weights.
template <RowSource Source_, int items, int width, int threads, AccessMode access,
          Strides strides = Strides::one_or_any>
class WeightedTile : public Tile<Source_, items, width, threads, access, strides> {
  using Values = Tile<Source_, items, width, threads, access, strides>;
  using Values::m_edge;
  using Values::m_value;

 public:
  using Source = Source_;
  using typename Values::Row;
  using typename Values::T;
  using Values::size;

  /// (GCC takes members that load() sets for uninitialized ones.)
  KOKKOS_FORCEINLINE_FUNCTION WeightedTile() { KOKKOS_IF_ON_HOST((clear();)) }

  /// The loads of the weights come first, so that they overlap with those of x.
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    const Source source(arguments);
    source.template load_weights<items>(Values::columns(source, row, first, thread_id), m_weight);
    m_edge_weight = T(0);
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Values::edge_column(row, first, thread_id);
      if (column >= 0) m_edge_weight = source.weight(row.source_row, row.numbers(column));
    }
    Values::load(arguments, row, first, thread_id);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) drop_if_without_effect(m_value[j], m_weight[j]);
    drop_if_without_effect(m_edge, m_edge_weight);
  }

  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    Values::clear();
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_weight[j] = T(0);
    m_edge_weight = T(0);
  }

  /// The sum of weight * exp(value).
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) const {
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      partial[j % accumulators] =
          Kokkos::fma(m_weight[j], exp(m_value[j]), partial[j % accumulators]);
    if constexpr (access == AccessMode::peeled_vectors)
      if (m_edge_weight != T(0)) partial[0] = Kokkos::fma(m_edge_weight, exp(m_edge), partial[0]);
    return sum_of_partials(partial);
  }

 private:
  T m_weight[size];
  T m_edge_weight;
};

}  // namespace KokkosSoftmax::Impl

#endif
