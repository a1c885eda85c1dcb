// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_KERNELTYPES_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_KERNELTYPES_HPP

/// \file
/// Which kernels serve a call. An operation with one number per row writes nearly nothing, so that
/// its kernels are compiled for one type of y alone, and the other is a flag. Operations that share
/// a type (OpOf.hpp) share its kernels, and the number of the output is an argument.

#include <Kokkos_BitManipulation.hpp>
#include <dispatch/OpOf.hpp>
#include <impl/KokkosSoftmax_LossProblem.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <auto operation, class V>
struct KernelTypesOf {
  using type = V;
};
template <auto operation, class V>
requires(one_value_per_row(operation) && have_kernels<typename V::X, typename V::X>)  //
    struct KernelTypesOf<operation, V> {
  using type = ValueTypes<typename V::X>;
};

/// The ValueTypes of the kernels that compute an operation for V.
template <auto operation, class V>
using KernelTypes = typename KernelTypesOf<operation, V>::type;

/// A problem in the form that these kernels take.
template <auto operation, class V, class Tx, class Ty>
RowProblem<Tx, typename V::Y> kernel_problem(const RowProblem<Tx, Ty>& problem) {
  using Y = typename V::Y;
  using Problem = RowProblem<Tx, Y>;
  auto same = Kokkos::bit_cast<Problem>(problem);  // only the type of the pointer may differ
  same.function = function_number<operation, V>;
  if constexpr (std::is_same_v<Y, Ty>) {
    return same;
  } else {
    static_assert(std::is_same_v<Ty, typename Problem::RowValue> && sizeof(Ty) % sizeof(Y) == 0);
    same.y_holds_row_values = true;
    for (OuterAxis& axis : same.outer) axis.y_stride *= sizeof(Ty) / sizeof(Y);
    return same;
  }
}

template <Operation operation, class V, class Tx, class Ty>
GeneralRowProblem<Tx, typename V::Y> kernel_problem(const GeneralRowProblem<Tx, Ty>& problem) {
  const RowProblem<Tx, Ty>& without_inputs = problem;
  return {kernel_problem<operation, V>(without_inputs), problem.inputs};
}

template <Operation operation, class V, class Tx, class Ty>
WeightedRowProblem<Tx, typename V::Y> kernel_problem(const WeightedRowProblem<Tx, Ty>& problem) {
  const GeneralRowProblem<Tx, Ty>& without_weights = problem;
  return {kernel_problem<operation, V>(without_weights), problem.sign};
}

template <BackwardOperation operation, class V, class T>
BackwardProblem<T> kernel_problem(const BackwardProblem<T>& problem) {
  BackwardProblem<T> same = problem;
  same.function = function_number<operation, V>;
  return same;
}

/// There is one function, with the number 0.
template <LossOperation operation, class V, class T>
const LossProblem<T>& kernel_problem(const LossProblem<T>& problem) {
  return problem;
}

}  // namespace KokkosSoftmax::Impl

#endif
