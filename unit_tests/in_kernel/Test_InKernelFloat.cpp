// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls inside kernels (InKernelTests.hpp) for float and the half types. Of the pairs with half
// types there are two: one of each type, with results of the same type and of float.

#include <in_kernel/InKernelTests.hpp>

namespace KokkosSoftmax::Test {
namespace {

using FloatConfigs = decltype(configs_of<float>(TestedSpaces{}))::types;
INSTANTIATE_TYPED_TEST_SUITE_P(Float, InKernel, FloatConfigs, ConfigName);
INSTANTIATE_TYPED_TEST_SUITE_P(Float, InKernelNearZero, FloatConfigs, ConfigName);

#ifdef KOKKOSSOFTMAX_TEST_HALF_TYPES
template <class... Exec>
auto half_pairs(TypeList<Exec...>) {
  return typename Concatenated<
      TypeList<Config<Exec, Kokkos::Experimental::half_t>,
               Config<Exec, Kokkos::Experimental::bhalf_t, Kokkos::LayoutRight, float>>...>::type{};
}
using HalfPairConfigs = decltype(half_pairs(TestedSpaces{}))::types;
INSTANTIATE_TYPED_TEST_SUITE_P(Half, InKernel, HalfPairConfigs, ConfigName);
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
