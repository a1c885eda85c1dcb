// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP
#define KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_CompiledTypes.hpp>

namespace KokkosSoftmax::Impl {

/// What x and y hold and what is computed in, and its name in messages and tuning tables. Defined
/// for the pairs that the library has kernels for, and for no others.
template <class Tx, class Ty = Tx>
struct ValueTypes;

template <class Tx, class Ty, class T>
struct ValueTypesOf {
  using X = Tx;
  using Y = Ty;
  using Compute = T;
};

#define KOKKOSSOFTMAX_IMPL_DEFINE_VALUE_TYPES(Tx, Ty, T, types) \
  template <>                                                   \
  struct ValueTypes<Tx, Ty> : ValueTypesOf<Tx, Ty, T> {         \
    static constexpr const char* name = #types;                 \
  };
KOKKOSSOFTMAX_IMPL_FOR_EACH_VALUE_TYPES(KOKKOSSOFTMAX_IMPL_DEFINE_VALUE_TYPES)
#undef KOKKOSSOFTMAX_IMPL_DEFINE_VALUE_TYPES

template <class Tx, class Ty>
inline constexpr bool have_kernels = requires {
  ValueTypes<Tx, Ty>::name;
};

}  // namespace KokkosSoftmax::Impl

#endif
