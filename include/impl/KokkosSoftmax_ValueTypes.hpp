// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP
#define KOKKOSSOFTMAX_IMPL_VALUETYPES_HPP

#include <Kokkos_Core.hpp>

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

template <>
struct ValueTypes<float> : ValueTypesOf<float, float, float> {
  static constexpr const char* name = "float";
};
template <>
struct ValueTypes<double> : ValueTypesOf<double, double, double> {
  static constexpr const char* name = "double";
};

// Where no backend has them, Kokkos' half types are other names of float.
#if !KOKKOS_HALF_T_IS_FLOAT
template <>
struct ValueTypes<Kokkos::Experimental::half_t>
    : ValueTypesOf<Kokkos::Experimental::half_t, Kokkos::Experimental::half_t, float> {
  static constexpr const char* name = "half";
};
template <>
struct ValueTypes<Kokkos::Experimental::half_t, float>
    : ValueTypesOf<Kokkos::Experimental::half_t, float, float> {
  static constexpr const char* name = "half_float";
};
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct ValueTypes<Kokkos::Experimental::bhalf_t>
    : ValueTypesOf<Kokkos::Experimental::bhalf_t, Kokkos::Experimental::bhalf_t, float> {
  static constexpr const char* name = "bhalf";
};
template <>
struct ValueTypes<Kokkos::Experimental::bhalf_t, float>
    : ValueTypesOf<Kokkos::Experimental::bhalf_t, float, float> {
  static constexpr const char* name = "bhalf_float";
};
#endif

template <class Tx, class Ty>
inline constexpr bool have_kernels = requires {
  ValueTypes<Tx, Ty>::name;
};

}  // namespace KokkosSoftmax::Impl

#endif
