// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_STRIDEDROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_STRIDEDROWS_HPP

/// \file
/// Loads and stores of a column of strided rows, for backward passes and gradients.

#include <host/Vector.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The entries of rows in one column.
///
/// \tparam side_by_side  whether the rows lie side by side. Otherwise they have any stride.
template <class L, bool side_by_side, class X>
class StridedRows {
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION StridedRows(X* column, std::int64_t stride, std::int64_t rows)
      : m_column(column), m_stride(stride), m_rows(rows) {}

  /// Those of rows r to r + width - 1.
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const Access& access, std::int64_t r) const {
    if constexpr (side_by_side) return access.load(m_column + r);
    std::remove_const_t<X> near[L::width] = {};
    for (std::int64_t i = 0; i < count(r); ++i) near[i] = m_column[(r + i) * m_stride];
    return L::load(near);
  }
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION void store(const Access& access, std::int64_t r, V v) const {
    if constexpr (side_by_side) return access.store(m_column + r, v);
    X near[L::width];
    L::store(near, v);
    for (std::int64_t i = 0; i < count(r); ++i) m_column[(r + i) * m_stride] = near[i];
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t count(std::int64_t r) const {
    return smaller(L::width, m_rows - r);
  }

  X* m_column;
  std::int64_t m_stride;
  std::int64_t m_rows;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
