// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_BOTHAXESPROBLEM_HPP
#define KOKKOSSOFTMAX_IMPL_BOTHAXESPROBLEM_HPP

/// \file
/// Log-sum-exps along both axes of a matrix: the problem, and the function of the compiled library
/// that launches it.

#include <cstdint>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl {

/// A matrix of `rows` x `columns` whose neighbouring columns are nearer in memory than its
/// neighbouring rows. `of_rows` has one result per row, `of_columns` one per column. All strides
/// are in elements.
template <class X>
struct BothAxesProblem {
  using T = std::conditional_t<std::is_same_v<X, double>, double, float>;

  const X* x = nullptr;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::int64_t row_stride = 0;
  std::int64_t column_stride = 1;
  T* of_rows = nullptr;
  T* of_columns = nullptr;
  std::int64_t of_rows_stride = 1;
  std::int64_t of_columns_stride = 1;

  void transpose() {
    std::swap(rows, columns);
    std::swap(row_stride, column_stride);
    std::swap(of_rows, of_columns);
    std::swap(of_rows_stride, of_columns_stride);
  }
};

/// Enqueues the problem on exec. Instantiated in src/ for each execution space and value type.
template <class Exec, class X>
void launch_both_axes(const Exec& exec, const BothAxesProblem<X>& problem, double scale);

}  // namespace KokkosSoftmax::Impl

#endif
