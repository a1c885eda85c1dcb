// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_LOSSPROBLEM_HPP
#define KOKKOSSOFTMAX_IMPL_LOSSPROBLEM_HPP

/// \file
/// The problems with labels and with other numbers of rows: one per row, at any strides.

#include <cstddef>
#include <cstdint>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <variant>

namespace KokkosSoftmax::Impl {

/// An array of one number per row. The strides are those along RowProblem::outer, in elements.
template <class T>
struct RowNumbers {
  T* data = nullptr;
  std::int64_t outer_stride[max_outer_rank] = {};
};

/// The label of each row, and what it means. There are none if `index.data` is null.
struct RowLabels {
  RowNumbers<const void> index;
  bool have_64_bits = false;  ///< otherwise 32
  std::int64_t ignored = 0;   ///< the label of rows that count for nothing
  double smoothing = 0;       ///< in [0, 1]
};

/// Labels as they are given.
struct LabelArrays {
  std::variant<StridedArray<const std::int32_t>, StridedArray<const std::int64_t>> index;
  std::int64_t ignored = 0;
  double smoothing = 0;
};

/// A problem that gives a number for each row and its label. There is no y.
template <class T>
struct LossProblem : RowProblem<T, T> {
  using RowValue = typename RowProblem<T, T>::RowValue;

  RowLabels labels;
  RowNumbers<RowValue> loss;
  RowNumbers<RowValue> row_lse;  ///< null if it isn't asked for
};

/// A problem whose y is the derivative by x, given the log-sum-exp of each row and the derivative
/// by the number of each row.
template <class T>
struct GradientProblem : GeneralRowProblem<T, T> {
  using RowValue = typename RowProblem<T, T>::RowValue;

  RowNumbers<const RowValue> row_lse;
  RowNumbers<const RowValue> derivative;
  RowLabels labels;
};

/// The strides of an array of rows, which has the axes of x except one.
template <class T>
void add_row_strides(InputStrides& strides, std::size_t number, int x_rank, int axis,
                     const StridedArray<T>& array) {
  for (int d = 0; d < x_rank; ++d)
    if (d != axis) strides[d][number] = array.strides[d > axis ? d - 1 : d];
}
template <class T>
void set_merged_strides(RowNumbers<T>& numbers, std::size_t number, const InputStrides& merged) {
  for (int d = 0; d < max_outer_rank; ++d) numbers.outer_stride[d] = merged[d][number];
}

inline RowLabels labels_of(const LabelArrays& arrays) {
  RowLabels labels;
  std::visit([&](const auto& array) { labels.index.data = array.data; }, arrays.index);
  labels.have_64_bits = arrays.index.index() == 1;
  labels.ignored = arrays.ignored;
  labels.smoothing = arrays.smoothing;
  return labels;
}

/// Makes the problem of x, labels, and what is written per row. All arrays have passed
/// check_size(); `lse` has no data if it isn't asked for.
template <class T, class RowValue>
auto make_loss_problem(const StridedArray<const T>& x, const LabelArrays& labels,
                       const StridedArray<RowValue>& loss, const StridedArray<RowValue>& lse,
                       int axis) {
  enum : std::size_t { of_labels, of_loss, of_lse };
  InputStrides strides{}, merged{};
  std::visit([&](const auto& array) { add_row_strides(strides, of_labels, x.rank, axis, array); },
             labels.index);
  add_row_strides(strides, of_loss, x.rank, axis, loss);
  add_row_strides(strides, of_lse, x.rank, axis, lse);
  StridedArray<T> nothing;  // there are no entries to write
  nothing.rank = x.rank - 1;
  // An x without entries has no strides by which axes could be sorted, so that they merge.
  if (x.extents[axis] == 0) nothing.strides = loss.strides;
  LossProblem<T> problem;
  static_cast<RowProblem<T, T>&>(problem) = make_row_problem(x, nothing, axis, {}, strides, merged);
  for (OuterAxis& outer : problem.outer) outer.y_stride = 0;
  problem.labels = labels_of(labels);
  problem.loss.data = loss.data;
  problem.row_lse.data = lse.data;
  set_merged_strides(problem.labels.index, of_labels, merged);
  set_merged_strides(problem.loss, of_loss, merged);
  set_merged_strides(problem.row_lse, of_lse, merged);
  return problem;
}

/// Makes the problem of a gradient, see GradientProblem. `labels` is null if there are none.
template <class T, class RowValue, class Compute>
auto make_gradient_problem(const StridedArray<const T>& x, const StridedArray<const RowValue>& lse,
                           const StridedArray<const RowValue>& derivative,
                           const LabelArrays* labels, const InputArrays<const T, Compute>& arrays,
                           const StridedArray<T>& dx, int axis) {
  enum : std::size_t { of_lse = InputNumber::of_rows, of_derivative, of_labels };
  InputStrides strides{}, merged{};
  GradientProblem<T> problem;
  set_inputs(problem.inputs, strides, x, axis, arrays);
  add_row_strides(strides, of_lse, x.rank, axis, lse);
  add_row_strides(strides, of_derivative, x.rank, axis, derivative);
  if (labels != nullptr)
    std::visit([&](const auto& array) { add_row_strides(strides, of_labels, x.rank, axis, array); },
               labels->index);
  static_cast<RowProblem<T, T>&>(problem) = make_row_problem(x, dx, axis, {}, strides, merged);
  set_merged_strides(problem.inputs, merged);
  if (labels != nullptr) problem.labels = labels_of(*labels);
  problem.row_lse.data = lse.data;
  problem.derivative.data = derivative.data;
  set_merged_strides(problem.row_lse, of_lse, merged);
  set_merged_strides(problem.derivative, of_derivative, merged);
  set_merged_strides(problem.labels.index, of_labels, merged);
  return problem;
}

}  // namespace KokkosSoftmax::Impl

#endif
