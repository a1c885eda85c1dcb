// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_ROWPROBLEM_HPP
#define KOKKOSSOFTMAX_IMPL_ROWPROBLEM_HPP

/// \file
/// Converts arrays of any rank, layout and axis to one form, rows x columns. The library is
/// therefore compiled once per execution space and value type, and not once per type of View.

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Returns the product of two numbers that aren't negative, or the largest number if the product
/// overflows.
constexpr std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  return b != 0 && a > largest / b ? largest : a * b;
}

/// One of the axes that are not reduced; strides in elements.
struct OuterAxis {
  std::int64_t extent;
  std::int64_t x_stride;
  std::int64_t y_stride;
};

/// `rows` independent rows of `columns` entries. The row number r is decomposed into indices of the
/// outer axes, with the last axis fastest. The outer axes are sorted so that neighbouring rows are
/// neighbours in the memory of x if possible. Two outer axes are merged if one stride describes
/// both.
template <class Tx, class Ty>
struct RowProblem {
  static constexpr int max_outer_rank = 3;

  const Tx* x = nullptr;
  Ty* y = nullptr;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t x_column_stride = 1;
  std::int64_t y_column_stride = 1;  // 0 if y holds one value per row
  int outer_rank = 1;
  OuterAxis outer[max_outer_rank] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
};

/// Sorts the axes by their stride in x, largest first, and merges axes that one stride describes in
/// both x and y. Returns the number of remaining axes (at least one).
template <std::size_t max_rank>
int normalize_outer_axes(std::array<OuterAxis, max_rank>& axes, int count) {
  auto last = std::remove_if(axes.begin(), axes.begin() + count,
                             [](const OuterAxis& axis) { return axis.extent == 1; });
  std::stable_sort(axes.begin(), last,
                   [](const OuterAxis& a, const OuterAxis& b) { return a.x_stride > b.x_stride; });
  if (last == axes.begin()) *last++ = {1, 0, 0};
  auto merged = axes.begin();
  for (auto axis = merged + 1; axis != last; ++axis) {
    const bool one_run = merged->x_stride == axis->extent * axis->x_stride &&
                         merged->y_stride == axis->extent * axis->y_stride;
    if (one_run)
      *merged = {merged->extent * axis->extent, axis->x_stride, axis->y_stride};
    else
      *++merged = *axis;
  }
  return static_cast<int>(merged - axes.begin()) + 1;
}

/// An array of rank 0 to 4, made from a View or from a tensor of the C interface; strides in
/// elements. Extents are not negative. check_size() checks the strides, and the sizes that extents
/// and strides result in.
template <class T>
struct StridedArray {
  static constexpr int max_rank = 4;

  T* data = nullptr;
  int rank = 0;
  std::array<std::int64_t, max_rank> extents{};
  std::array<std::int64_t, max_rank> strides{};
};

template <class V>
auto strided_array(const V& view) {
  StridedArray<typename V::value_type> array;
  array.data = view.data();
  array.rank = static_cast<int>(V::rank());
  for (int d = 0; d < array.rank; ++d) {
    constexpr std::uint64_t largest = std::numeric_limits<std::int64_t>::max();
    array.extents[d] = static_cast<std::int64_t>(std::min<std::uint64_t>(view.extent(d), largest));
    array.strides[d] = static_cast<std::int64_t>(view.stride(d));
  }
  return array;
}

/// Makes the problem of x and y. x has rank 1 to 4. y has the same rank, or one less (without the
/// axis) if it holds one value per row. `axis` is in [0, rank). Both must have passed check_size().
template <class X, class Y>
auto make_row_problem(const StridedArray<X>& x, const StridedArray<Y>& y, int axis) {
  const bool one_value_per_row = y.rank < x.rank;
  RowProblem<std::remove_const_t<X>, Y> problem;
  problem.x = x.data;
  problem.y = y.data;
  problem.columns = x.extents[axis];
  problem.x_column_stride = x.strides[axis];
  problem.y_column_stride = one_value_per_row ? 0 : y.strides[axis];

  std::array<OuterAxis, StridedArray<X>::max_rank> axes{};
  int count = 0;
  for (int d = 0; d < x.rank; ++d) {
    if (d == axis) continue;
    const int y_d = one_value_per_row && d > axis ? d - 1 : d;
    // if x has no elements, its strides have no meaning
    axes[count++] = {x.extents[d], problem.columns == 0 ? 0 : x.strides[d], y.strides[y_d]};
    problem.rows = capped_product(problem.rows, x.extents[d]);
  }
  const bool writes_nothing = problem.rows == 0 || (problem.columns == 0 && !one_value_per_row);
  if (writes_nothing) return problem;  // products of its extents could overflow
  problem.outer_rank = normalize_outer_axes(axes, count);
  std::copy_n(axes.begin(), problem.outer_rank, problem.outer);
  return problem;
}

}  // namespace KokkosSoftmax::Impl

#endif
