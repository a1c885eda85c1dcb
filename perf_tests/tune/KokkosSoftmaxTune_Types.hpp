// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_TYPES_HPP
#define KOKKOSSOFTMAXTUNE_TYPES_HPP

/// \file
/// The pairs of value types that the library has kernels for here, by their names in tables.

#include <cstdint>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <string>
#include <vector>

namespace KokkosSoftmaxTune {

/// Calls function(V()) with the ValueTypes of each pair.
template <class Function>
void for_each_types(const Function& function) {
#define KOKKOSSOFTMAXTUNE_CALL(X, Y, T, name) function(KokkosSoftmax::Impl::ValueTypes<X, Y>());
  KOKKOSSOFTMAX_IMPL_FOR_EACH_VALUE_TYPES(KOKKOSSOFTMAXTUNE_CALL)
#undef KOKKOSSOFTMAXTUNE_CALL
}

/// Calls function(V()) with the ValueTypes of a name.
template <class Function>
void with_types(const std::string& name, const Function& function) {
  for_each_types([&](auto types) {
    if (types.name == name) function(types);
  });
}

inline std::vector<std::string> type_names() {
  std::vector<std::string> names;
  for_each_types([&](auto types) { names.push_back(types.name); });
  return names;
}

/// The bytes of an entry of x.
inline std::int64_t size_of_x(const std::string& name) {
  std::int64_t size = 0;
  with_types(name, [&]<class V>(V) { size = sizeof(typename V::X); });
  return size;
}

}  // namespace KokkosSoftmaxTune

#endif
