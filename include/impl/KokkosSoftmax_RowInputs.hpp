// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_ROWINPUTS_HPP
#define KOKKOSSOFTMAX_IMPL_ROWINPUTS_HPP

/// \file
/// What a call reads besides x: biases, mask, lengths, a causal limit, and weights.

#include <KokkosSoftmax_Operands.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <limits>
#include <optional>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// An array that is read with a row. The outer strides are those along RowProblem::outer; all
/// strides are in elements.
struct RowInput {
  const void* data = nullptr;
  std::int64_t column_stride = 0;
  std::int64_t outer_stride[max_outer_rank] = {};
};

/// All of them. Those that a call doesn't have are null.
struct RowInputs {
  static constexpr std::int64_t no_limit = std::numeric_limits<std::int64_t>::max();

  RowInput bias;
  RowInput mask;
  RowInput lengths;
  RowInput row_bias;
  RowInput weights;
  /// The number of columns that take part in a row whose index along `causal_axis` is 0.
  std::int64_t causal_limit = no_limit;
  int causal_axis = -1;               ///< in RowProblem::outer; -1: the index is 0 in all rows
  bool bias_is_entries = true;        ///< of the type of x; otherwise of the computation's
  bool weights_are_entries = true;    ///< the same
  bool scale_biases = false;          ///< v = scale * (x + biases)
  bool lengths_have_64_bits = false;  ///< otherwise 32
  bool limits_alone = false;          ///< nothing is read besides lengths
};

/// A problem with inputs besides x.
template <class Tx, class Ty>
struct GeneralRowProblem : RowProblem<Tx, Ty> {
  RowInputs inputs;
};

/// A problem of logsumexp with weights. `sign` has the strides of y; null if it isn't asked for.
template <class Tx, class Ty>
struct WeightedRowProblem : GeneralRowProblem<Tx, Ty> {
  void* sign = nullptr;
};

/// A problem with two inputs per entry: `x`, the output of a function, and `dy`.
template <class T>
struct BackwardProblem : RowProblem<T, T> {
  RowInput dy;
};

/// Makes the problem of a backward pass. All arrays have the same extents and have passed
/// check_size(). `axis` is in [0, rank).
template <class T>
auto make_backward_problem(const StridedArray<const T>& y, const StridedArray<const T>& dy,
                           const StridedArray<T>& dx, int axis) {
  InputStrides strides{}, merged{};
  for (int d = 0; d < y.rank; ++d) strides[d][0] = dy.strides[d];
  BackwardProblem<T> problem;
  static_cast<RowProblem<T, T>&>(problem) = make_row_problem(y, dx, axis, {}, strides, merged);
  problem.dy.data = dy.data;
  problem.dy.column_stride = dy.strides[axis];
  for (int d = 0; d < max_outer_rank; ++d) problem.dy.outer_stride[d] = merged[d][0];
  return problem;
}

/// The inputs of a call as arrays: as they are given, or broadcast to the extents of x (lengths:
/// without the axis), with strides of 0 along axes that are broadcast.
template <class X, class Compute>
struct InputArrays {
  template <class T>
  using Array = std::optional<StridedArray<const T>>;

  Array<std::remove_const_t<X>> bias;
  Array<Compute> wide_bias;
  Array<unsigned char> mask;
  Array<std::int32_t> lengths;
  Array<std::int64_t> long_lengths;
  std::optional<Causal> causal;
  Array<Compute> row_bias;
  Array<std::remove_const_t<X>> weights;
  Array<Compute> wide_weights;
  bool scale_biases = false;

  bool any() const {
    return bias || wide_bias || mask || lengths || long_lengths || causal || row_bias ||
           has_weights();
  }
  bool has_weights() const { return weights || wide_weights; }

  /// Calls function(name, array, without_axis) for the arrays that a call has.
  template <class Function>
  void for_each(const Function& function) const {
    if (bias) function("bias", *bias, false);
    if (wide_bias) function("bias", *wide_bias, false);
    if (mask) function("mask", *mask, false);
    if (lengths) function("lengths", *lengths, true);
    if (long_lengths) function("lengths", *long_lengths, true);
    if (row_bias) function("row_bias", *row_bias, true);
    if (weights) function("weights", *weights, false);
    if (wide_weights) function("weights", *wide_weights, false);
  }
};

/// The number of columns that take part in the first row: offset + 1, without overflow.
inline std::int64_t causal_limit(const Causal& causal) {
  return causal.offset < RowInputs::no_limit ? causal.offset + 1 : RowInputs::no_limit;
}

/// Where the strides of each input stand in InputStridesOfAxis.
struct InputNumber {
  enum : std::size_t {
    bias,
    mask,
    lengths,
    causal,
    row_bias,
    weights,
    of_rows  ///< the first of those that a gradient has per row
  };
};

/// Fills in what is known of the inputs before the axes of x are merged. The causal axis is in [0,
/// rank).
template <class X, class Compute>
void set_inputs(RowInputs& inputs, InputStrides& strides, const StridedArray<X>& x, int axis,
                const InputArrays<X, Compute>& arrays) {
  const auto add = [&](std::size_t number, RowInput& input, const auto& array) {
    input.data = array->data;
    const bool has_axis = array->rank == x.rank;
    // Without columns, such an array has no elements, and its strides can be any numbers.
    if (has_axis && x.extents[axis] == 0) return;
    if (has_axis) input.column_stride = array->strides[axis];
    for (int d = 0; d < x.rank; ++d)
      if (d != axis) strides[d][number] = array->strides[!has_axis && d > axis ? d - 1 : d];
  };
  if (arrays.bias) add(InputNumber::bias, inputs.bias, arrays.bias);
  if (arrays.wide_bias) add(InputNumber::bias, inputs.bias, arrays.wide_bias);
  if (arrays.mask) add(InputNumber::mask, inputs.mask, arrays.mask);
  if (arrays.lengths) add(InputNumber::lengths, inputs.lengths, arrays.lengths);
  if (arrays.long_lengths) add(InputNumber::lengths, inputs.lengths, arrays.long_lengths);
  if (arrays.row_bias) add(InputNumber::row_bias, inputs.row_bias, arrays.row_bias);
  if (arrays.weights) add(InputNumber::weights, inputs.weights, arrays.weights);
  if (arrays.wide_weights) add(InputNumber::weights, inputs.weights, arrays.wide_weights);
  inputs.bias_is_entries = !arrays.wide_bias;
  inputs.weights_are_entries = !arrays.wide_weights;
  inputs.scale_biases = arrays.scale_biases;
  inputs.lengths_have_64_bits = arrays.long_lengths.has_value();
  // not by their addresses, which a plan learns only when it is executed
  inputs.limits_alone = !arrays.bias && !arrays.wide_bias && !arrays.mask && !arrays.row_bias &&
                        !arrays.has_weights();
  if (arrays.causal) {
    // the index as an array: so its axis isn't merged
    strides[*arrays.causal->axis][InputNumber::causal] = 1;
    inputs.causal_limit = causal_limit(*arrays.causal);
  }
}

/// Fills in the strides along the merged axes.
inline void set_merged_strides(RowInputs& inputs, const InputStrides& merged) {
  for (int d = 0; d < max_outer_rank; ++d) {
    inputs.bias.outer_stride[d] = merged[d][InputNumber::bias];
    inputs.mask.outer_stride[d] = merged[d][InputNumber::mask];
    inputs.lengths.outer_stride[d] = merged[d][InputNumber::lengths];
    inputs.row_bias.outer_stride[d] = merged[d][InputNumber::row_bias];
    inputs.weights.outer_stride[d] = merged[d][InputNumber::weights];
    if (merged[d][InputNumber::causal] == 1) inputs.causal_axis = d;
  }
}

/// Makes the problem of x, y and the inputs, see make_row_problem() and set_inputs().
template <class X, class Y, class Compute>
auto make_general_row_problem(const StridedArray<X>& x, const StridedArray<Y>& y, int axis,
                              const ArraysBeside<X, Y>& beside,
                              const InputArrays<X, Compute>& arrays) {
  InputStrides strides{}, merged{};
  GeneralRowProblem<std::remove_const_t<X>, Y> problem;
  set_inputs(problem.inputs, strides, x, axis, arrays);
  static_cast<RowProblem<std::remove_const_t<X>, Y>&>(problem) =
      make_row_problem(x, y, axis, beside, strides, merged);
  set_merged_strides(problem.inputs, merged);
  return problem;
}

}  // namespace KokkosSoftmax::Impl

#endif
