// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The backward passes of the C interface.

#include <c_interface/Instances.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>
#include <string>

namespace KokkosSoftmax::Impl {
namespace {

/// The tensors of a call, with the name of the first one.
struct BackwardTensors {
  const char* y_name;
  const kokkossoftmax_tensor* y;
  const kokkossoftmax_tensor* dy;
  const kokkossoftmax_tensor* dx;

  /// Calls function(name, tensor, role) for each of them.
  template <class Function>
  void for_each(const Function& function) const {
    function(y_name, y, Role::input);
    function("dy", dy, Role::input);
    function("dx", dx, Role::output);
  }
};

[[noreturn]] void throw_unsupported_types(const Callee& callee, const BackwardTensors& tensors,
                                          const std::string& supported) {
  std::string given;
  tensors.for_each([&](const char* name, const kokkossoftmax_tensor* tensor, Role) {
    given += std::string(name) + " of type = " + std::to_string(tensor->type) + ", " +
             type_name(tensor->type) + ", ";
  });
  throw_status(KOKKOSSOFTMAX_UNSUPPORTED, "KokkosSoftmax::", callee.name(), ": ", given,
               "have no kernels (this library has kernels for three arrays of ", supported,
               "): convert them to one of these types");
}

/// Calls `body(ValueType)` with the type of all tensors.
template <class... Pairs, class Body>
void with_same_type(TypePairs<Pairs...>, const Callee& callee, const BackwardTensors& tensors,
                    const Body& body) {
  const int type = tensors.y->type;
  const bool are_same = tensors.dy->type == type && tensors.dx->type == type;
  std::string supported;
  const auto call_if_right = [&]<class X, class Y>(TypePair<X, Y>) {
    if constexpr (X::code == Y::code) {
      if (are_same && X::code == type) {
        body(X{});
        return true;
      }
      supported += std::string(supported.empty() ? "" : ", or of ") + type_name(X::code);
    }
    return false;
  };
  if (!(call_if_right(Pairs{}) || ...)) throw_unsupported_types(callee, tensors, supported);
}

template <BackwardOperation operation>
void backward(int space, void* stream, const BackwardTensors& tensors,
              const kokkossoftmax_options* options) {
  tensors.for_each([](const char* name, const kokkossoftmax_tensor* tensor, Role role) {
    check_tensor(operation, name, tensor, role);
  });
  const Options cpp = cpp_options(operation, options);
  with_same_type(SupportedTypes{}, operation, tensors, [&]<class Type>(Type) {
    using T = typename Type::type;
    tensors.for_each([](const char* name, const kokkossoftmax_tensor* tensor, Role) {
      check_alignment<T>(operation, name, *tensor);
    });
    with_instance("kokkossoftmax_backward", space, stream, [&](const auto& exec) {
      check_and_launch_backward<operation>(exec, typed_array<const T>(*tensors.y),
                                           typed_array<const T>(*tensors.dy),
                                           typed_array<T>(*tensors.dx), cpp);
    });
  });
}

BackwardOperation backward_of(int operation) {
  switch (operation) {
    case KOKKOSSOFTMAX_SOFTMAX:
      return BackwardOperation::softmax_backward;
    case KOKKOSSOFTMAX_LOG_SOFTMAX:
      return BackwardOperation::log_softmax_backward;
    default:
      throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                   "kokkossoftmax_backward: operation = ", operation,
                   " is not possible (the function has the backward passes of softmax and "
                   "log_softmax): give KOKKOSSOFTMAX_SOFTMAX or KOKKOSSOFTMAX_LOG_SOFTMAX");
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_backward(int operation, int space, void* stream, const kokkossoftmax_tensor* y,
                           const kokkossoftmax_tensor* dy, const kokkossoftmax_tensor* dx,
                           const kokkossoftmax_options* options) {
  return Impl::guarded([&] {
    Impl::with_operation(Impl::backward_of(operation), [&](auto constant) {
      const char* y_name = Impl::first_input_name(constant.value);
      Impl::backward<constant.value>(space, stream, {y_name, y, dy, dx}, options);
    });
  });
}

}  // extern "C"
