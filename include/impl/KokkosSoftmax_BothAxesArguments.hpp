// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_BOTHAXESARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_BOTHAXESARGUMENTS_HPP

/// \file
/// The checks of the arguments of logsumexp_both_axes.

#include <impl/KokkosSoftmax_BothAxesProblem.hpp>
#include <impl/KokkosSoftmax_LossArguments.hpp>

namespace KokkosSoftmax::Impl {

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES(Exec, X, R, C)                                         \
  KOKKOSSOFTMAX_IMPL_CHECK_X("logsumexp_both_axes", Exec, X);                                     \
  static_assert(KokkosSoftmax::Impl::rank_of<X>() == 2,                                           \
                "KokkosSoftmax::logsumexp_both_axes: x must have rank 2");                        \
  KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS("logsumexp_both_axes", Exec, X, "row_lse", R, value_type); \
  KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS("logsumexp_both_axes", Exec, X, "column_lse", C, value_type)

/// Checks the types of a call without exec, which takes the execution space from row_lse.
#define KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES_VIEWS(X, R, C)                                         \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("logsumexp_both_axes", "x, row_lse and column_lse", "x", X);   \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("logsumexp_both_axes", "x, row_lse and column_lse", "row_lse", \
                                   R);                                                            \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("logsumexp_both_axes", "x, row_lse and column_lse",            \
                                   "column_lse", C)

/// Checks that the results along the two axes share no element.
template <class T>
void check_results_apart(const Callee& callee, const StridedArray<T>& row_lse,
                         const StridedArray<T>& column_lse) {
  // As matrices along whose other axis the stride is 0. overlap() has two arrays of the same
  // extents.
  StridedArray<T> of_rows = row_lse, of_columns = column_lse;
  of_rows.rank = of_columns.rank = 2;
  of_rows.extents[1] = of_columns.extents[1] = column_lse.extents[0];
  of_columns.extents[0] = row_lse.extents[0];
  of_rows.strides[1] = 0;
  of_columns.strides[1] = column_lse.strides[0];
  of_columns.strides[0] = 0;
  if (!overlap(make_row_problem(of_rows, of_columns, 0))) return;
  throw_invalid(callee, "row_lse at ", static_cast<const void*>(row_lse.data),
                " and column_lse at ", static_cast<const void*>(column_lse.data),
                " overlap (both are written): give column_lse memory of its own");
}

/// Checks the values of the arguments and enqueues the operation. If it throws, nothing is written.
template <class Exec, class T, class Value>
void check_and_launch_both_axes(const Exec& exec, const StridedArray<const T>& x,
                                const StridedArray<Value>& row_lse,
                                const StridedArray<Value>& column_lse, double scale) {
  const Callee callee = BothAxesOperation::logsumexp_both_axes;
  check_scale<ValueTypes<T>>(callee, scale);
  check_size(callee, "x", x);
  check_row_numbers(callee, x, "row_lse", row_lse, 1);
  check_row_numbers(callee, x, "column_lse", column_lse, 0);
  check_apart(callee, "x", x, false, "row_lse", row_lse, 1);
  check_apart(callee, "x", x, false, "column_lse", column_lse, 0);
  if (x.extents[0] > 0 && x.extents[1] > 0) check_results_apart(callee, row_lse, column_lse);
  if (x.extents[0] == 0 && x.extents[1] == 0) return;
  launch_both_axes(exec, make_both_axes_problem(x, row_lse, column_lse, scale));
}

}  // namespace KokkosSoftmax::Impl

#endif
