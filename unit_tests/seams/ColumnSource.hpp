// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_COLUMNSOURCE_HPP
#define KOKKOSSOFTMAX_TEST_COLUMNSOURCE_HPP

#include <row/Source.hpp>

namespace KokkosSoftmax::Test {

/// v = scale * x + column
template <class V>
class ColumnSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr bool value_is_scaled_raw = false;

  KOKKOS_FUNCTION explicit ColumnSource(const KokkosSoftmax::Impl::RowArgs<V>& arguments)
      : m_scale(arguments.scale), m_padding(arguments.padding) {}

  KOKKOS_FUNCTION X padding() const { return m_padding; }
  KOKKOS_FUNCTION T value(T x, std::int64_t column) const {
    return m_scale * x + static_cast<T>(column);
  }

 private:
  T m_scale;
  X m_padding;
};

}  // namespace KokkosSoftmax::Test

#endif
