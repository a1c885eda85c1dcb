// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_BOTHAXESARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_BOTHAXESARGUMENTS_HPP

/// \file
/// The checks of the arguments of logsumexp_both_axes.

#include <cstdint>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <impl/KokkosSoftmax_BothAxesProblem.hpp>

namespace KokkosSoftmax::Impl {

inline constexpr Callee both_axes_callee("logsumexp_both_axes", true);

/// A vector along one axis of a matrix of these extents, and broadcast along the other one.
template <class T>
StridedArray<T> along_axis(const StridedArray<T>& vector, int axis, std::int64_t rows,
                           std::int64_t columns) {
  StridedArray<T> matrix;
  matrix.data = vector.data;
  matrix.rank = 2;
  matrix.extents = {rows, columns};
  matrix.strides[axis] = vector.strides[0];
  return matrix;
}

/// Checks that the results of rows and those of columns have memory of their own.
template <class T>
void check_results_apart(const Callee& callee, const StridedArray<T>& row_lse,
                         const StridedArray<T>& column_lse) {
  const std::int64_t rows = row_lse.extents[0], columns = column_lse.extents[0];
  const auto pair = make_row_pair(along_axis(row_lse, 0, rows, columns),
                                  along_axis(column_lse, 1, rows, columns), 1);
  if (pair.rows == 0 || pair.columns == 0 || !overlap(pair)) return;
  throw_invalid(callee, "row_lse at ", static_cast<const void*>(row_lse.data),
                " and column_lse at ", static_cast<const void*>(column_lse.data),
                " overlap (both are written): give column_lse memory of its own");
}

/// Checks the values of the arguments, and returns the problem.
template <class X, class T>
BothAxesProblem<X> checked_both_axes(const StridedArray<const X>& x, const StridedArray<T>& row_lse,
                                     const StridedArray<T>& column_lse, double scale) {
  constexpr Callee callee = both_axes_callee;
  check_scale<ValueTypes<X>>(callee, scale);
  check_extents(callee, "x", x, "row_lse", row_lse, ReducedAxes(x, 1), true);
  check_extents(callee, "x", x, "column_lse", column_lse, ReducedAxes(x, 0), true);
  check_size(callee, "x", x);
  check_size(callee, "row_lse", row_lse);
  check_size(callee, "column_lse", column_lse);
  check_apart(callee, "x", x, false, "row_lse", row_lse, 1);
  check_apart(callee, "x", x, false, "column_lse", column_lse, 0);
  check_results_apart(callee, row_lse, column_lse);
  BothAxesProblem<X> problem{.x = x.data,
                             .rows = x.extents[0],
                             .columns = x.extents[1],
                             .row_stride = x.strides[0],
                             .column_stride = x.strides[1],
                             .of_rows = row_lse.data,
                             .of_columns = column_lse.data,
                             .of_rows_stride = row_lse.strides[0],
                             .of_columns_stride = column_lse.strides[0]};
  if (problem.columns == 1 || (problem.rows > 1 && problem.row_stride < problem.column_stride))
    problem.transpose();
  return problem;
}

/// Checks the values of the arguments and enqueues the work. If it throws, nothing is written.
template <class Exec, class X, class T>
void check_and_launch_both_axes(const Exec& exec, const StridedArray<const X>& x,
                                const StridedArray<T>& row_lse, const StridedArray<T>& column_lse,
                                double scale) {
  const auto problem = checked_both_axes<X>(x, row_lse, column_lse, scale);
  if (problem.rows > 0 || problem.columns > 0) launch_both_axes(exec, problem, scale);
}

}  // namespace KokkosSoftmax::Impl

#endif
