// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CONFIG_HPP
#define KOKKOSSOFTMAX_TEST_CONFIG_HPP

/// \file
/// The types over which suites are repeated: execution spaces, value types and layouts.

#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Test {

template <class Exec, class X, class L = Kokkos::LayoutRight, class Y = X>
struct Config {
  using exec = Exec;
  using values = KokkosSoftmax::Impl::ValueTypes<X, Y>;
  using value = typename values::Compute;
  using x_value = X;
  using y_value = Y;
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
#ifdef KOKKOS_ENABLE_HPX
    TypeList<Kokkos::Experimental::HPX>,
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

/// Whether the memory of an execution space is that of the host. Algorithm::host runs on these
/// spaces.
template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Whether the library has the schedules for GPUs on an execution space. In builds without a GPU,
/// the default host space has them.
template <class Exec>
inline constexpr bool has_gpu_schedules =
#if defined(KOKKOSSOFTMAX_NO_GPU_SCHEDULES_ON_HOSTS)
    !is_host_space<Exec>;
#else
    !is_host_space<Exec> || std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>;
#endif

template <class... Exec>
constexpr auto with_gpu_schedules(TypeList<Exec...>) {
  return typename Concatenated<
      std::conditional_t<has_gpu_schedules<Exec>, TypeList<Exec>, TypeList<>>...,
      TypeList<>>::type{};
}
/// The execution spaces of suites for these schedules.
using ScheduleSpaces = decltype(with_gpu_schedules(EnabledSpaces{}));

/// The execution spaces of most suites. In a build for a GPU, these are the GPUs. The same suites
/// on hosts are left to builds without a GPU.
#if defined(KOKKOSSOFTMAX_NO_GPU_SCHEDULES_ON_HOSTS)
using TestedSpaces = ScheduleSpaces;
#else
using TestedSpaces = EnabledSpaces;
#endif

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

/// Spaces x {double, float}, and spaces x {double, float} x {Right, Left, Stride}.
using ValueConfigs = OverSpaces<TestedSpaces>::values::types;
using ScheduleConfigs = OverSpaces<ScheduleSpaces>::values::types;
using EnabledValueConfigs = OverSpaces<EnabledSpaces>::values::types;
template <class Spaces>
using LayoutConfigsOf =
    typename Concatenated<typename OverSpaces<Spaces>::template layouts_of<double>,
                          typename OverSpaces<Spaces>::template layouts_of<float>>::type::types;
using LayoutConfigs = LayoutConfigsOf<TestedSpaces>;
using EnabledLayoutConfigs = LayoutConfigsOf<EnabledSpaces>;

/// Enabled spaces x pairs of value types with half types x layouts. A build in which Kokkos' half
/// types are float has none of these. Hosts have half types only in builds with a GPU.
#if !KOKKOS_HALF_T_IS_FLOAT || !KOKKOS_BHALF_T_IS_FLOAT
#define KOKKOSSOFTMAX_TEST_HALF_TYPES
template <class Exec, class L>
using HalfConfigsOf = typename Concatenated<
#if !KOKKOS_HALF_T_IS_FLOAT
    TypeList<Config<Exec, Kokkos::Experimental::half_t, L>,
             Config<Exec, Kokkos::Experimental::half_t, L, float>>,
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
    TypeList<Config<Exec, Kokkos::Experimental::bhalf_t, L>,
             Config<Exec, Kokkos::Experimental::bhalf_t, L, float>>,
#endif
    TypeList<>>::type;

template <class L, class... Exec>
constexpr auto half_configs(TypeList<Exec...>) {
  return typename Concatenated<HalfConfigsOf<Exec, L>...>::type{};
}
template <class... L>
using HalfConfigs =
    typename Concatenated<decltype(half_configs<L>(EnabledSpaces{}))...>::type::types;
#endif

/// ValueConfigs and ScheduleConfigs, and the pairs with half types if there are any.
#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
template <class Spaces>
using WithHalfTypes = typename Concatenated<typename OverSpaces<Spaces>::values,
                                            decltype(half_configs<Kokkos::LayoutRight>(
                                                EnabledSpaces{}))>::type::types;
using AllValueConfigs = WithHalfTypes<TestedSpaces>;
using AllScheduleConfigs = WithHalfTypes<ScheduleSpaces>;
#else
using AllValueConfigs = ValueConfigs;
using AllScheduleConfigs = ScheduleConfigs;
#endif

/// Those of AllValueConfigs with one type for x and y.
template <class C>
using IfSameTypes = std::conditional_t<std::is_same_v<typename C::x_value, typename C::y_value>,
                                       TypeList<C>, TypeList<>>;
template <class... C>
auto of_same_types(::testing::Types<C...>) {
  return typename Concatenated<IfSameTypes<C>..., TypeList<>>::type{};
}
using SameTypeConfigs = decltype(of_same_types(AllValueConfigs{}))::types;

/// Gives suites names like "Shapes/Serial_double_Right" in place of GoogleTest's numbers. The
/// filters of CTest use the name of the space.
struct ConfigName {
  template <class C>
  static std::string GetName(int) {
    const char* layout = std::is_same_v<typename C::layout, Kokkos::LayoutRight>  ? "Right"
                         : std::is_same_v<typename C::layout, Kokkos::LayoutLeft> ? "Left"
                                                                                  : "Stride";
    return std::string(C::exec::name()) + "_" + C::values::name + "_" + layout;
  }
};

}  // namespace KokkosSoftmax::Test

#endif
