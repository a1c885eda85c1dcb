// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls inside kernels (InKernelTests.hpp) for double.

#include <in_kernel/InKernelTests.hpp>

namespace KokkosSoftmax::Test {
namespace {

using DoubleConfigs = decltype(configs_of<double>(TestedSpaces{}))::types;
INSTANTIATE_TYPED_TEST_SUITE_P(Double, InKernel, DoubleConfigs, ConfigName);
INSTANTIATE_TYPED_TEST_SUITE_P(Double, InKernelNearZero, DoubleConfigs, ConfigName);

}  // namespace
}  // namespace KokkosSoftmax::Test
