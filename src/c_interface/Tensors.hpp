// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_TENSORS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_TENSORS_HPP

/// \file
/// Converts a kokkossoftmax_tensor to a typed array. Checks only what can't be wrong in a View.
/// Everything else is checked for both in impl/KokkosSoftmax_Arguments.hpp.

#include <kokkossoftmax.h>

#include <algorithm>
#include <c_interface/Status.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <initializer_list>
#include <optional>

namespace KokkosSoftmax::Impl {

template <int code_, class Value>
struct ValueType {
  static constexpr int code = code_;
  using type = Value;
};
template <class T>
struct ValueTypeOf;
template <>
struct ValueTypeOf<float> : ValueType<KOKKOSSOFTMAX_FLOAT, float> {};
template <>
struct ValueTypeOf<double> : ValueType<KOKKOSSOFTMAX_DOUBLE, double> {};
#if !KOKKOS_HALF_T_IS_FLOAT
template <>
struct ValueTypeOf<Kokkos::Experimental::half_t>
    : ValueType<KOKKOSSOFTMAX_HALF, Kokkos::Experimental::half_t> {};
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct ValueTypeOf<Kokkos::Experimental::bhalf_t>
    : ValueType<KOKKOSSOFTMAX_BFLOAT16, Kokkos::Experimental::bhalf_t> {};
#endif

template <class X, class Y>
struct TypePair {
  using x = X;
  using y = Y;
};
template <class... Pairs>
struct TypePairs {};
template <class... A, class... B>
constexpr TypePairs<A..., B...> operator+(TypePairs<A...>, TypePairs<B...>) {
  return {};
}

/// The types of x and y that the library has kernels for.
#define KOKKOSSOFTMAX_IMPL_PLUS_PAIR(X, Y, T, name)      \
  +TypePairs<TypePair<ValueTypeOf<X>, ValueTypeOf<Y>>> { \
  }
using SupportedTypes = decltype(TypePairs<> {
} KOKKOSSOFTMAX_IMPL_FOR_EACH_VALUE_TYPES(KOKKOSSOFTMAX_IMPL_PLUS_PAIR));
#undef KOKKOSSOFTMAX_IMPL_PLUS_PAIR

constexpr const char* type_name(int type) {
  switch (type) {
    case KOKKOSSOFTMAX_FLOAT:
      return "float";
    case KOKKOSSOFTMAX_DOUBLE:
      return "double";
    case KOKKOSSOFTMAX_HALF:
      return "half";
    case KOKKOSSOFTMAX_BFLOAT16:
      return "bfloat16";
    case KOKKOSSOFTMAX_BOOL:
      return "bool";
    case KOKKOSSOFTMAX_INT32:
      return "int32";
    case KOKKOSSOFTMAX_INT64:
      return "int64";
  }
  return "unknown";
}

[[noreturn]] inline void throw_unsupported_types(const Callee& callee, int x_type,
                                                 const char* y_name, int y_type,
                                                 const std::string& supported) {
  throw_status(KOKKOSSOFTMAX_UNSUPPORTED, "KokkosSoftmax::", callee.name(),
               ": x of type = ", x_type, ", ", type_name(x_type), ", and ", y_name,
               " of type = ", y_type, ", ", type_name(y_type),
               ", have no kernels (this library has kernels for ", supported,
               "): convert x, or give ", y_name, " another type");
}

/// Calls `body(TypePair<X, Y>{})` with the types of x and y.
template <class... Pairs, class Body>
void with_types(TypePairs<Pairs...>, const Callee& callee, int x_type, const char* y_name,
                int y_type, const Body& body) {
  const auto call_if_right = [&]<class X, class Y>(TypePair<X, Y> pair) {
    if (X::code != x_type || Y::code != y_type) return false;
    body(pair);
    return true;
  };
  if ((call_if_right(Pairs{}) || ...)) return;
  std::string supported;
  ((supported += std::string(supported.empty() ? "" : ", ") + type_name(Pairs::x::code) + " to " +
                 type_name(Pairs::y::code)),
   ...);
  throw_unsupported_types(callee, x_type, y_name, y_type, supported);
}

inline bool has_elements(const kokkossoftmax_tensor& tensor) {
  for (int d = 0; d < tensor.rank; ++d)
    if (tensor.extents[d] == 0) return false;
  return true;
}

/// What a tensor is for.
enum class Role { input, input_broadcast, input_per_row, output, output_per_row };

constexpr bool is_input(Role role) { return role <= Role::input_per_row; }

inline void check_given(const Callee& callee, const char* name,
                        const kokkossoftmax_tensor* tensor) {
  if (tensor == nullptr)
    throw_invalid(callee, name, " is NULL (an array is needed): give a kokkossoftmax_tensor");
}

inline void check_tensor(const Callee& callee, const char* name, const kokkossoftmax_tensor* tensor,
                         Role role) {
  check_given(callee, name, tensor);
  const bool has_axis =
      role == Role::input || (role == Role::output && !callee.one_value_per_row());
  const int min_rank = has_axis ? 1 : 0;
  if (tensor->rank < min_rank || tensor->rank > KOKKOSSOFTMAX_MAX_RANK)
    throw_invalid(callee, name, " has rank ", tensor->rank, " (ranks from ", min_rank, " to ",
                  KOKKOSSOFTMAX_MAX_RANK, " are supported): merge axes, or make a call per slice");
  if (tensor->extents == nullptr && tensor->rank > 0)
    throw_invalid(callee, name, ".extents is NULL (", name, " has rank ", tensor->rank,
                  "): give an array of ", tensor->rank, " extents");
  for (int d = 0; d < tensor->rank; ++d)
    if (tensor->extents[d] < 0)
      throw_invalid(callee, name, ".extents[", d, "] = ", tensor->extents[d],
                    " is negative (it is a number of elements): give 0 or more");
  for (int d = 0; d < tensor->rank && tensor->strides != nullptr; ++d) {
    const std::int64_t stride = tensor->strides[d];
    if (stride < 0)
      throw_invalid(callee, name, ".strides[", d, "] = ", stride,
                    " is negative (strides count forward from data): reverse the axis in a copy");
    if (stride == 0 && tensor->extents[d] > 1 && has_elements(*tensor) && !is_input(role))
      throw_invalid(callee, name, ".strides[", d, "] = 0 with ", name, ".extents[", d,
                    "] = ", tensor->extents[d],
                    " (several results would be written to one element): give ", name,
                    " an element for each result");
  }
  if (has_elements(*tensor) && tensor->data == nullptr)
    throw_invalid(callee, name, ".data is NULL (", name,
                  " has elements): give the address of the first one");
}

/// Checks that the elements are at multiples of their size. Kernels don't support other addresses.
template <class T>
void check_alignment(const Callee& callee, const char* name, const kokkossoftmax_tensor& tensor) {
  const bool is_aligned = reinterpret_cast<std::uintptr_t>(tensor.data) % sizeof(T) == 0;
  if (!is_aligned && has_elements(tensor))
    throw_invalid(callee, name, ".data = ", tensor.data, " is not a multiple of ", sizeof(T),
                  " (the size of ", type_name(tensor.type),
                  "): give the address of an element, or copy the array to memory that is aligned");
}

/// The tensor as an array of T. check_tensor() must have accepted the tensor.
template <class T>
StridedArray<T> typed_array(const kokkossoftmax_tensor& tensor) {
  StridedArray<T> array;
  array.data = static_cast<T*>(tensor.data);
  array.rank = tensor.rank;
  std::int64_t contiguous = 1;
  for (int d = tensor.rank - 1; d >= 0; --d) {
    array.extents[d] = tensor.extents[d];
    array.strides[d] = tensor.strides == nullptr ? contiguous : tensor.strides[d];
    contiguous = capped_product(contiguous, tensor.extents[d]);  // check_size() rejects the cap
  }
  return array;
}

/// A tensor as an array of T, if it is given and has the type `code`. check_tensor() must have
/// accepted the tensor.
template <class T>
std::optional<StridedArray<T>> array_of_type(const Callee& callee, const char* name,
                                             const kokkossoftmax_tensor* tensor, int code) {
  if (tensor == nullptr || tensor->type != code) return {};
  check_alignment<T>(callee, name, *tensor);
  return typed_array<T>(*tensor);
}

/// A tensor with one number per row, whose type T is that of the computation, if it is given.
template <class T>
std::optional<StridedArray<T>> row_numbers(const Callee& callee, const char* name,
                                           const kokkossoftmax_tensor* tensor) {
  if (tensor == nullptr) return {};
  check_tensor(callee, name, tensor,
               std::is_const_v<T> ? Role::input_per_row : Role::output_per_row);
  constexpr int code = ValueTypeOf<std::remove_const_t<T>>::code;
  if (tensor->type != code)
    throw_invalid(callee, name, " has type = ", tensor->type, ", ", type_name(tensor->type),
                  " (it is computed in ", type_name(code), "): give it that type");
  return array_of_type<T>(callee, name, tensor, code);
}

/// Such a tensor, which must be given.
template <class T>
StridedArray<T> given_row_numbers(const Callee& callee, const char* name,
                                  const kokkossoftmax_tensor* tensor) {
  check_given(callee, name, tensor);
  return *row_numbers<T>(callee, name, tensor);
}

/// Checks a tensor that is read besides x, and that it has one of two types.
inline void check_input(const Callee& callee, const char* name, const kokkossoftmax_tensor* tensor,
                        Role role, int code, int other_code) {
  check_tensor(callee, name, tensor, role);
  if (tensor->type == code || tensor->type == other_code) return;
  const std::string known = code == other_code
                                ? type_name(code)
                                : std::string(type_name(code)) + " or " + type_name(other_code);
  throw_invalid(callee, name, " has type = ", tensor->type, ", ", type_name(tensor->type),
                " (it must be ", known, " here): give it that type");
}

/// A tensor of a call, with the name of its parameter.
struct NamedTensor {
  const char* name;
  const kokkossoftmax_tensor* tensor;
  Role role;
};

[[noreturn]] inline void throw_unsupported_types(const Callee& callee,
                                                 std::initializer_list<NamedTensor> tensors,
                                                 const std::string& supported) {
  std::string given;
  for (const auto& [name, tensor, role] : tensors)
    given += std::string(name) + " of type = " + std::to_string(tensor->type) + ", " +
             type_name(tensor->type) + ", ";
  throw_status(KOKKOSSOFTMAX_UNSUPPORTED, "KokkosSoftmax::", callee.name(), ": ", given,
               tensors.size() == 1 ? "has" : "have",
               " no kernels (this library has kernels for arrays ",
               tensors.size() == 1 ? "of " : "that are all of ", supported,
               "): convert to one of these types");
}

/// Checks tensors that must have one type, and calls `body(ValueType)` with it.
template <class... Pairs, class Body>
void with_same_type(TypePairs<Pairs...>, const Callee& callee,
                    std::initializer_list<NamedTensor> tensors, const Body& body) {
  const int type = tensors.begin()->tensor->type;
  const bool are_same = std::all_of(tensors.begin(), tensors.end(), [&](const NamedTensor& given) {
    return given.tensor->type == type;
  });
  std::string supported;
  const auto call_if_right = [&]<class X, class Y>(TypePair<X, Y>) {
    if constexpr (X::code == Y::code) {
      if (are_same && X::code == type) {
        for (const auto& [name, tensor, role] : tensors)
          check_alignment<typename X::type>(callee, name, *tensor);
        body(X{});
        return true;
      }
      supported += std::string(supported.empty() ? "" : ", or of ") + type_name(X::code);
    }
    return false;
  };
  if (!(call_if_right(Pairs{}) || ...)) throw_unsupported_types(callee, tensors, supported);
}

inline void check_tensors(const Callee& callee, std::initializer_list<NamedTensor> tensors) {
  for (const auto& [name, tensor, role] : tensors) check_tensor(callee, name, tensor, role);
}

}  // namespace KokkosSoftmax::Impl

#endif
