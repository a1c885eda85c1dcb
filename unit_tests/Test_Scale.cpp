// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::scale: temperatures, softmin, zero, and what overflows or vanishes.

#include <cmath>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

template <class C>
class Scale : public ::testing::Test {
 protected:
  static void expect_right(const Rows<typename C::value>& rows, double scale) {
    const auto expected = reference(rows, scale);
    for (const Function function : all_functions)
      for (const int axis : {0, 1})
        EXPECT_TRUE(check_matrix<C>(
            {.function = function, .options = {.axis = axis, .scale = scale}}, rows, expected));
  }
};
TYPED_TEST_SUITE(Scale, ValueConfigs, ConfigName);

TYPED_TEST(Scale, OrdinaryRows) {
  for (const std::size_t columns : {1, 7, 129, 1025, 12671})
    for (const double scale : {-1.0, 0.1, -0.1, 2.5, -37.0, 1.0 / 3.0})
      TestFixture::expect_right(normal_rows<typename TypeParam::value>(3, columns), scale);
}

TYPED_TEST(Scale, HostileRows) {
  for (const std::size_t columns : {7, 1025})
    for (const double scale : {-1.0, 0.1, -0.1})
      TestFixture::expect_right(hostile_rows<typename TypeParam::value>(columns), scale);
}

// The limit from above: finite rows become uniform, and -inf still counts for nothing.
TYPED_TEST(Scale, Zero) {
  for (const std::size_t columns : {7, 1025})
    for (const double scale : {0.0, -0.0})
      TestFixture::expect_right(hostile_rows<typename TypeParam::value>(columns), scale);
}

// So that scale itself, or products, overflow or vanish.
TYPED_TEST(Scale, Extreme) {
  using T = typename TypeParam::value;
  for (const double scale : {1e-310, 1e-45, 1e30, 1e300, -1e300})
    if (std::isfinite(static_cast<T>(scale)))
      TestFixture::expect_right(hostile_rows<T>(129), scale);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
