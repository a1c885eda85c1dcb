// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP
#define KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_CompiledTypes.hpp>

namespace KokkosSoftmax::Impl {

/// The value types of x and y, the type of the computation, and the name of this combination in
/// messages and tuning tables. Defined only for the pairs for which the library has kernels.
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
