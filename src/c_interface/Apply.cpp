// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The functions of the C interface that run the operations, set their options and manage the
/// execution space instances.

#include <c_interface/Instances.hpp>
#include <c_interface/Operands.hpp>
#include <c_interface/Operations.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>

namespace KokkosSoftmax::Impl {
namespace {

/// The signs are of the type of the results.
template <Operation operation, class Exec, class X, class Y, class T>
void apply_weighted(const Exec& exec, const StridedArray<const X>& x, const StridedArray<Y>& lse,
                    const Options& options, const InputArrays<const X, T>& inputs,
                    const kokkossoftmax_tensor* sign) {
  if constexpr (one_value_per_row(operation)) {
    check_and_launch_weighted<operation>(exec, x, "lse", lse, options, inputs,
                                         row_numbers<Y>(operation, "sign", sign));
  }
}

template <Operation operation>
void apply(int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* y,
           const kokkossoftmax_options* options, const kokkossoftmax_operands* operands) {
  const char* y_name = one_value_per_row(operation) ? "lse" : "y";
  check_tensor(operation, "x", x, Role::input);
  check_tensor(operation, y_name, y, Role::output);
  const Options cpp = cpp_options(operation, options);
  const kokkossoftmax_operands given = known_operands(
      operation, operands,
      one_value_per_row(operation) ? MoreOperands::weights_and_sign : MoreOperands::lse_and_max);
  with_types(
      SupportedTypes{}, operation, x->type, y_name, y->type, [&]<class X, class Y>(TypePair<X, Y>) {
        check_alignment<typename X::type>(operation, "x", *x);
        check_alignment<typename Y::type>(operation, y_name, *y);
        using T = typename ValueTypes<typename X::type, typename Y::type>::Compute;
        const ArraysBeside<const typename X::type, typename Y::type> beside{
            row_numbers<T>(operation, "lse", given.lse),
            row_numbers<T>(operation, "max", given.max)};
        const auto inputs = input_arrays<typename X::type, T>(operation, given);
        const auto x_array = typed_array<const typename X::type>(*x);
        const auto y_array = typed_array<typename Y::type>(*y);
        with_instance("kokkossoftmax_apply", space, stream, [&](const auto& exec) {
          if (inputs.has_weights())
            return apply_weighted<operation>(exec, x_array, y_array, cpp, inputs, given.sign);
          if (inputs.any())
            check_and_launch<operation>(exec, x_array, y_name, y_array, cpp, beside, inputs);
          else
            check_and_launch<operation>(exec, x_array, y_name, y_array, cpp, beside);
        });
      });
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_options_init_sized(kokkossoftmax_options* options, size_t size) {
  return Impl::guarded([&] { Impl::init_options(options, size); });
}

int kokkossoftmax_cross_entropy_options_init_sized(kokkossoftmax_cross_entropy_options* options,
                                                   size_t size) {
  return Impl::guarded([&] { Impl::init_options(options, size); });
}

int kokkossoftmax_apply(int operation, int space, void* stream, const kokkossoftmax_tensor* x,
                        const kokkossoftmax_tensor* y, const kokkossoftmax_options* options) {
  return kokkossoftmax_apply_with(operation, space, stream, x, y, options, nullptr);
}

int kokkossoftmax_apply_with(int operation, int space, void* stream, const kokkossoftmax_tensor* x,
                             const kokkossoftmax_tensor* y, const kokkossoftmax_options* options,
                             const kokkossoftmax_operands* operands) {
  return Impl::guarded([&] {
    const auto checked = Impl::checked_operation("kokkossoftmax_apply", operation);
    Impl::with_operation(checked, [&](auto constant) {
      Impl::apply<constant.value>(space, stream, x, y, options, operands);
    });
  });
}

const char* kokkossoftmax_space_name(int space) {
  const char* name = nullptr;
  Impl::guarded([&] {
    Impl::with_space("kokkossoftmax_space_name", space,
                     [&]<class Exec>(std::type_identity<Exec>) { name = Exec::name(); });
  });
  return name;
}

int kokkossoftmax_fence(int space, void* stream) {
  return Impl::guarded([&] {
    Impl::with_instance("kokkossoftmax_fence", space, stream,
                        [](const auto& exec) { exec.fence("kokkossoftmax_fence"); });
  });
}

int kokkossoftmax_release_stream(int space, void* stream) {
  return Impl::guarded([&] {
    Impl::with_space("kokkossoftmax_release_stream", space,
                     [&]<class Exec>(std::type_identity<Exec>) {
                       if constexpr (Impl::has_streams<Exec>)
                         Impl::Instances<Exec>::singleton().release(stream);
                       else
                         (void)stream;
                     });
  });
}

}  // extern "C"
