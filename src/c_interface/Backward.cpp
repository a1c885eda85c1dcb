// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The backward passes of softmax and log_softmax of the C interface.

#include <c_interface/Instances.hpp>
#include <c_interface/Operations.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>
#include <initializer_list>

namespace KokkosSoftmax::Impl {
namespace {

template <BackwardOperation operation>
void backward(int space, void* stream, const kokkossoftmax_tensor* y,
              const kokkossoftmax_tensor* dy, const kokkossoftmax_tensor* dx,
              const kokkossoftmax_options* options) {
  const std::initializer_list<NamedTensor> tensors = {{first_input_name(operation), y, Role::input},
                                                      {"dy", dy, Role::input},
                                                      {"dx", dx, Role::output}};
  check_tensors(operation, tensors);
  const Options cpp = cpp_options(operation, options);
  with_same_type(SupportedTypes{}, operation, tensors, [&]<class Type>(Type) {
    using T = typename Type::type;
    with_instance("kokkossoftmax_backward", space, stream, [&](const auto& exec) {
      check_and_launch_backward<operation>(exec, typed_array<const T>(*y),
                                           typed_array<const T>(*dy), typed_array<T>(*dx), cpp);
    });
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_backward(int operation, int space, void* stream, const kokkossoftmax_tensor* y,
                           const kokkossoftmax_tensor* dy, const kokkossoftmax_tensor* dx,
                           const kokkossoftmax_options* options) {
  return Impl::guarded([&] {
    const auto backward = Impl::checked_backward("kokkossoftmax_backward", operation);
    Impl::with_operation(backward, [&](auto constant) {
      Impl::backward<constant.value>(space, stream, y, dy, dx, options);
    });
  });
}

}  // extern "C"
