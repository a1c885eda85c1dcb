// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The functions for ragged rows of the C interface.

#include <c_interface/Instances.hpp>
#include <c_interface/Operations.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <impl/KokkosSoftmax_RaggedArguments.hpp>
#include <initializer_list>

namespace KokkosSoftmax::Impl {
namespace {

Options segment_options(const Callee& callee, const kokkossoftmax_options* options) {
  constexpr FixedOptions why = {
      .axes = "ragged rows lie in one vector, of rank 1",
      .algorithm = "the lengths of the rows say how they are computed",
      .reproducible =
          "the bits of a row depend on its place among others; the same call has the same bits "
          "each time without this option"};
  return cpp_options(callee, options, why);
}

/// Calls `body(offsets)` with the offsets as an array of their type.
template <class Body>
void with_offsets(const Callee& callee, const kokkossoftmax_tensor* offsets, const Body& body) {
  check_input(callee, "offsets", offsets, Role::input, KOKKOSSOFTMAX_INT32, KOKKOSSOFTMAX_INT64);
  const auto call_with = [&]<class Offset>(int code, Offset) {
    if (const auto array = array_of_type<const Offset>(callee, "offsets", offsets, code))
      body(*array);
  };
  call_with(KOKKOSSOFTMAX_INT32, std::int32_t{});
  call_with(KOKKOSSOFTMAX_INT64, std::int64_t{});
}

/// softmax and log_softmax
void segment_apply(RaggedOperation operation, int space, void* stream,
                   const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* offsets,
                   const kokkossoftmax_tensor* y, const kokkossoftmax_options* options) {
  const Callee callee = ragged_callee(operation);
  check_tensors(callee, {{"x", x, Role::input}, {"y", y, Role::output}});
  const Options cpp = segment_options(callee, options);
  with_offsets(callee, offsets, [&](const auto& offset_array) {
    with_types(SupportedTypes{}, callee, x->type, "y", y->type,
               [&]<class X, class Y>(TypePair<X, Y>) {
                 check_alignment<typename X::type>(callee, "x", *x);
                 check_alignment<typename Y::type>(callee, "y", *y);
                 with_instance("kokkossoftmax_segment_apply", space, stream, [&](const auto& exec) {
                   check_and_launch_ragged(exec, operation, typed_array<const typename X::type>(*x),
                                           offset_array, typed_array<typename Y::type>(*y),
                                           cpp.scale, cpp.empty_rows);
                 });
               });
  });
}

void segment_logsumexp(int space, void* stream, const kokkossoftmax_tensor* x,
                       const kokkossoftmax_tensor* offsets, const kokkossoftmax_tensor* lse,
                       const kokkossoftmax_options* options) {
  const Callee callee = ragged_callee(RaggedOperation::logsumexp);
  const std::initializer_list<NamedTensor> tensors = {{"x", x, Role::input}};
  check_tensors(callee, tensors);
  const double scale = segment_options(callee, options).scale;
  with_offsets(callee, offsets, [&](const auto& offset_array) {
    with_same_type(SupportedTypes{}, callee, tensors, [&]<class Type>(Type) {
      using X = typename Type::type;
      const auto lse_array = given_row_numbers<typename RaggedNumber<X>::type>(callee, "lse", lse);
      with_instance("kokkossoftmax_segment_apply", space, stream, [&](const auto& exec) {
        check_and_launch_ragged_numbers(exec, typed_array<const X>(*x), offset_array, lse_array,
                                        scale);
      });
    });
  });
}

/// The backward passes of softmax and log_softmax
void segment_backward(BackwardOperation of_rows, int space, void* stream,
                      const kokkossoftmax_tensor* y, const kokkossoftmax_tensor* dy,
                      const kokkossoftmax_tensor* offsets, const kokkossoftmax_tensor* dx,
                      const kokkossoftmax_options* options) {
  const auto operation = of_rows == BackwardOperation::softmax_backward
                             ? RaggedOperation::softmax_backward
                             : RaggedOperation::log_softmax_backward;
  const char* const y_name = first_input_name(of_rows);
  const Callee callee = ragged_callee(operation);
  const std::initializer_list<NamedTensor> tensors = {
      {y_name, y, Role::input}, {"dy", dy, Role::input}, {"dx", dx, Role::output}};
  check_tensors(callee, tensors);
  const double scale = segment_options(callee, options).scale;
  with_offsets(callee, offsets, [&](const auto& offset_array) {
    with_same_type(SupportedTypes{}, callee, tensors, [&]<class Type>(Type) {
      using X = typename Type::type;
      with_instance("kokkossoftmax_segment_backward", space, stream, [&](const auto& exec) {
        check_and_launch_ragged_backward(exec, operation, y_name, typed_array<const X>(*y),
                                         typed_array<const X>(*dy), offset_array,
                                         typed_array<X>(*dx), scale);
      });
    });
  });
}

void segment_logsumexp_backward(int space, void* stream, const kokkossoftmax_tensor* x,
                                const kokkossoftmax_tensor* lse, const kokkossoftmax_tensor* dlse,
                                const kokkossoftmax_tensor* offsets, const kokkossoftmax_tensor* dx,
                                const kokkossoftmax_options* options) {
  const Callee callee = ragged_callee(RaggedOperation::logsumexp_backward);
  const std::initializer_list<NamedTensor> tensors = {{"x", x, Role::input},
                                                      {"dx", dx, Role::output}};
  check_tensors(callee, tensors);
  const double scale = segment_options(callee, options).scale;
  with_offsets(callee, offsets, [&](const auto& offset_array) {
    with_same_type(SupportedTypes{}, callee, tensors, [&]<class Type>(Type) {
      using X = typename Type::type;
      using T = const typename RaggedNumber<X>::type;
      const auto lse_array = given_row_numbers<T>(callee, "lse", lse);
      const auto dlse_array = given_row_numbers<T>(callee, "dlse", dlse);
      with_instance(
          "kokkossoftmax_segment_logsumexp_backward", space, stream, [&](const auto& exec) {
            check_and_launch_ragged_gradient(exec, typed_array<const X>(*x), lse_array, dlse_array,
                                             offset_array, typed_array<X>(*dx), scale);
          });
    });
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_segment_apply(int operation, int space, void* stream,
                                const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* offsets,
                                const kokkossoftmax_tensor* y,
                                const kokkossoftmax_options* options) {
  return Impl::guarded([&] {
    switch (Impl::checked_operation("kokkossoftmax_segment_apply", operation)) {
      case Impl::Operation::softmax:
        return Impl::segment_apply(Impl::RaggedOperation::softmax, space, stream, x, offsets, y,
                                   options);
      case Impl::Operation::log_softmax:
        return Impl::segment_apply(Impl::RaggedOperation::log_softmax, space, stream, x, offsets, y,
                                   options);
      case Impl::Operation::logsumexp:
        return Impl::segment_logsumexp(space, stream, x, offsets, y, options);
    }
  });
}

int kokkossoftmax_segment_backward(int operation, int space, void* stream,
                                   const kokkossoftmax_tensor* y, const kokkossoftmax_tensor* dy,
                                   const kokkossoftmax_tensor* offsets,
                                   const kokkossoftmax_tensor* dx,
                                   const kokkossoftmax_options* options) {
  return Impl::guarded([&] {
    Impl::segment_backward(Impl::checked_backward("kokkossoftmax_segment_backward", operation),
                           space, stream, y, dy, offsets, dx, options);
  });
}

int kokkossoftmax_segment_logsumexp_backward(int space, void* stream, const kokkossoftmax_tensor* x,
                                             const kokkossoftmax_tensor* lse,
                                             const kokkossoftmax_tensor* dlse,
                                             const kokkossoftmax_tensor* offsets,
                                             const kokkossoftmax_tensor* dx,
                                             const kokkossoftmax_options* options) {
  return Impl::guarded(
      [&] { Impl::segment_logsumexp_backward(space, stream, x, lse, dlse, offsets, dx, options); });
}

}  // extern "C"
