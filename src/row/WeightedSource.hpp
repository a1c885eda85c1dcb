// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_WEIGHTEDSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_WEIGHTEDSOURCE_HPP

/// \file
/// The source of logsumexp with weights: the values of GeneralSource, and a weight per entry.

#include <row/GeneralSource.hpp>
#include <row/RowNumbers.hpp>

namespace KokkosSoftmax::Impl {

/// The arguments of the kernels of WeightedSource.
template <class V>
struct WeightedArgs : GeneralArgs<V> {
  using Problem = WeightedRowProblem<typename V::X, typename V::Y>;

  void* sign;  ///< null if it isn't asked for; of the type and the strides of the results

  WeightedArgs(const Problem& problem, const Options& options)
      : GeneralArgs<V>(problem, options), sign(problem.sign) {}
};

template <class V>
class WeightedSource : public GeneralSource<V> {
 public:
  using X = typename V::X;
  using T = typename V::Compute;
  using Arguments = WeightedArgs<V>;
  static constexpr bool has_weights = true;

  /// What GeneralSource keeps of a row, and the address at which its weights start.
  class Row : public GeneralSource<V>::Row {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, std::int64_t r)
        : GeneralSource<V>::Row(arguments, r) {
      const RowInputs& inputs = arguments.inputs;
      const std::int64_t bytes =
          are_entries(inputs) ? static_cast<std::int64_t>(sizeof(X)) : sizeof(T);
      weights = static_cast<const char*>(inputs.weights.data) +
                outer_offset(arguments.problem, r, inputs.weights.outer_stride) * bytes;
    }

    const char* weights;
  };

  KOKKOS_FORCEINLINE_FUNCTION explicit WeightedSource(const Arguments& arguments)
      : GeneralSource<V>(arguments), m_weighted(arguments) {}

  /// The weight of an entry that takes part.
  KOKKOS_FORCEINLINE_FUNCTION T weight(const Row& row, std::int64_t column) const {
    const std::int64_t i = column * column_stride();
    return are_entries() ? static_cast<T>(reinterpret_cast<const X*>(row.weights)[i])
                         : reinterpret_cast<const T*>(row.weights)[i];
  }

  /// The weights of all chunks of a tile; 0 for entries that aren't read.
  template <int items, class Columns, int size>
  KOKKOS_FORCEINLINE_FUNCTION void load_weights(const Columns& columns, T (&weight)[size]) const {
    if constexpr (!std::is_same_v<X, T>)
      if (!are_entries()) return load_weights_as<T, items>(columns, weight);
    load_weights_as<X, items>(columns, weight);
  }

 private:
  /// Whether the weights have the type of x, see GeneralSource.
  KOKKOS_FORCEINLINE_FUNCTION static bool are_entries(const RowInputs& inputs) {
    return std::is_same_v<X, T> || inputs.weights_are_entries;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool are_entries() const { return are_entries(m_weighted.inputs); }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t column_stride() const {
    return m_weighted.inputs.weights.column_stride;
  }

  template <class Stored, int items, class Columns, int size>
  KOKKOS_FORCEINLINE_FUNCTION void load_weights_as(const Columns& columns,
                                                   T (&weight)[size]) const {
    constexpr int width = Columns::width;
    RawChunk<Stored, width> raw[items];
    const InputChunks<Stored, Columns> weights(
        columns, reinterpret_cast<const Stored*>(columns.source_row().weights), column_stride());
    weights.template load<items>(0, raw);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) widen<Stored, width>(raw[i], weight + i * width);
  }

  const Arguments& m_weighted;
};

/// An entry counts for nothing if its weight is 0 or its value is -inf: then its value becomes -inf
/// and its weight 0, whatever the other one is.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void drop_if_without_effect(T& value, T& weight) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  if (weight == T(0)) value = -infinity;
  if (value == -infinity) weight = T(0);
}

}  // namespace KokkosSoftmax::Impl

#endif
