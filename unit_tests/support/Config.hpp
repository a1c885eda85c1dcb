// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CONFIG_HPP
#define KOKKOSSOFTMAX_TEST_CONFIG_HPP

/// \file
/// The types that suites are repeated over: execution spaces, value types, layouts.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Test {

template <class Exec, class T, class L = Kokkos::LayoutRight>
struct Config {
  using exec = Exec;
  using value = T;
  using layout = L;
};

template <class... T>
struct TypeList {
  using types = ::testing::Types<T...>;
};

template <class... Lists>
struct Concatenated;
template <class... A>
struct Concatenated<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Concatenated<TypeList<A...>, TypeList<B...>, Rest...> {
  using type = typename Concatenated<TypeList<A..., B...>, Rest...>::type;
};

using EnabledSpaces = Concatenated<
#ifdef KOKKOS_ENABLE_OPENMP
    TypeList<Kokkos::OpenMP>,
#endif
#ifdef KOKKOS_ENABLE_THREADS
    TypeList<Kokkos::Threads>,
#endif
#ifdef KOKKOS_ENABLE_CUDA
    TypeList<Kokkos::Cuda>,
#endif
#ifdef KOKKOS_ENABLE_HIP
    TypeList<Kokkos::HIP>,
#endif
#ifdef KOKKOS_ENABLE_SYCL
    TypeList<Kokkos::SYCL>,
#endif
#ifdef KOKKOS_ENABLE_SERIAL
    TypeList<Kokkos::Serial>,
#endif
    TypeList<>>::type;

template <class Spaces>
struct OverSpaces;
template <class... Exec>
struct OverSpaces<TypeList<Exec...>> {
  using values =
      typename Concatenated<TypeList<Config<Exec, double>, Config<Exec, float>>...>::type;
  template <class T>
  using layouts_of = typename Concatenated<
      TypeList<Config<Exec, T, Kokkos::LayoutRight>, Config<Exec, T, Kokkos::LayoutLeft>,
               Config<Exec, T, Kokkos::LayoutStride>>...>::type;
};

/// Enabled spaces x {double, float}, and the same x {Right, Left, Stride}.
using ValueConfigs = OverSpaces<EnabledSpaces>::values::types;
using LayoutConfigs = Concatenated<OverSpaces<EnabledSpaces>::layouts_of<double>,
                                   OverSpaces<EnabledSpaces>::layouts_of<float>>::type::types;

/// Spaces whose memory is the host's, on which Algorithm::host runs.
template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Names a suite "Shapes/Serial_double_Right" (a plain number would say nothing); CTest's filters
/// rely on the space's name.
struct ConfigName {
  template <class C>
  static std::string GetName(int) {
    const char* value = std::is_same_v<typename C::value, double> ? "double" : "float";
    const char* layout = std::is_same_v<typename C::layout, Kokkos::LayoutRight>  ? "Right"
                         : std::is_same_v<typename C::layout, Kokkos::LayoutLeft> ? "Left"
                                                                                  : "Stride";
    return std::string(C::exec::name()) + "_" + value + "_" + layout;
  }
};

}  // namespace KokkosSoftmax::Test

#endif
