// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparison of results with expected numbers and their bounds: what it must find wrong.

#include <limits>
#include <reference/Accuracy.hpp>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
constexpr float nan_of_float = std::numeric_limits<float>::quiet_NaN();
constexpr float largest = std::numeric_limits<float>::max();

bool is_near_to(float got, long double expected, long double bound = 0,
                const std::optional<Format>& format = {}) {
  return static_cast<bool>(
      are_near(std::vector<float>{got}, ExpectedNumbers{{expected}, {bound}}, format));
}

TEST(AreNear, Numbers) {
  EXPECT_TRUE(is_near_to(1, 1));
  EXPECT_TRUE(is_near_to(1, 1.25L, 0.25L));
  EXPECT_FALSE(is_near_to(1, 1.25L, 0.125L));
  EXPECT_FALSE(is_near_to(nan_of_float, 1, 1));
  EXPECT_FALSE(is_near_to(inf, 1, 1));
}

TEST(AreNear, SpecialValues) {
  EXPECT_TRUE(is_near_to(nan_of_float, nan_of_float));
  EXPECT_FALSE(is_near_to(0, nan_of_float));
  EXPECT_TRUE(is_near_to(-inf, -inf));
  EXPECT_FALSE(is_near_to(inf, -inf));
  EXPECT_FALSE(is_near_to(largest, inf));
  EXPECT_FALSE(is_near_to(nan_of_float, inf));
}

TEST(AreNear, NumbersThatExceedTheType) {
  EXPECT_TRUE(is_near_to(inf, 2 * static_cast<long double>(largest)));
  EXPECT_FALSE(is_near_to(-inf, 2 * static_cast<long double>(largest)));
  EXPECT_FALSE(is_near_to(inf, largest / 2));
  const Format half{11, -14, 65504};
  EXPECT_TRUE(is_near_to(inf, 65520, 0, half));
  EXPECT_FALSE(is_near_to(inf, 65000, 0, half));
}

TEST(AreNear, NothingPromised) {
  for (const float got : {0.0f, inf, nan_of_float}) EXPECT_TRUE(is_near_to(got, 1, inf));
}

TEST(AccurateNearZero, Digits) {
  const Rows<double> rows{3, 2, {0, -40, -40, 0.01, 3, 4}};
  const auto expected = reference(rows);
  const auto is_right = [&](double first, double second) {
    return static_cast<bool>(is_accurate_near_zero(rows, expected, {first, second, 4.3}));
  };
  const double first = 4.248354255291589e-18;
  EXPECT_TRUE(is_right(first, 0.01));
  EXPECT_FALSE(is_right(0, 0.01));
  EXPECT_FALSE(is_right(first * (1 + 1e-13), 0.01));
  EXPECT_FALSE(is_right(first, 0.01 * (1 + 1e-13)));
  EXPECT_FALSE(is_right(nan_of_float, 0.01));
}

TEST(AreNear, OtherCounts) {
  EXPECT_FALSE(are_near(std::vector<float>{1}, ExpectedNumbers{{1, 1}, {0, 0}}, {}));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
