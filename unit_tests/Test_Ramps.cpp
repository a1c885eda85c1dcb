// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows whose maximum rises slowly. An algorithm that processes a row tile by tile and multiplies
// its sum by a rounded factor at each new maximum has one more rounding error per tile.

#include <support/Algorithms.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Ramps : public ::testing::Test {
 protected:
  static void expect_right(const Rows<typename C::value>& rows,
                           bool (*is_left_out)(Algorithm) = nullptr) {
    const Expected expected = reference(rows);
    expect_algorithms_right<C>(rows, expected, {}, is_left_out);
    expect_automatic_right(rows, expected);
  }
  static void expect_automatic_right(const Rows<typename C::value>& rows,
                                     const Expected& expected) {
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        EXPECT_TRUE(
            check_matrix<C>({.function = function, .options = {.axis = axis}}, rows, expected));
  }
};
TYPED_TEST_SUITE(Ramps, AllValueConfigs, ConfigName);

TYPED_TEST(Ramps, AllAlgorithms) {
  for (const std::size_t columns : {12671, 65536})
    TestFixture::expect_right(ramp_rows<typename TypeParam::x_value>(columns));
}

template <class C>
class SlowRamps : public Ramps<C> {
 protected:
  /// Serial runs what another space of hosts runs, too: there only `automatic` is tested.
  static void expect_slow_rows_right(const Rows<typename C::value>& rows,
                                     bool (*is_left_out)(Algorithm) = nullptr) {
    using Exec = typename C::exec;
    if constexpr (is_host_space<Exec> && !std::is_same_v<Exec, Kokkos::DefaultHostExecutionSpace>)
      SlowRamps::expect_automatic_right(rows, reference(rows));
    else
      SlowRamps::expect_right(rows, is_left_out);
  }

  /// Algorithms that hold rows. Hosts run the algorithms for GPUs with small tiles, so that a
  /// shorter ramp has as many of them. `automatic` takes `host` there.
  static bool is_for_shorter_rows(Algorithm algorithm) {
    return holds_rows(algorithm) || is_host_space<typename C::exec>;
  }
};
TYPED_TEST_SUITE(SlowRamps, AllValueConfigs, ConfigName);

TYPED_TEST(SlowRamps, AllAlgorithms) {
  TestFixture::expect_slow_rows_right(ramp_rows<typename TypeParam::x_value>(300000));
}

TYPED_TEST(SlowRamps, TenMillionColumns) {
  TestFixture::expect_slow_rows_right(two_ramp_rows<typename TypeParam::x_value>(10000000),
                                      TestFixture::is_for_shorter_rows);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
