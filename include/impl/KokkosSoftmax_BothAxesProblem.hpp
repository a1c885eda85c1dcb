// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_BOTHAXESPROBLEM_HPP
#define KOKKOSSOFTMAX_IMPL_BOTHAXESPROBLEM_HPP

/// \file
/// The problem of an operation along both axes of a matrix, and the function of the compiled
/// library that solves it.

#include <cstdint>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

/// One number per row or per column; the stride is in elements.
template <class T>
struct AxisNumbers {
  T* data = nullptr;
  std::int64_t stride = 1;
};

/// A matrix, and what is computed along its axes; strides are in elements.
template <class T>
struct BothAxesProblem {
  using Value = typename RowProblem<T, T>::RowValue;

  const T* x = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 1;
  std::int64_t column_stride = 1;
  AxisNumbers<Value> row_lse;
  AxisNumbers<Value> column_lse;
  double scale = 1.0;

  /// The same problem for the transposed matrix.
  BothAxesProblem transposed() const {
    BothAxesProblem other = *this;
    std::swap(other.rows, other.columns);
    std::swap(other.row_stride, other.column_stride);
    std::swap(other.row_lse, other.column_lse);
    return other;
  }
};

/// Makes the problem of a matrix. All arrays have passed check_size().
template <class T, class Value>
BothAxesProblem<T> make_both_axes_problem(const StridedArray<const T>& x,
                                          const StridedArray<Value>& row_lse,
                                          const StridedArray<Value>& column_lse, double scale) {
  BothAxesProblem<T> problem;
  problem.x = x.data;
  problem.rows = x.extents[0];
  problem.columns = x.extents[1];
  problem.row_stride = x.strides[0];
  problem.column_stride = x.strides[1];
  problem.row_lse = {row_lse.data, row_lse.strides[0]};
  problem.column_lse = {column_lse.data, column_lse.strides[0]};
  problem.scale = scale;
  return problem;
}

/// Enqueues the operation. Instantiated in src/ for each execution space that Kokkos has enabled
/// and for all types of x. Either extent may be 0.
template <class Exec, class T>
void launch_both_axes(const Exec& exec, const BothAxesProblem<T>& problem);

}  // namespace KokkosSoftmax::Impl

#endif
