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
#include <optional>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Returns the product of two numbers that aren't negative, or the largest number if the product
/// overflows.
constexpr std::int64_t capped_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
  return b != 0 && a > largest / b ? largest : a * b;
}

/// The largest rank of an array, that of Kokkos' Views.
inline constexpr int max_rank = 8;

/// One of the axes that are not reduced; strides in elements.
struct OuterAxis {
  std::int64_t extent;
  std::int64_t x_stride;
  std::int64_t y_stride;
};

/// The largest number of outer axes that kernels take, after axes are merged.
inline constexpr int max_outer_rank = 4;

/// `rows` independent rows of `columns` entries. The row number r is decomposed into indices of the
/// outer axes, with the last axis fastest. The outer axes are sorted so that neighbouring rows are
/// neighbours in the memory of x if possible. Two outer axes are merged if one stride describes
/// both.
template <class Tx, class Ty>
struct RowProblem {
  static constexpr int max_outer_rank = Impl::max_outer_rank;
  /// The type of one number per row beside y: the type of the computation.
  using RowValue = std::conditional_t<std::is_same_v<Tx, double>, double, float>;

  const Tx* x = nullptr;
  Ty* y = nullptr;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t x_column_stride = 1;
  std::int64_t y_column_stride = 1;  // 0 if y holds one value per row
  int outer_rank = 1;
  OuterAxis outer[max_outer_rank] = {{1, 0, 0}, {1, 0, 0}, {1, 0, 0}, {1, 0, 0}};
  // One number per row beside y: the log-sum-exp and the maximum. Null if it isn't asked for. There
  // is one stride from row to row, because kernels have no registers for several axes.
  RowValue* lse = nullptr;
  RowValue* max = nullptr;
  std::int64_t lse_stride = 0;
  std::int64_t max_stride = 0;
  bool lse_has_one_stride = true;
  bool max_has_one_stride = true;
  // Whether y holds numbers of type RowValue in place of Ty. Strides are in elements of Ty even so.
  // Only for operations with one number per row, see src/dispatch/KernelTypes.hpp.
  bool y_holds_row_values = false;
  // Which of the functions that a kernel can compute: 0 for the first one, see
  // src/dispatch/KernelTypes.hpp.
  int function = 0;
};

/// Sorts a few elements; equal ones keep their order. (std::stable_sort allocates memory.)
template <class Iterator, class Less>
void insertion_sort(Iterator first, Iterator last, const Less& less) {
  for (Iterator i = first; i != last; ++i)
    std::rotate(std::upper_bound(first, i, *i, less), i, i + 1);
}

/// The strides of what is read or written besides x and y, along one axis and along each axis, see
/// make_general_row_problem() and make_gradient_problem().
using InputStridesOfAxis = std::array<std::int64_t, 9>;
using InputStrides = std::array<InputStridesOfAxis, max_rank>;

/// An outer axis with its strides in lse, max and the inputs.
struct OuterAxisBeside : OuterAxis {
  std::int64_t lse_stride;
  std::int64_t max_stride;
  InputStridesOfAxis input_strides{};
};

/// Whether the strides of the inputs along a slower axis and a faster one are those of one axis.
inline bool inputs_are_one_run(const OuterAxisBeside& slower, const OuterAxisBeside& faster) {
  for (std::size_t i = 0; i < slower.input_strides.size(); ++i)
    if (slower.input_strides[i] != faster.extent * faster.input_strides[i]) return false;
  return true;
}

/// The outer axes of a problem. An array can have more of them than kernels take.
using OuterAxes = std::array<OuterAxisBeside, max_rank>;

/// Removes axes of extent 1 and sorts the others by one of their strides, largest first. Returns
/// the number of remaining axes (at least one).
inline int sort_outer_axes(OuterAxes& axes, int count, std::int64_t OuterAxis::*stride) {
  auto last = std::remove_if(axes.begin(), axes.begin() + count,
                             [](const OuterAxis& axis) { return axis.extent == 1; });
  insertion_sort(axes.begin(), last,
                 [&](const OuterAxis& a, const OuterAxis& b) { return a.*stride > b.*stride; });
  if (last == axes.begin()) *last++ = {{1, 0, 0}, 0, 0};
  return static_cast<int>(last - axes.begin());
}

/// Merges the neighbours among the first `count` axes for which one_run(slower, faster) says that
/// one stride describes both, and writes them to `merged`. Returns their number.
template <class OneRun>
int merge_outer_axes(const OuterAxes& axes, int count, const OneRun& one_run, OuterAxes& merged) {
  int last = 0;
  merged[0] = axes[0];
  for (int d = 1; d < count; ++d) {
    const bool joined = one_run(merged[last], axes[d]);
    const std::int64_t slower = joined ? merged[last].extent : 1;
    if (!joined) ++last;
    merged[last] = axes[d];
    merged[last].extent *= slower;
  }
  return last + 1;
}

/// An array of rank 0 to 8, made from a View or from a tensor of the C interface; strides in
/// elements. Extents are not negative. check_size() checks the strides, and the sizes that extents
/// and strides result in.
template <class T>
struct StridedArray {
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

/// The arrays of one number per row beside y.
template <class X, class Y>
struct ArraysBeside {
  using Array = StridedArray<typename RowProblem<std::remove_const_t<X>, Y>::RowValue>;

  std::optional<Array> lse;
  std::optional<Array> max;

  /// Calls function(name, array) for those that a call asks for.
  template <class Function>
  void for_each(const Function& function) const {
    if (lse) function("lse", *lse);
    if (max) function("max", *max);
  }
};

/// Two arrays as rows x columns, with all outer axes. `sorted` has them before they are merged.
template <class X, class Y>
struct RowPair {
  const X* x = nullptr;
  Y* y = nullptr;
  std::int64_t rows = 1;
  std::int64_t columns = 0;
  std::int64_t x_column_stride = 1;
  std::int64_t y_column_stride = 1;  // 0 if y holds one value per row
  int outer_rank = 1;
  OuterAxes outer = {{{{1, 0, 0}, 0, 0}}};
  int sorted_rank = 0;
  OuterAxes sorted{};
  bool writes_nothing = false;  // then the outer axes are neither sorted nor merged
};

/// Makes the pair of x and y, see make_row_problem().
template <class X, class Y>
auto make_row_pair(const StridedArray<X>& x, const StridedArray<Y>& y, int axis,
                   const ArraysBeside<X, Y>& beside = {}, const InputStrides& input_strides = {}) {
  const auto lse = beside.lse.value_or(typename ArraysBeside<X, Y>::Array{});
  const auto max = beside.max.value_or(typename ArraysBeside<X, Y>::Array{});
  const bool one_value_per_row = y.rank < x.rank;
  RowPair<std::remove_const_t<X>, Y> pair;
  pair.x = x.data;
  pair.y = y.data;
  pair.columns = x.extents[axis];
  pair.x_column_stride = x.strides[axis];
  // An axis of extent 1 can have the stride 0, too, which stands for one value per row here.
  pair.y_column_stride = one_value_per_row ? 0 : std::max<std::int64_t>(y.strides[axis], 1);
  for (int d = 0; d < x.rank; ++d) {
    if (d == axis) continue;
    const int without_axis = d > axis ? d - 1 : d;
    const int y_d = one_value_per_row ? without_axis : d;
    // if x has no elements, its strides have no meaning
    pair.sorted[pair.sorted_rank++] = {
        {x.extents[d], pair.columns == 0 ? 0 : x.strides[d], y.strides[y_d]},
        lse.strides[without_axis],
        max.strides[without_axis],
        input_strides[d]};
    pair.rows = capped_product(pair.rows, x.extents[d]);
  }
  pair.writes_nothing = pair.rows == 0 || (pair.columns == 0 && !one_value_per_row);
  if (pair.writes_nothing) return pair;  // products of its extents could overflow
  pair.sorted_rank =
      sort_outer_axes(pair.sorted, pair.sorted_rank,
                      pair.columns == 0 ? &OuterAxis::y_stride : &OuterAxis::x_stride);
  const auto one_run = [](const auto& slower, const auto& faster) {
    return slower.x_stride == faster.extent * faster.x_stride &&
           slower.y_stride == faster.extent * faster.y_stride && inputs_are_one_run(slower, faster);
  };
  pair.outer_rank = merge_outer_axes(pair.sorted, pair.sorted_rank, one_run, pair.outer);
  return pair;
}

/// Makes the problem of x and y. x has rank 1 to 8. y has the same rank, or one less (without the
/// axis) if it holds one value per row, as the arrays beside y do. `axis` is in [0, rank). All must
/// have passed check_size(). `input_strides` has the strides along the axes of x of what is read
/// besides x; `merged_strides` gets those along the outer axes of the result, and 0 for the others.
/// If RowProblem::outer_rank exceeds max_outer_rank, kernels can't take the problem, see
/// check_outer_rank().
template <class X, class Y>
auto make_row_problem(const StridedArray<X>& x, const StridedArray<Y>& y, int axis,
                      const ArraysBeside<X, Y>& beside, const InputStrides& input_strides,
                      InputStrides& merged_strides) {
  const auto pair = make_row_pair(x, y, axis, beside, input_strides);
  RowProblem<std::remove_const_t<X>, Y> problem;
  problem.x = pair.x;
  problem.y = pair.y;
  problem.rows = pair.rows;
  problem.columns = pair.columns;
  problem.x_column_stride = pair.x_column_stride;
  problem.y_column_stride = pair.y_column_stride;
  if (pair.writes_nothing) return problem;
  const auto has_one_stride = [&](std::int64_t OuterAxisBeside::*stride, std::int64_t& of_rows) {
    const auto one_run = [&](const auto& slower, const auto& faster) {
      return slower.*stride == faster.extent * (faster.*stride);
    };
    OuterAxes merged{};
    const int count = merge_outer_axes(pair.sorted, pair.sorted_rank, one_run, merged);
    of_rows = merged[0].*stride;
    return count == 1;
  };
  if (beside.lse) {
    problem.lse = beside.lse->data;
    problem.lse_has_one_stride = has_one_stride(&OuterAxisBeside::lse_stride, problem.lse_stride);
  }
  if (beside.max) {
    problem.max = beside.max->data;
    problem.max_has_one_stride = has_one_stride(&OuterAxisBeside::max_stride, problem.max_stride);
  }
  problem.outer_rank = pair.outer_rank;
  std::copy_n(pair.outer.begin(), std::min(pair.outer_rank, max_outer_rank), problem.outer);
  for (int d = 0; d < pair.outer_rank; ++d) merged_strides[d] = pair.outer[d].input_strides;
  return problem;
}

/// The same without inputs besides x.
template <class X, class Y>
auto make_row_problem(const StridedArray<X>& x, const StridedArray<Y>& y, int axis,
                      const ArraysBeside<X, Y>& beside = {}) {
  InputStrides merged{};
  return make_row_problem(x, y, axis, beside, {}, merged);
}

}  // namespace KokkosSoftmax::Impl

#endif
