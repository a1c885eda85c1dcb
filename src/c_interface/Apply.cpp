// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The functions of the C interface that run the operations, set their options and manage the
/// execution space instances.

#include <KokkosSoftmax_Version.hpp>
#include <algorithm>
#include <c_interface/Instances.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <cstddef>
#include <cstring>
#include <optional>

namespace KokkosSoftmax::Impl {
namespace {

void init_options(kokkossoftmax_options* options, std::size_t size) {
  if (options == nullptr)
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                 "kokkossoftmax_options_init: options is NULL (there is nothing to set): "
                 "give the address of a kokkossoftmax_options");
  if (!is_options_size(size))
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, "kokkossoftmax_options_init_sized: size = ", size,
                 " is not the size of a kokkossoftmax_options (which has ", min_options_size,
                 " bytes or more): give its sizeof");
  kokkossoftmax_options known = default_options();
  known.size = size;
  std::memset(static_cast<void*>(options), 0, size);
  std::memcpy(options, &known, std::min(size, sizeof(known)));
}

/// The size of kokkossoftmax_operands in the first version that has it.
constexpr std::size_t min_operands_size =
    offsetof(kokkossoftmax_operands, lse) + sizeof(kokkossoftmax_operands::lse);

/// The caller's operands, with NULL for the members that the caller doesn't have or doesn't give.
kokkossoftmax_operands known_operands(Operation operation, const kokkossoftmax_operands* operands) {
  kokkossoftmax_operands known{};
  if (operands == nullptr) return known;
  const std::size_t size = operands->size;
  if (size < min_operands_size || size > max_options_size)
    throw_invalid(operation, "operands.size = ", size,
                  " is not the size of a kokkossoftmax_operands (which has ", min_operands_size,
                  " bytes or more): set it to sizeof(kokkossoftmax_operands)");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(operands);
  if (std::any_of(bytes + std::min(size, sizeof(known)), bytes + size,
                  [](unsigned char byte) { return byte != 0; }))
    throw_invalid(
        operation, "operands has a member that is unknown (it was added later than version ",
        KOKKOSSOFTMAX_VERSION_STRING, " of this library): leave it NULL, or use a later library");
  std::memcpy(&known, operands, std::min(size, sizeof(known)));
  const auto check_is_beside = [&](const char* name, const kokkossoftmax_tensor* tensor) {
    if (tensor != nullptr && one_value_per_row(operation))
      throw_invalid(operation, "operands.", name, " is given (", to_string(operation),
                    " writes one value per row, and nothing beside it): set it to NULL");
  };
  check_is_beside("lse", known.lse);
  check_is_beside("max", known.max);
  return known;
}

/// A tensor of the operands as an array of T, if it is given and has the type `code`.
template <class T>
std::optional<StridedArray<T>> array_of_type(Operation operation, const char* name,
                                             const kokkossoftmax_tensor* tensor, int code) {
  if (tensor == nullptr || tensor->type != code) return {};
  check_alignment<T>(operation, name, *tensor);
  return typed_array<T>(*tensor);
}

/// A tensor that is written beside y.
template <class T>
std::optional<StridedArray<T>> array_beside(Operation operation, const char* name,
                                            const kokkossoftmax_tensor* tensor) {
  if (tensor == nullptr) return {};
  check_tensor(operation, name, tensor, Role::output_per_row);
  constexpr int code = ValueTypeOf<T>::code;
  if (tensor->type != code)
    throw_invalid(operation, name, " has type = ", tensor->type, ", ", type_name(tensor->type),
                  " (it is computed in ", type_name(code), "): give it that type");
  return array_of_type<T>(operation, name, tensor, code);
}

/// Checks a tensor that is read besides x, and that it has one of two types.
void check_input(Operation operation, const char* name, const kokkossoftmax_tensor* tensor,
                 int code, int other_code) {
  if (tensor == nullptr) return;
  check_tensor(operation, name, tensor, Role::input_broadcast);
  if (tensor->type == code || tensor->type == other_code) return;
  const std::string known = code == other_code
                                ? type_name(code)
                                : std::string(type_name(code)) + " or " + type_name(other_code);
  throw_invalid(operation, name, " has type = ", tensor->type, ", ", type_name(tensor->type),
                " (it must be ", known, " here): give it that type");
}

template <class X, class T>
InputArrays<const X, T> input_arrays(Operation operation, const kokkossoftmax_operands& given) {
  InputArrays<const X, T> inputs;
  constexpr int entry = ValueTypeOf<X>::code, computed = ValueTypeOf<T>::code;
  check_input(operation, "bias", given.bias, entry, computed);
  check_input(operation, "mask", given.mask, KOKKOSSOFTMAX_BOOL, KOKKOSSOFTMAX_BOOL);
  check_input(operation, "lengths", given.lengths, KOKKOSSOFTMAX_INT32, KOKKOSSOFTMAX_INT64);
  inputs.bias = array_of_type<const X>(operation, "bias", given.bias, entry);
  if constexpr (entry != computed)
    inputs.wide_bias = array_of_type<const T>(operation, "bias", given.bias, computed);
  inputs.mask =
      array_of_type<const unsigned char>(operation, "mask", given.mask, KOKKOSSOFTMAX_BOOL);
  inputs.lengths =
      array_of_type<const std::int32_t>(operation, "lengths", given.lengths, KOKKOSSOFTMAX_INT32);
  inputs.long_lengths =
      array_of_type<const std::int64_t>(operation, "lengths", given.lengths, KOKKOSSOFTMAX_INT64);
  if (given.causal != nullptr) {
    inputs.causal = Causal{.offset = given.causal->offset};
    if (given.causal->has_axis != 0) inputs.causal->axis = given.causal->axis;
  }
  return inputs;
}

template <Operation operation>
void apply(int space, void* stream, const kokkossoftmax_tensor* x, const kokkossoftmax_tensor* y,
           const kokkossoftmax_options* options, const kokkossoftmax_operands* operands) {
  const char* y_name = one_value_per_row(operation) ? "lse" : "y";
  check_tensor(operation, "x", x, Role::input);
  check_tensor(operation, y_name, y, Role::output);
  const Options cpp = cpp_options(operation, options);
  const kokkossoftmax_operands given = known_operands(operation, operands);
  with_types(SupportedTypes{}, operation, x->type, y_name, y->type,
             [&]<class X, class Y>(TypePair<X, Y>) {
               check_alignment<typename X::type>(operation, "x", *x);
               check_alignment<typename Y::type>(operation, y_name, *y);
               using T = typename ValueTypes<typename X::type, typename Y::type>::Compute;
               const ArraysBeside<const typename X::type, typename Y::type> beside{
                   array_beside<T>(operation, "lse", given.lse),
                   array_beside<T>(operation, "max", given.max)};
               const auto inputs = input_arrays<typename X::type, T>(operation, given);
               const auto x_array = typed_array<const typename X::type>(*x);
               const auto y_array = typed_array<typename Y::type>(*y);
               with_instance("kokkossoftmax_apply", space, stream, [&](const auto& exec) {
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

int kokkossoftmax_apply(int operation, int space, void* stream, const kokkossoftmax_tensor* x,
                        const kokkossoftmax_tensor* y, const kokkossoftmax_options* options) {
  return kokkossoftmax_apply_with(operation, space, stream, x, y, options, nullptr);
}

int kokkossoftmax_apply_with(int operation, int space, void* stream, const kokkossoftmax_tensor* x,
                             const kokkossoftmax_tensor* y, const kokkossoftmax_options* options,
                             const kokkossoftmax_operands* operands) {
  return Impl::guarded([&] {
    constexpr int last = static_cast<int>(Impl::last_operation);
    if (operation < 0 || operation > last)
      Impl::throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT,
                         "kokkossoftmax_apply: operation = ", operation,
                         " is unknown (the known values are 0 to ", last,
                         "): give a value of kokkossoftmax_operation");
    Impl::with_operation(static_cast<Impl::Operation>(operation), [&](auto constant) {
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
