// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_ARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_ARGUMENTS_HPP

/// \file
/// The checks of all arguments before a kernel runs. Messages have the form PROBLEM (WHY)
/// SUGGESTION.

#include <KokkosSoftmax_Operands.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <array>
#include <cmath>
#include <impl/KokkosSoftmax_InvalidArgument.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <impl/KokkosSoftmax_Overlap.hpp>
#include <impl/KokkosSoftmax_ReducedAxes.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <limits>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <class Exec, class V>
inline constexpr bool is_accessible_from =
    Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible;

/// The largest rank of x in the messages below is max_rank.
static_assert(max_rank == 8);

/// Checks the types at compile time. Each message names the function and the argument. y has one
/// value per row if `reduces`, so that its rank depends on the number of reduced axes.
#define KOKKOSSOFTMAX_IMPL_CHECK_TYPES(function, Exec, X, y_name, Y, reduces)                      \
  static_assert(Kokkos::is_execution_space_v<Exec>,                                                \
                "KokkosSoftmax::" function ": exec must be an instance of an execution space");    \
  static_assert(Kokkos::is_view_v<X>, "KokkosSoftmax::" function ": x must be a Kokkos::View");    \
  static_assert(Kokkos::is_view_v<Y>,                                                              \
                "KokkosSoftmax::" function ": " y_name " must be a Kokkos::View");                 \
  static_assert(X::rank() >= 1, "KokkosSoftmax::" function ": x must have rank 1 to 8");           \
  static_assert(reduces ? Y::rank() < X::rank() : Y::rank() == X::rank(),                          \
                "KokkosSoftmax::" function ": " y_name                                             \
                " must have the rank of x (for logsumexp: less the number of reduced axes)");      \
  static_assert(                                                                                   \
      KokkosSoftmax::Impl::have_kernels<typename X::non_const_value_type, typename Y::value_type>, \
      "KokkosSoftmax::" function ": the value types of x and " y_name                              \
      " must be float and float, double and double, half_t and half_t, half_t and "                \
      "float, bhalf_t and bhalf_t, or bhalf_t and float, that of " y_name                          \
      " without const, and the library must be built for them (KokkosSoftmax_VALUE_TYPES "         \
      "was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");                                                  \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, X>,                                  \
                "KokkosSoftmax::" function ": the memory of x is not accessible from exec");       \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, Y>,                                  \
                "KokkosSoftmax::" function ": the memory of " y_name                               \
                " is not accessible from exec")

/// Checks the types of a call without exec, which takes the execution space from y. An argument
/// that isn't a View is mostly an exec in a call that has one View too few; the message therefore
/// lists both forms of the call.
#define KOKKOSSOFTMAX_IMPL_CHECK_VIEWS(function, X, y_name, Y)                                   \
  static_assert(Kokkos::is_view_v<X>,                                                            \
                "KokkosSoftmax::" function                                                       \
                ": x must be a Kokkos::View (the arguments are x and " y_name                    \
                ", or exec, x and " y_name ")");                                                 \
  static_assert(Kokkos::is_view_v<Y>, "KokkosSoftmax::" function ": " y_name                     \
                                      " must be a Kokkos::View (the arguments are x and " y_name \
                                      ", or exec, x and " y_name ")")

template <class... V>
inline constexpr bool are_views = (Kokkos::is_view_v<V> && ...);

template <class V>
void check_scale(const Callee& callee, double scale) {
  using T = typename V::Compute;
  using Limits = std::numeric_limits<T>;
  // From here on, a number is rounded to infinity. For doubles, this is infinity itself.
  const double limit =
      std::ldexp(2 - static_cast<double>(Limits::epsilon()) / 2, Limits::max_exponent - 1);
  if (!(std::abs(scale) < limit))
    throw_invalid(callee, "scale = ", scale, " is not finite (it is rounded to a type for ",
                  "numbers up to ", Limits::max(), "): give a finite scale");
}

/// Checks that y has the extents of x, or those of x without the reduced axes.
template <class X, class Y>
void check_extents(const Callee& callee, const char* x_name, const StridedArray<X>& x,
                   const char* y_name, const StridedArray<Y>& y, const ReducedAxes& axes,
                   bool without_axes) {
  bool same = y.rank == x.rank - (without_axes ? axes.count() : 0);
  for (int d = 0, e = 0; same && d < x.rank; ++d) {
    if (without_axes && axes.contains(d)) continue;
    same = x.extents[d] == y.extents[e++];
  }
  if (!same)
    throw_invalid(callee, "the extents ", extents_of(y), " of ", y_name, " don't fit ", x_name, " ",
                  extents_of(x), " with ", axes.text(), ": give ", y_name, " the extents of ",
                  x_name, without_axes ? " without " : "", without_axes ? axes.those() : "");
}

/// Checks that the extents and strides are valid: the elements lie forward from the first one, and
/// the number of elements, all distances in bytes, and sums of two such distances fit 64 bits. An
/// array without elements is valid with any other extents and any strides. Along an axis of extent
/// 1 any stride is valid.
template <class T>
void check_size(const Callee& callee, const char* name, const StridedArray<T>& array) {
  constexpr int bits = 62;
  constexpr std::int64_t most =
      ((std::int64_t(1) << bits) - 1) / static_cast<std::int64_t>(sizeof(T));
  if (!has_elements(array)) return;
  const auto end = array.extents.begin() + array.rank;
  const std::int64_t elements =
      std::accumulate(array.extents.begin(), end, std::int64_t(1), capped_product);
  if (elements > most)
    throw_invalid(callee, "the extents ", extents_of(array), " of ", name,
                  " are too large (its elements would have 2^", bits,
                  " bytes or more): give fewer rows or columns in a call");
  std::int64_t last = 0;
  for (int d = 0; d < array.rank; ++d) {
    if (array.extents[d] == 1) continue;
    if (array.strides[d] < 0)
      throw_invalid(callee, "stride ", d, " of ", name, " = ", array.strides[d],
                    " is negative (strides count forward from the first element): reverse the "
                    "axis in a copy");
    const std::int64_t distance = capped_product(array.extents[d] - 1, array.strides[d]);
    if (distance >= most - last)
      throw_invalid(callee, "the strides ", listed(array.strides, array.rank), " of ", name,
                    " are too large (its last element would be 2^", bits,
                    " bytes or more after the first one): give the strides of existing memory, in "
                    "elements");
    last += distance;
  }
}

/// `problem` is a RowProblem or a RowPair.
template <class Problem>
void check_overlap(const Callee& callee, const char* x_name, const char* y_name,
                   const Problem& problem) {
  const bool same_view = !callee.one_value_per_row() && in_place(problem);
  if (problem.columns == 0 || same_view || !overlap(problem)) return;
  throw_invalid(callee, x_name, " at ", static_cast<const void*>(problem.x), " and ", y_name,
                " at ", static_cast<const void*>(problem.y),
                " overlap (only the very same View may be both input and output): give ", y_name,
                " memory of its own");
}

template <class Tx, class Ty>
bool writes_something(const Callee& callee, const RowProblem<Tx, Ty>& problem) {
  return problem.rows > 0 && (problem.columns > 0 || callee.one_value_per_row());
}

/// The same array with one more axis, of extent 1, in the place of the reduced one.
template <class T>
StridedArray<T> with_axis(StridedArray<T> array, int axis) {
  for (int d = array.rank; d > axis; --d) {
    array.extents[d] = array.extents[d - 1];
    array.strides[d] = array.strides[d - 1];
  }
  array.extents[axis] = 1;
  array.strides[axis] = 1;
  ++array.rank;
  return array;
}

/// Checks that what is written beside y shares no element with x, with y, or with each other.
template <class X, class Y>
void check_overlap_beside(const Callee& callee, const StridedArray<X>& x, const StridedArray<Y>& y,
                          const ArraysBeside<X, Y>& beside, int axis) {
  const auto check = [&](const char* name, const auto& array, const char* name_beside,
                         const auto& array_beside) {
    const auto pair = make_row_pair(array, array_beside, axis);
    if (pair.rows == 0 || pair.columns == 0 || !overlap(pair)) return;
    throw_invalid(callee, name, " at ", static_cast<const void*>(array.data), " and ", name_beside,
                  " at ", static_cast<const void*>(array_beside.data), " overlap (", name_beside,
                  " is written while other rows are computed): give ", name_beside,
                  " memory of its own");
  };
  beside.for_each([&](const char* name, const auto& array) {
    check("x", x, name, array);
    check("y", y, name, array);
  });
  if (beside.lse && beside.max) check("lse", with_axis(*beside.lse, axis), "max", *beside.max);
}

/// The array broadcast to the extents of another one as in NumPy: the last axes are aligned, and
/// the stride is 0 along axes that are missing or have extent 1.
template <class T, class X>
StridedArray<T> broadcast(const Callee& callee, const char* name, const StridedArray<T>& array,
                          const StridedArray<X>& to, const char* to_what) {
  StridedArray<T> result;
  result.data = array.data;
  result.rank = to.rank;
  result.extents = to.extents;
  bool fits = array.rank <= to.rank;
  for (int d = to.rank - array.rank, from = 0; fits && from < array.rank; ++d, ++from) {
    if (array.extents[from] == 1) continue;
    fits = array.extents[from] == to.extents[d];
    result.strides[d] = array.strides[from];
  }
  if (!fits)
    throw_invalid(callee, "the extents ", extents_of(array), " of ", name,
                  " can't be broadcast to ", extents_of(to), ", those of ", to_what,
                  " (it must have at most ", to.rank,
                  " axes, and each of them the same extent, or ",
                  "1, counted from the last one): give ", name, " other extents");
  return result;
}

/// Checks the axis along which a causal mask counts rows, and returns it in [0, rank).
inline int checked_causal_axis(const Callee& callee, const Causal& causal, const ReducedAxes& axes,
                               int rank) {
  if (axes.count() == rank)
    throw_invalid(callee, "causal is given with an x of rank ", rank, " and ", axes.text(),
                  " (rows are counted along another axis of x): leave it out, or give lengths");
  if (!causal.axis) {
    int last = rank - 1;
    while (axes.contains(last)) --last;
    return last;
  }
  const int given = *causal.axis;
  if (given < -rank || given >= rank)
    throw_invalid(callee, "causal.axis = ", given, " is out of range (x has rank ", rank,
                  "): give an axis from ", -rank, " to ", rank - 1);
  const int causal_axis = given < 0 ? given + rank : given;
  if (axes.contains(causal_axis))
    throw_invalid(
        callee, "causal.axis = ", given, " is ", axes.count() == 1 ? "the axis" : "one of the axes",
        " of the call (it must be the axis along which rows are counted): give another ", "axis");
  return causal_axis;
}

/// Checks that the columns of a row have numbers that don't depend on the layout of x: the last of
/// the reduced axes is the fastest. Masks by position need these numbers.
inline void check_counts_columns(const Callee& callee, const char* name, const ReducedAxes& axes) {
  if (!axes.is_in_order())
    throw_invalid(
        callee, name, " can't be given with ", axes.text(),
        " (columns are counted with the last of these axes fastest, and in x another one ",
        "is): give a mask, or an x of another layout");
}

/// Broadcasts the inputs of a call to x, checks their extents and strides, and merges the reduced
/// axes.
template <class X, class Compute>
auto broadcast_inputs(const Callee& callee, const StridedArray<X>& x, const ReducedAxes& axes,
                      InputArrays<X, Compute> inputs) {
  const auto to_x = [&](const char* name, auto& array) {
    if (!array) return;
    array = broadcast(callee, name, *array, x, "x");
    check_size(callee, name, *array);
    array = merged_array(callee, name, *array, axes);
  };
  const auto rows = without_axes(x, axes);
  const auto to_rows = [&](const char* name, auto& array) {
    if (!array) return;
    array = broadcast(callee, name, *array, rows,
                      axes.count() == 1 ? "x without the axis" : "x without the axes");
    check_size(callee, name, *array);
  };
  to_x("bias", inputs.bias);
  to_x("bias", inputs.wide_bias);
  to_x("mask", inputs.mask);
  to_rows("lengths", inputs.lengths);
  to_rows("lengths", inputs.long_lengths);
  to_rows("row_bias", inputs.row_bias);
  to_x("weights", inputs.weights);
  to_x("weights", inputs.wide_weights);
  if (inputs.lengths || inputs.long_lengths) check_counts_columns(callee, "lengths", axes);
  if (inputs.causal) {
    check_counts_columns(callee, "causal", axes);
    inputs.causal->axis =
        axes.merged_index(checked_causal_axis(callee, *inputs.causal, axes, x.rank));
  }
  return inputs;
}

/// A View as an array of const T: of the same type, or bool as unsigned char.
template <class T, class V>
auto input_array(const V& view) {
  const auto given = strided_array(view);
  StridedArray<const T> array;
  array.data = reinterpret_cast<const T*>(given.data);
  array.rank = given.rank;
  array.extents = given.extents;
  array.strides = given.strides;
  return array;
}

/// The inputs among the operands of a call, broadcast to x, with the reduced axes merged.
template <class Compute, class X, class O>
auto checked_inputs(const Callee& callee, const StridedArray<X>& x, const ReducedAxes& axes,
                    const O& operands) {
  using Entry = std::remove_const_t<X>;
  InputArrays<X, Compute> inputs;
  if constexpr (is_given<decltype(O::bias)>) {
    if constexpr (std::is_same_v<typename decltype(O::bias)::non_const_value_type, Entry>)
      inputs.bias = input_array<Entry>(operands.bias);
    else
      inputs.wide_bias = input_array<Compute>(operands.bias);
  }
  if constexpr (is_given<decltype(O::mask)>)
    inputs.mask = input_array<unsigned char>(operands.mask);
  if constexpr (is_given<decltype(O::lengths)>) {
    if constexpr (sizeof(typename decltype(O::lengths)::value_type) == sizeof(std::int64_t))
      inputs.long_lengths = input_array<std::int64_t>(operands.lengths);
    else
      inputs.lengths = input_array<std::int32_t>(operands.lengths);
  }
  if constexpr (is_given<decltype(O::causal)>) inputs.causal = operands.causal;
  if constexpr (is_given<decltype(O::row_bias)>)
    inputs.row_bias = input_array<Compute>(operands.row_bias);
  if constexpr (is_given<decltype(O::weights)>) {
    if constexpr (std::is_same_v<typename decltype(O::weights)::non_const_value_type, Entry>)
      inputs.weights = input_array<Entry>(operands.weights);
    else
      inputs.wide_weights = input_array<Compute>(operands.weights);
  }
  inputs.scale_biases = operands.scale_biases;
  return broadcast_inputs(callee, x, axes, inputs);
}

/// Checks that an array shares no element with one that is written. `has_no_axis`: it has one
/// number per row.
template <class Input, class Written>
void check_apart(const Callee& callee, const char* name, StridedArray<Input> array,
                 bool has_no_axis, const char* name_written, const StridedArray<Written>& written,
                 int axis) {
  if (has_no_axis) {
    array = with_axis(array, axis);
    array.strides[axis] = 0;
    if (written.rank == array.rank) array.extents[axis] = written.extents[axis];
  }
  const auto pair = make_row_pair(array, written, axis);
  if (pair.rows == 0 || pair.columns == 0 || !overlap(pair)) return;
  throw_invalid(callee, name, " at ", static_cast<const void*>(array.data), " and ", name_written,
                " at ", static_cast<const void*>(written.data), " overlap (", name_written,
                " is written while other rows are computed): give ", name, " memory of its own");
}

/// Checks that what is read shares no element with what is written.
template <class X, class Y, class Compute>
void check_overlap_inputs(const Callee& callee, const char* y_name, const StridedArray<Y>& y,
                          const ArraysBeside<X, Y>& beside, const InputArrays<X, Compute>& inputs,
                          int axis) {
  inputs.for_each([&](const char* name, const auto& input, bool has_no_axis) {
    const auto check = [&](const char* name_written, const auto& written) {
      check_apart(callee, name, input, has_no_axis, name_written, written, axis);
    };
    check(y_name, y);
    beside.for_each(check);
  });
}

/// Checks the values of the arguments except the strides of what is written beside y.
template <class X, class Y>
void check_values(const Callee& callee, const StridedArray<X>& x, const char* y_name,
                  const StridedArray<Y>& y, const Options& options,
                  const ArraysBeside<X, Y>& beside, const ReducedAxes& axes) {
  check_scale<ValueTypes<std::remove_const_t<X>, Y>>(callee, options.scale);
  check_extents(callee, "x", x, y_name, y, axes, callee.one_value_per_row());
  check_size(callee, "x", x);
  check_size(callee, y_name, y);
  beside.for_each([&](const char* name, const auto& array) {
    check_extents(callee, "x", x, name, array, axes, true);
    check_size(callee, name, array);
  });
}

/// The array y of a call with the reduced axes merged, if it has these axes.
template <class Y>
StridedArray<Y> merged_output(const Callee& callee, const char* y_name, const StridedArray<Y>& y,
                              const ReducedAxes& axes) {
  return callee.one_value_per_row() ? y : merged_array(callee, y_name, y, axes);
}

/// Checks that kernels can take the outer axes of a problem.
template <class Tx, class Ty>
void check_outer_rank(const Callee& callee, const RowProblem<Tx, Ty>& problem) {
  if (problem.outer_rank > max_outer_rank)
    throw_invalid(callee, "the strides leave ", problem.outer_rank,
                  " axes that aren't reduced (kernels take at most ", max_outer_rank,
                  "; two axes become one if one stride describes both in every array): give ",
                  "arrays of one layout, or make a call per slice");
}

/// Checks what is known of a problem once its axes are merged.
template <class X, class Y, class Problem>
void check_problem(const Callee& callee, const char* y_name, const ArraysBeside<X, Y>& beside,
                   const Problem& problem) {
  check_outer_rank(callee, problem);
  const auto check_one_stride = [&](const char* name, const auto& array, bool has_one_stride) {
    if (!has_one_stride)
      throw_invalid(callee, "the strides ", listed(array->strides, array->rank), " of ", name,
                    " don't follow the rows of x (one stride must lead from row to row, in the "
                    "order in which the rows lie in x): give ",
                    name, " the layout of x");
  };
  check_one_stride("lse", beside.lse, problem.lse_has_one_stride);
  check_one_stride("max", beside.max, problem.max_has_one_stride);
  if (writes_something(callee, problem)) check_overlap(callee, "x", y_name, problem);
}

/// Checks the values of the arguments and returns the problem in the form rows x columns.
template <class X, class Y>
auto checked_problem(const Callee& callee, const StridedArray<X>& x, const char* y_name,
                     const StridedArray<Y>& y, const Options& options,
                     const ArraysBeside<X, Y>& beside = {}) {
  const ReducedAxes axes = checked_axes(callee, "x", x, options);
  check_values(callee, x, y_name, y, options, beside, axes);
  const auto merged_x = merged_array(callee, "x", x, axes);
  const auto merged_y = merged_output(callee, y_name, y, axes);
  check_overlap_beside(callee, merged_x, merged_y, beside, axes.merged_axis());
  const auto problem = make_row_problem(merged_x, merged_y, axes.merged_axis(), beside);
  check_problem(callee, y_name, beside, problem);
  return problem;
}

/// The same for a call that reads more than x. The inputs have passed checked_inputs().
template <class X, class Y, class Compute>
auto checked_problem(const Callee& callee, const StridedArray<X>& x, const char* y_name,
                     const StridedArray<Y>& y, const Options& options,
                     const ArraysBeside<X, Y>& beside, const InputArrays<X, Compute>& inputs) {
  const ReducedAxes axes = checked_axes(callee, "x", x, options);
  check_values(callee, x, y_name, y, options, beside, axes);
  const auto merged_x = merged_array(callee, "x", x, axes);
  const auto merged_y = merged_output(callee, y_name, y, axes);
  const int axis = axes.merged_axis();
  check_overlap_beside(callee, merged_x, merged_y, beside, axis);
  check_overlap_inputs(callee, y_name, merged_y, beside, inputs, axis);
  const auto problem = make_general_row_problem(merged_x, merged_y, axis, beside, inputs);
  check_problem(callee, y_name, beside, problem);
  return problem;
}

/// Checks the signs that a call with weights writes beside y.
template <class X, class Y, class Compute>
void check_sign(const Callee& callee, const StridedArray<X>& x, const char* y_name,
                const StridedArray<Y>& y, const StridedArray<Y>& sign,
                const InputArrays<X, Compute>& inputs, const ReducedAxes& axes) {
  check_extents(callee, "x", x, "sign", sign, axes, true);
  for (int d = 0; d < y.rank; ++d)
    if (y.extents[d] > 1 && sign.strides[d] != y.strides[d])
      throw_invalid(callee, "the strides ", listed(sign.strides, sign.rank), " of sign are not ",
                    listed(y.strides, y.rank), ", those of ", y_name,
                    " (one address computes the other): give sign the strides of ", y_name);
  const int axis = axes.merged_axis();
  check_apart(callee, "x", merged_array(callee, "x", x, axes), false, "sign", sign, axis);
  check_apart(callee, y_name, y, true, "sign", sign, axis);
  inputs.for_each([&](const char* name, const auto& input, bool has_no_axis) {
    check_apart(callee, name, input, has_no_axis, "sign", sign, axis);
  });
}

/// The problem of a call with weights. The inputs have passed checked_inputs().
template <class X, class Y, class Compute>
auto checked_weighted_problem(const Callee& callee, const StridedArray<X>& x, const char* y_name,
                              const StridedArray<Y>& y, const Options& options,
                              const InputArrays<X, Compute>& inputs,
                              const std::optional<StridedArray<Y>>& sign) {
  const ReducedAxes axes = checked_axes(callee, "x", x, options);
  WeightedRowProblem<std::remove_const_t<X>, Y> problem{
      checked_problem(callee, x, y_name, y, options, ArraysBeside<X, Y>{}, inputs),
      sign ? sign->data : nullptr};
  if (sign) check_sign(callee, x, y_name, y, *sign, inputs, axes);
  return problem;
}

/// The same elements with as few axes as possible, in another order.
template <class T>
StridedArray<T> with_merged_axes(const StridedArray<T>& array) {
  OuterAxes sorted{}, merged{};
  for (int d = 0; d < array.rank; ++d) sorted[d] = {{array.extents[d], array.strides[d], 0}, 0, 0};
  const auto one_run = [](const OuterAxis& slower, const OuterAxis& faster) {
    return slower.x_stride == faster.extent * faster.x_stride;
  };
  StridedArray<T> result;
  result.data = array.data;
  result.rank = merge_outer_axes(sorted, sort_outer_axes(sorted, array.rank, &OuterAxis::x_stride),
                                 one_run, merged);
  for (int d = 0; d < result.rank; ++d) {
    result.extents[d] = merged[d].extent;
    result.strides[d] = merged[d].x_stride;
  }
  return result;
}

/// Enqueues -inf for the elements of an array. Kokkos' kernels for Views of more axes would take
/// longer to compile in each program that includes this header, so further axes are looped over.
template <class Exec, class T>
void launch_minus_infinity(const Exec& exec, StridedArray<T> array) {
  if (array.rank > 3) {
    StridedArray<T> slice = array;
    slice.rank = array.rank - 1;
    for (std::int64_t i = 0; i < array.extents[slice.rank]; ++i) {
      launch_minus_infinity(exec, slice);
      slice.data += array.strides[slice.rank];
    }
    return;
  }
  const auto extent = [&](int d) {
    return static_cast<std::size_t>(d < array.rank ? array.extents[d] : 1);
  };
  const auto stride = [&](int d) {
    return static_cast<std::size_t>(d < array.rank ? array.strides[d] : 1);
  };
  const Kokkos::LayoutStride layout(extent(0), stride(0), extent(1), stride(1), extent(2),
                                    stride(2));
  const Kokkos::View<T***, Kokkos::LayoutStride, typename Exec::memory_space,
                     Kokkos::MemoryTraits<Kokkos::Unmanaged>>
      view(array.data, layout);
  Kokkos::deep_copy(exec, view, -Kokkos::Experimental::infinity_v<T>);
}

/// Enqueues what is written beside y for rows without entries: the log-sum-exp and the maximum are
/// -inf.
template <class Exec, class X, class Y>
void launch_beside_nothing(const Exec& exec, const ArraysBeside<X, Y>& beside) {
  beside.for_each([&](const char* /*name*/, const auto& array) {
    launch_minus_infinity(exec, with_merged_axes(array));
  });
}

/// Enqueues an operation whose arguments have been checked.
template <Operation operation, class Exec, class X, class Y, class Problem>
void launch_checked(const Exec& exec, const Problem& problem, const Options& options,
                    const ArraysBeside<X, Y>& beside) {
  if (writes_something(operation, problem))
    launch<operation>(exec, problem, options);
  else if (problem.rows > 0)
    launch_beside_nothing(exec, beside);
}

/// Checks the values of the arguments and enqueues the operation. If it throws, nothing is written.
template <Operation operation, class Exec, class X, class Y>
void check_and_launch(const Exec& exec, const StridedArray<X>& x, const char* y_name,
                      const StridedArray<Y>& y, const Options& options,
                      const ArraysBeside<X, Y>& beside = {}) {
  const auto problem = checked_problem(operation, x, y_name, y, options, beside);
  launch_checked<operation>(exec, problem, options, beside);
}

/// The same with inputs as they are given.
template <Operation operation, class Exec, class X, class Y, class Compute>
void check_and_launch(const Exec& exec, const StridedArray<X>& x, const char* y_name,
                      const StridedArray<Y>& y, const Options& options,
                      const ArraysBeside<X, Y>& beside, const InputArrays<X, Compute>& given) {
  const ReducedAxes axes = checked_axes(operation, "x", x, options);
  const auto inputs = broadcast_inputs(operation, x, axes, given);
  const auto problem = checked_problem(operation, x, y_name, y, options, beside, inputs);
  launch_checked<operation>(exec, problem, options, beside);
}

/// The same for logsumexp with weights, which are among the inputs.
template <Operation operation, class Exec, class X, class Y, class Compute>
void check_and_launch_weighted(const Exec& exec, const StridedArray<X>& x, const char* y_name,
                               const StridedArray<Y>& y, const Options& options,
                               const InputArrays<X, Compute>& given,
                               const std::optional<StridedArray<Y>>& sign) {
  const ReducedAxes axes = checked_axes(operation, "x", x, options);
  const auto inputs = broadcast_inputs(operation, x, axes, given);
  const auto problem = checked_weighted_problem(operation, x, y_name, y, options, inputs, sign);
  launch_checked<operation>(exec, problem, options, ArraysBeside<X, Y>{});
}

/// The same for arguments that are Views.
template <Operation operation, class Exec, class X, class Y>
requires(Kokkos::is_view_v<X>) void check_and_launch(const Exec& exec, const X& x,
                                                     const char* y_name, const Y& y,
                                                     const Options& options) {
  check_and_launch<operation>(exec, strided_array(x), y_name, strided_array(y), options);
}

/// The arrays that a call with x and y writes beside y.
template <class X, class Y, class O>
auto arrays_beside(const O& operands) {
  ArraysBeside<typename X::value_type, typename Y::value_type> beside;
  if constexpr (is_given<decltype(O::lse)>) beside.lse = strided_array(operands.lse);
  if constexpr (is_given<decltype(O::max)>) beside.max = strided_array(operands.max);
  return beside;
}

/// Checks the arguments of a call with operands, and returns its problem.
template <class X, class Y, class O>
auto checked_problem_with(const Callee& callee, const X& x, const char* y_name, const Y& y,
                          const Options& options, const O& operands) {
  const auto x_array = strided_array(x);
  const auto y_array = strided_array(y);
  const auto beside = arrays_beside<X, Y>(operands);
  if constexpr (have_inputs<O>) {
    const ReducedAxes axes = checked_axes(callee, "x", x_array, options);
    const auto inputs = checked_inputs<ComputeOf<X, Y>>(callee, x_array, axes, operands);
    if constexpr (have_weights<O>) {
      std::optional<StridedArray<typename Y::value_type>> sign;
      if constexpr (is_given<decltype(O::sign)>) sign = strided_array(operands.sign);
      return checked_weighted_problem(callee, x_array, y_name, y_array, options, inputs, sign);
    } else
      return checked_problem(callee, x_array, y_name, y_array, options, beside, inputs);
  } else {
    return checked_problem(callee, x_array, y_name, y_array, options, beside);
  }
}

template <Operation operation, class Exec, class X, class Y, class O>
void check_and_launch_with(const Exec& exec, const X& x, const char* y_name, const Y& y,
                           const Options& options, const O& operands) {
  const auto problem = checked_problem_with(operation, x, y_name, y, options, operands);
  launch_checked<operation>(exec, problem, options, arrays_beside<X, Y>(operands));
}

}  // namespace KokkosSoftmax::Impl

#endif
