// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_SHAREDINPUTSSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_SHAREDINPUTSSOURCE_HPP

#include <row/GeneralSource.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Impl {

/// A GeneralSource of calls whose operands are a bias and a mask that all rows share, see
/// GeneralArgs::rows_share_inputs(): the value of an entry depends on its column, and not on its
/// row.
template <class V>
class SharedInputsSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  using Arguments = GeneralArgs<V>;
  static constexpr bool value_is_scaled_raw = false;
  static constexpr bool masks_columns = true;

  KOKKOS_FORCEINLINE_FUNCTION explicit SharedInputsSource(const Arguments& arguments)
      : m_arguments(arguments), m_general(arguments) {}

  KOKKOS_FORCEINLINE_FUNCTION X padding() const { return m_general.padding(); }
  KOKKOS_FORCEINLINE_FUNCTION T value(T x, std::int64_t column) const {
    return m_general.value_of_column(x, column_bias(m_general.load(any_row(), X{}, column)));
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_masked(const NoSourceRow&, std::int64_t column) const {
    return m_general.is_masked(any_row(), column);
  }

  /// A row, of which the biases and the mask are those of all rows.
  using AnyRow = typename GeneralSource<V>::Row;
  KOKKOS_FORCEINLINE_FUNCTION AnyRow any_row() const { return {m_arguments, std::int64_t(0)}; }
  /// What is read of columns besides x, and what their values depend on, see GeneralSource.
  using Entry = typename GeneralSource<V>::Entry;
  template <int count, class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void load_columns(const AnyRow& row, const ColumnOf& column,
                                                Entry (&entry)[count]) const {
    m_general.load_columns(row, column, entry);
  }
  KOKKOS_FORCEINLINE_FUNCTION static T column_bias(const Entry& entry) {
    return GeneralSource<V>::column_bias(entry);
  }
  template <int items, int width, class Raw, class ColumnBias>
  KOKKOS_FORCEINLINE_FUNCTION void apply(const Raw* chunk, T* value,
                                         const ColumnBias& column_bias) const {
    m_general.template apply_columns<items, width>(chunk, value, column_bias);
  }
  KOKKOS_FORCEINLINE_FUNCTION T value_of_column(T x, T column_bias) const {
    return m_general.value_of_column(x, column_bias);
  }

 private:
  const Arguments& m_arguments;
  GeneralSource<V> m_general;
};

}  // namespace KokkosSoftmax::Impl

#endif
