// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_OPERANDS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_OPERANDS_HPP

/// \file
/// Converts kokkossoftmax_operands to typed arrays.

#include <KokkosSoftmax_Version.hpp>
#include <algorithm>
#include <c_interface/Options.hpp>
#include <c_interface/Tensors.hpp>
#include <cstddef>
#include <cstring>

namespace KokkosSoftmax::Impl {

/// The size of kokkossoftmax_operands in the first version that has it.
constexpr std::size_t min_operands_size =
    offsetof(kokkossoftmax_operands, lse) + sizeof(kokkossoftmax_operands::lse);

/// The operands that a call can have besides those of every call.
enum class MoreOperands { none, lse_and_max, weights_and_sign };

/// The caller's operands, with NULL for the members that the caller doesn't have or doesn't give.
inline kokkossoftmax_operands known_operands(const Callee& callee,
                                             const kokkossoftmax_operands* operands,
                                             MoreOperands more) {
  kokkossoftmax_operands known{};
  if (operands == nullptr) return known;
  const std::size_t size = operands->size;
  constexpr std::size_t alignment = alignof(kokkossoftmax_operands);
  if (size < min_operands_size || size > max_options_size || size % alignment != 0)
    throw_invalid(callee, "operands.size = ", size,
                  " is not the size of a kokkossoftmax_operands (which has ", min_operands_size,
                  " bytes or more, a multiple of ", alignment,
                  "): set it to sizeof(kokkossoftmax_operands)");
  const auto* const bytes = reinterpret_cast<const unsigned char*>(operands);
  if (std::any_of(bytes + std::min(size, sizeof(known)), bytes + size,
                  [](unsigned char byte) { return byte != 0; }))
    throw_invalid(callee, "operands has a member that is unknown (it was added later than version ",
                  KOKKOSSOFTMAX_VERSION_STRING,
                  " of this library): leave it NULL, or use a later library");
  std::memcpy(&known, operands, std::min(size, sizeof(known)));
  const auto check_is_beside = [&](const char* name, const kokkossoftmax_tensor* tensor) {
    if (tensor != nullptr && more != MoreOperands::lse_and_max)
      throw_invalid(callee, "operands.", name, " is given (", callee.name(),
                    " writes nothing beside its result): set it to NULL");
  };
  const auto check_is_weighted = [&](const char* name, const kokkossoftmax_tensor* tensor) {
    if (tensor != nullptr && more != MoreOperands::weights_and_sign)
      throw_invalid(callee, "operands.", name, " is given (only logsumexp has weights and signs): ",
                    "set it to NULL, or give the logarithms of positive weights as bias");
  };
  check_is_beside("lse", known.lse);
  check_is_beside("max", known.max);
  check_is_weighted("weights", known.weights);
  check_is_weighted("sign", known.sign);
  if (known.sign != nullptr && known.weights == nullptr)
    throw_invalid(callee, "operands.sign is given and operands.weights is NULL (without weights ",
                  "all signs are 1): give weights, or set sign to NULL");
  if (known.reserved != 0)
    throw_invalid(callee, "operands.reserved = ", known.reserved, " (it must be 0): set it to 0");
  return known;
}

/// The operands that are read, as they are given.
template <class X, class T>
InputArrays<const X, T> input_arrays(const Callee& callee, const kokkossoftmax_operands& given) {
  InputArrays<const X, T> inputs;
  constexpr int entry = ValueTypeOf<X>::code, computed = ValueTypeOf<T>::code;
  const auto check = [&](const char* name, const kokkossoftmax_tensor* tensor, int code,
                         int other_code) {
    if (tensor != nullptr)
      check_input(callee, name, tensor, Role::input_broadcast, code, other_code);
  };
  check("bias", given.bias, entry, computed);
  check("mask", given.mask, KOKKOSSOFTMAX_BOOL, KOKKOSSOFTMAX_BOOL);
  check("lengths", given.lengths, KOKKOSSOFTMAX_INT32, KOKKOSSOFTMAX_INT64);
  check("row_bias", given.row_bias, computed, computed);
  check("weights", given.weights, entry, computed);
  inputs.bias = array_of_type<const X>(callee, "bias", given.bias, entry);
  if constexpr (entry != computed)
    inputs.wide_bias = array_of_type<const T>(callee, "bias", given.bias, computed);
  inputs.mask = array_of_type<const unsigned char>(callee, "mask", given.mask, KOKKOSSOFTMAX_BOOL);
  inputs.lengths =
      array_of_type<const std::int32_t>(callee, "lengths", given.lengths, KOKKOSSOFTMAX_INT32);
  inputs.long_lengths =
      array_of_type<const std::int64_t>(callee, "lengths", given.lengths, KOKKOSSOFTMAX_INT64);
  inputs.row_bias = array_of_type<const T>(callee, "row_bias", given.row_bias, computed);
  inputs.weights = array_of_type<const X>(callee, "weights", given.weights, entry);
  if constexpr (entry != computed)
    inputs.wide_weights = array_of_type<const T>(callee, "weights", given.weights, computed);
  inputs.scale_biases = given.scale_biases != 0;
  if (given.causal != nullptr) {
    inputs.causal = Causal{.offset = given.causal->offset};
    if (given.causal->has_axis != 0) inputs.causal->axis = given.causal->axis;
  }
  return inputs;
}

}  // namespace KokkosSoftmax::Impl

#endif
