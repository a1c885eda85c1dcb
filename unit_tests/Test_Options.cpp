// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the defaults of Options and the names of algorithms, which users write into their logs and
// files.

#include <gtest/gtest.h>

#include <KokkosSoftmax_Options.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {
namespace {

static_assert(std::is_aggregate_v<Options>, "calls name the options that they change");

TEST(Options, Defaults) {
  constexpr Options options;
  EXPECT_EQ(options.axis, -1);
  EXPECT_EQ(options.scale, 1.0);
  EXPECT_EQ(options.empty_rows, EmptyRows::nan);
  EXPECT_EQ(options.algorithm, Algorithm::automatic);
  EXPECT_FALSE(options.reproducible);
}

TEST(Options, AlgorithmNames) {
  EXPECT_EQ(to_string(Algorithm::automatic), "automatic");
  EXPECT_EQ(to_string(Algorithm::packed), "packed");
  EXPECT_EQ(to_string(Algorithm::subgroup), "subgroup");
  EXPECT_EQ(to_string(Algorithm::fused_registers), "fused_registers");
  EXPECT_EQ(to_string(Algorithm::fused_scratch), "fused_scratch");
  EXPECT_EQ(to_string(Algorithm::online), "online");
  EXPECT_EQ(to_string(Algorithm::split), "split");
  EXPECT_EQ(to_string(Algorithm::split_online), "split_online");
  EXPECT_EQ(to_string(Algorithm::cluster), "cluster");
  EXPECT_EQ(to_string(Algorithm::column), "column");
  EXPECT_EQ(to_string(Algorithm::split_column), "split_column");
  EXPECT_EQ(to_string(Algorithm::host), "host");
}

}  // namespace
}  // namespace KokkosSoftmax::Test
