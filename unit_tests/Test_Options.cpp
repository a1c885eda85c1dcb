// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the defaults of Options and the names of algorithms, which users write into their logs and
// files.

#include <gtest/gtest.h>

#include <KokkosSoftmax_Options.hpp>
#include <iterator>
#include <string_view>
#include <type_traits>
#include <utility>

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
  const std::pair<Algorithm, std::string_view> names[] = {
      {Algorithm::automatic, "automatic"},
      {Algorithm::packed, "packed"},
      {Algorithm::subgroup, "subgroup"},
      {Algorithm::fused_registers, "fused_registers"},
      {Algorithm::fused_scratch, "fused_scratch"},
      {Algorithm::online, "online"},
      {Algorithm::split, "split"},
      {Algorithm::split_online, "split_online"},
      {Algorithm::cluster, "cluster"},
      {Algorithm::column, "column"},
      {Algorithm::split_column, "split_column"},
      {Algorithm::host, "host"},
      {Algorithm::cluster_column, "cluster_column"},
      {Algorithm::two_pass_column, "two_pass_column"}};
  ASSERT_EQ(std::size(names), std::size(KokkosSoftmax::Impl::algorithm_table));
  for (const auto& [algorithm, name] : names) EXPECT_EQ(to_string(algorithm), name);
  EXPECT_EQ(to_string(static_cast<Algorithm>(std::size(names))), "unknown");
}

}  // namespace
}  // namespace KokkosSoftmax::Test
