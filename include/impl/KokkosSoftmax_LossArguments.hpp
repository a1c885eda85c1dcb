// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_LOSSARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_LOSSARGUMENTS_HPP

/// \file
/// The checks of the arguments of logsumexp_backward, cross_entropy and cross_entropy_backward.

#include <impl/KokkosSoftmax_Arguments.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>

namespace KokkosSoftmax::Impl {

/// The type of the numbers of rows for an x of type X: of the computation.
template <class X>
using RowValueOf = typename RowProblem<typename X::non_const_value_type,
                                       typename X::non_const_value_type>::RowValue;

/// Checks the type of exec and x at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_X(function, Exec, X)                                           \
  static_assert(Kokkos::is_execution_space_v<Exec>,                                             \
                "KokkosSoftmax::" function ": exec must be an instance of an execution space"); \
  static_assert(Kokkos::is_view_v<X>, "KokkosSoftmax::" function ": x must be a Kokkos::View"); \
  static_assert(X::rank() >= 1, "KokkosSoftmax::" function ": x must have rank 1 to 8");        \
  static_assert(KokkosSoftmax::Impl::have_kernels<typename X::non_const_value_type,             \
                                                  typename X::non_const_value_type>,            \
                "KokkosSoftmax::" function                                                      \
                ": the value type of x must be float, double, half_t or bhalf_t, and the "      \
                "library must be built for it (KokkosSoftmax_VALUE_TYPES "                      \
                "was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");                                     \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, X>,                               \
                "KokkosSoftmax::" function ": the memory of x is not accessible from exec")
/// The same for dx.
#define KOKKOSSOFTMAX_IMPL_CHECK_DX(function, Exec, X, DX)                                        \
  static_assert(Kokkos::is_view_v<DX>, "KokkosSoftmax::" function ": dx must be a Kokkos::View"); \
  static_assert(KokkosSoftmax::Impl::rank_of<DX>() == KokkosSoftmax::Impl::rank_of<X>(),          \
                "KokkosSoftmax::" function ": dx must have the rank of x");                       \
  static_assert(std::is_same_v<typename DX::value_type, typename X::non_const_value_type>,        \
                "KokkosSoftmax::" function                                                        \
                ": the value type of dx must be that of x, without const");                       \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, DX>,                                \
                "KokkosSoftmax::" function ": the memory of dx is not accessible from exec")
/// The same for a View with one number per row, whose value type V::`Value` is that of the
/// computation.
#define KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS(function, Exec, X, name, V, Value)              \
  static_assert(Kokkos::is_view_v<V>,                                                        \
                "KokkosSoftmax::" function ": " name " must be a Kokkos::View");             \
  static_assert(KokkosSoftmax::Impl::rank_of<V>() < KokkosSoftmax::Impl::rank_of<X>(),       \
                "KokkosSoftmax::" function ": " name                                         \
                " must have the rank of x less the number of reduced axes");                 \
  static_assert(std::is_same_v<typename V::Value, KokkosSoftmax::Impl::RowValueOf<X>>,       \
                "KokkosSoftmax::" function ": the value type of " name                       \
                " must be double if that of x is double, otherwise float (without const if " \
                "it is written)");                                                           \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, V>,                            \
                "KokkosSoftmax::" function ": the memory of " name " is not accessible from exec")
/// The same for a function that reduces one axis.
#define KOKKOSSOFTMAX_IMPL_CHECK_ONE_AXIS_NUMBERS(function, Exec, X, name, V, Value)        \
  static_assert(KokkosSoftmax::Impl::rank_of<V>() + 1 == KokkosSoftmax::Impl::rank_of<X>(), \
                "KokkosSoftmax::" function ": " name " must have the rank of x less one");  \
  KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS(function, Exec, X, name, V, Value)
/// The same for labels.
#define KOKKOSSOFTMAX_IMPL_CHECK_LABELS(function, Exec, X, V)                               \
  static_assert(Kokkos::is_view_v<V>,                                                       \
                "KokkosSoftmax::" function ": labels must be a Kokkos::View");              \
  static_assert(KokkosSoftmax::Impl::rank_of<V>() + 1 == KokkosSoftmax::Impl::rank_of<X>(), \
                "KokkosSoftmax::" function ": labels must have the rank of x less one");    \
  static_assert(KokkosSoftmax::Impl::has_input_type<V, std::int32_t, std::int64_t>(),       \
                "KokkosSoftmax::" function                                                  \
                ": the value type of labels must be std::int32_t or std::int64_t");         \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, V>,                           \
                "KokkosSoftmax::" function ": the memory of labels is not accessible from exec")

/// Checks the types of calls without exec, which take the execution space from the output.
#define KOKKOSSOFTMAX_IMPL_CHECK_CROSS_ENTROPY_VIEWS(arguments, X, Labels, Loss)  \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("cross_entropy", arguments, "x", X);           \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("cross_entropy", arguments, "labels", Labels); \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("cross_entropy", arguments, "loss", Loss)
#define KOKKOSSOFTMAX_IMPL_CHECK_GRADIENT_VIEWS(function, arguments, X, Lse, d_name, D, DX) \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, arguments, "x", X);                            \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, arguments, "lse", Lse);                        \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, arguments, d_name, D);                         \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, arguments, "dx", DX)
#define KOKKOSSOFTMAX_IMPL_CHECK_LOGSUMEXP_BACKWARD_VIEWS(X, Lse, DLse, DX)                    \
  KOKKOSSOFTMAX_IMPL_CHECK_GRADIENT_VIEWS("logsumexp_backward", "x, lse, dlse and dx", X, Lse, \
                                          "dlse", DLse, DX)
#define KOKKOSSOFTMAX_IMPL_CHECK_CROSS_ENTROPY_BACKWARD_VIEWS(X, Labels, Lse, DLoss, DX)     \
  KOKKOSSOFTMAX_IMPL_CHECK_GRADIENT_VIEWS(                                                   \
      "cross_entropy_backward", "x, labels, lse, dloss and dx", X, Lse, "dloss", DLoss, DX); \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW("cross_entropy_backward", "x, labels, lse, dloss and dx", \
                                   "labels", Labels)

/// A View that is written, as an array of T. The checks of types have failed if it isn't one: then
/// their messages are the only ones.
template <class T, class V>
StridedArray<T> output_array(const V& view) {
  const StridedArray<const T> given = input_array<T>(view);
  StridedArray<T> array;
  array.data = const_cast<T*>(given.data);
  array.rank = given.rank;
  array.extents = given.extents;
  array.strides = given.strides;
  return array;
}

/// Checks the options that all of the functions have, and returns the axes.
template <class T>
ReducedAxes check_row_options(const Callee& callee, const StridedArray<const T>& x,
                              const Options& options) {
  const ReducedAxes axes = checked_axes(callee, "x", x, options);
  check_scale<ValueTypes<T>>(callee, options.scale);
  check_size(callee, "x", x);
  return axes;
}

/// Checks an array that has the extents of x without the reduced axes.
template <class T, class Row>
void check_row_numbers(const Callee& callee, const StridedArray<const T>& x, const char* name,
                       const StridedArray<Row>& array, const ReducedAxes& axes) {
  check_extents(callee, "x", x, name, array, axes, true);
  check_size(callee, name, array);
}

template <class T>
void check_labels(const Callee& callee, const StridedArray<const T>& x, const LabelArrays& labels,
                  const ReducedAxes& axes) {
  std::visit([&](const auto& array) { check_row_numbers(callee, x, "labels", array, axes); },
             labels.index);
  if (!(labels.smoothing >= 0 && labels.smoothing <= 1))
    throw_invalid(callee, "label_smoothing = ", labels.smoothing,
                  " is not in [0, 1] (it is a part of the probability): give a number from 0 to 1");
}

template <class Written>
void check_labels_apart(const Callee& callee, const LabelArrays& labels, const char* name_written,
                        const StridedArray<Written>& written, int axis) {
  std::visit(
      [&](const auto& array) {
        check_apart(callee, "labels", array, true, name_written, written, axis);
      },
      labels.index);
}

/// Checks the values of the arguments and enqueues the operation. If it throws, nothing is written.
/// `lse` is empty if it isn't asked for.
template <LossOperation operation, class Exec, class T, class RowValue>
void check_and_launch_loss(const Exec& exec, const StridedArray<const T>& x,
                           const LabelArrays& labels, const StridedArray<RowValue>& loss,
                           const std::optional<StridedArray<RowValue>>& lse,
                           const Options& options) {
  const ReducedAxes axes = check_row_options(operation, x, options);
  const int axis = axes.merged_axis();
  check_labels(operation, x, labels, axes);
  const auto check_written = [&](const char* name, const auto& array) {
    check_row_numbers(operation, x, name, array, axes);
    check_apart(operation, "x", x, false, name, array, axis);
    check_labels_apart(operation, labels, name, array, axis);
  };
  check_written("loss", loss);
  if (lse) {
    check_written("lse", *lse);
    check_apart(operation, "loss", loss, true, "lse", *lse, axis);
  }
  StridedArray<RowValue> no_lse;
  no_lse.rank = loss.rank;
  const auto problem = make_loss_problem(x, labels, loss, lse.value_or(no_lse), axis);
  check_outer_rank(operation, problem);
  if (problem.rows > 0) launch<operation>(exec, problem, options);
}

/// The same for a gradient. `labels` is null if there are none.
template <GradientOperation operation, class Exec, class T, class RowValue, class Compute>
void check_and_launch_gradient(const Exec& exec, const StridedArray<const T>& given_x,
                               const StridedArray<const RowValue>& lse, const char* derivative_name,
                               const StridedArray<const RowValue>& derivative,
                               const LabelArrays* labels,
                               const InputArrays<const T, Compute>& inputs,
                               const StridedArray<T>& given_dx, const Options& options) {
  const ReducedAxes axes = check_row_options(operation, given_x, options);
  check_extents(operation, "x", given_x, "dx", given_dx, axes, false);
  check_size(operation, "dx", given_dx);
  check_row_numbers(operation, given_x, "lse", lse, axes);
  check_row_numbers(operation, given_x, derivative_name, derivative, axes);
  if (labels != nullptr) check_labels(operation, given_x, *labels, axes);
  if (options.algorithm != Algorithm::automatic)
    throw_invalid(operation, "algorithm = ", to_string(options.algorithm),
                  " can't be chosen (there is one algorithm, because each entry of dx is computed "
                  "alone): use Algorithm::automatic");
  const auto x = merged_array(operation, "x", given_x, axes);
  const auto dx = merged_array(operation, "dx", given_dx, axes);
  const int axis = axes.merged_axis();
  const auto pair = make_row_pair(x, dx, axis);
  if (pair.rows == 0 || pair.columns == 0) return;
  check_overlap(operation, "x", "dx", pair);
  check_apart(operation, "lse", lse, true, "dx", dx, axis);
  check_apart(operation, derivative_name, derivative, true, "dx", dx, axis);
  if (labels != nullptr) check_labels_apart(operation, *labels, "dx", dx, axis);
  check_overlap_inputs(operation, "dx", dx, ArraysBeside<const T, T>{}, inputs, axis);
  const auto problem = make_gradient_problem(x, lse, derivative, labels, inputs, dx, axis);
  check_outer_rank(operation, problem);
  launch<operation>(exec, problem, options);
}

/// A View of labels, and what they mean.
template <class Labels, class LossOptions>
LabelArrays label_arrays(const Labels& labels, const LossOptions& options) {
  LabelArrays arrays;
  arrays.index = input_array<typename Labels::non_const_value_type>(labels);
  arrays.ignored = options.ignore_index;
  arrays.smoothing = options.label_smoothing;
  return arrays;
}

}  // namespace KokkosSoftmax::Impl

#endif
