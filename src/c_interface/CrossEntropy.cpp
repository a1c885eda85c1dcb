// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The cross entropy of the C interface, and the gradients of operations with one number per row.

#include <c_interface/Instances.hpp>
#include <c_interface/Operands.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <impl/KokkosSoftmax_LossArguments.hpp>
#include <initializer_list>

namespace KokkosSoftmax::Impl {
namespace {

LabelArrays checked_labels(const Callee& callee, const kokkossoftmax_tensor* labels,
                           const CrossEntropyOptions& options) {
  check_input(callee, "labels", labels, Role::input_per_row, KOKKOSSOFTMAX_INT32,
              KOKKOSSOFTMAX_INT64);
  LabelArrays arrays;
  if (const auto array =
          array_of_type<const std::int32_t>(callee, "labels", labels, KOKKOSSOFTMAX_INT32))
    arrays.index = *array;
  else
    arrays.index =
        *array_of_type<const std::int64_t>(callee, "labels", labels, KOKKOSSOFTMAX_INT64);
  arrays.ignored = options.ignore_index;
  arrays.smoothing = options.label_smoothing;
  return arrays;
}

void cross_entropy(int space, void* stream, const kokkossoftmax_tensor* x,
                   const kokkossoftmax_tensor* labels, const kokkossoftmax_tensor* loss,
                   const kokkossoftmax_tensor* lse,
                   const kokkossoftmax_cross_entropy_options* options) {
  constexpr auto operation = LossOperation::cross_entropy;
  const std::initializer_list<NamedTensor> tensors = {{"x", x, Role::input}};
  check_tensors(operation, tensors);
  const CrossEntropyOptions cpp = cpp_options(operation, options);
  const LabelArrays label_array = checked_labels(operation, labels, cpp);
  with_same_type(SupportedTypes{}, operation, tensors, [&]<class Type>(Type) {
    using T = typename Type::type;
    using RowValue = typename RowProblem<T, T>::RowValue;
    const auto loss_array = given_row_numbers<RowValue>(operation, "loss", loss);
    const auto lse_array = row_numbers<RowValue>(operation, "lse", lse);
    with_instance("kokkossoftmax_cross_entropy", space, stream, [&](const auto& exec) {
      check_and_launch_loss<operation>(exec, typed_array<const T>(*x), label_array, loss_array,
                                       lse_array, options_of(cpp));
    });
  });
}

/// The tensors of a gradient. `derivative` is that by the number of each row.
struct GradientTensors {
  const kokkossoftmax_tensor* x;
  const kokkossoftmax_tensor* lse;
  const char* derivative_name;
  const kokkossoftmax_tensor* derivative;
  const kokkossoftmax_tensor* dx;
};

/// Computes a gradient. `labels` is null if there are none.
template <GradientOperation operation>
void gradient(const char* function, int space, void* stream, const GradientTensors& given,
              const LabelArrays* labels, const Options& options,
              const kokkossoftmax_operands& operands) {
  const std::initializer_list<NamedTensor> tensors = {{"x", given.x, Role::input},
                                                      {"dx", given.dx, Role::output}};
  check_tensors(operation, tensors);
  with_same_type(SupportedTypes{}, operation, tensors, [&]<class Type>(Type) {
    using T = typename Type::type;
    using RowValue = typename RowProblem<T, T>::RowValue;
    const auto x = typed_array<const T>(*given.x);
    const auto lse = given_row_numbers<const RowValue>(operation, "lse", given.lse);
    const auto derivative =
        given_row_numbers<const RowValue>(operation, given.derivative_name, given.derivative);
    const ReducedAxes axes = checked_axes(operation, "x", x, options);
    const auto inputs =
        broadcast_inputs(operation, x, axes, input_arrays<T, RowValue>(operation, operands));
    with_instance(function, space, stream, [&](const auto& exec) {
      check_and_launch_gradient<operation>(exec, x, lse, given.derivative_name, derivative, labels,
                                           inputs, typed_array<T>(*given.dx), options);
    });
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_logsumexp_backward(int space, void* stream, const kokkossoftmax_tensor* x,
                                     const kokkossoftmax_tensor* lse,
                                     const kokkossoftmax_tensor* dlse,
                                     const kokkossoftmax_tensor* dx,
                                     const kokkossoftmax_options* options,
                                     const kokkossoftmax_operands* operands) {
  return Impl::guarded([&] {
    constexpr auto operation = Impl::GradientOperation::logsumexp_backward;
    Impl::gradient<operation>("kokkossoftmax_logsumexp_backward", space, stream,
                              {x, lse, "dlse", dlse, dx}, nullptr,
                              Impl::cpp_options(operation, options),
                              Impl::known_operands(operation, operands, Impl::MoreOperands::none));
  });
}

int kokkossoftmax_cross_entropy(int space, void* stream, const kokkossoftmax_tensor* x,
                                const kokkossoftmax_tensor* labels,
                                const kokkossoftmax_tensor* loss, const kokkossoftmax_tensor* lse,
                                const kokkossoftmax_cross_entropy_options* options) {
  return Impl::guarded([&] { Impl::cross_entropy(space, stream, x, labels, loss, lse, options); });
}

int kokkossoftmax_cross_entropy_backward(int space, void* stream, const kokkossoftmax_tensor* x,
                                         const kokkossoftmax_tensor* labels,
                                         const kokkossoftmax_tensor* lse,
                                         const kokkossoftmax_tensor* dloss,
                                         const kokkossoftmax_tensor* dx,
                                         const kokkossoftmax_cross_entropy_options* options) {
  return Impl::guarded([&] {
    constexpr auto operation = Impl::GradientOperation::cross_entropy_backward;
    const auto cpp = Impl::cpp_options(operation, options);
    const auto label_array = Impl::checked_labels(operation, labels, cpp);
    Impl::gradient<operation>("kokkossoftmax_cross_entropy_backward", space, stream,
                              {x, lse, "dloss", dloss, dx}, &label_array, Impl::options_of(cpp),
                              {});
  });
}

}  // extern "C"
