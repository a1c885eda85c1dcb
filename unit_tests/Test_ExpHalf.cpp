// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exponential for results that are rounded to half types, tested alone. Test_Cluster tests it
// inside schedules.

#include <gtest/gtest.h>

#include <cmath>
#include <impl/device/numerics/KokkosSoftmax_ExpHalf.hpp>
#include <limits>

namespace KokkosSoftmax::Test {
namespace {

using ExpHalfFused = KokkosSoftmax::Impl::ExpHalfFused<float>;

TEST(ExpHalfFused, IsAccurateForReferencesThatItServes) {
  for (const float scale : {1.0f, -0.3f, 7.0f})
    for (const float reference : {0.0f, 5.3f, -44.0f, 44.0f}) {
      ASSERT_TRUE(ExpHalfFused::serves(scale, reference));
      const ExpHalfFused exp(scale, reference);
      for (float below = 0; below < 60; below += 0.37f) {
        const float x = (reference - below) / scale;
        const long double expected =
            std::exp(static_cast<long double>(scale) * x - static_cast<long double>(reference));
        EXPECT_NEAR(exp(x) / expected, 1, 2e-5L) << scale << " " << reference << " " << below;
      }
    }
}

TEST(ExpHalfFused, DoesNotServeLargeReferences) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const float reference :
       {50.0f, -50.0f, 1e38f, infinity, -infinity, std::numeric_limits<float>::quiet_NaN()})
    EXPECT_FALSE(ExpHalfFused::serves(1, reference)) << reference;
}

TEST(ExpHalfFused, DoesNotServeScalesWhoseProductOverflows) {
  for (const float scale : {2.4e38f, -3e38f, std::numeric_limits<float>::max()})
    EXPECT_FALSE(ExpHalfFused::serves(scale, 0)) << scale;
}

TEST(ExpHalfFused, MultipliesWhatItGives) {
  ExpHalfFused exp(1, 2);
  const float before = exp(1.5f);
  exp.multiply(0.125f);
  EXPECT_NEAR(exp(1.5f) / before, 0.125f, 1e-7f);
  exp.multiply(0);
  EXPECT_EQ(exp(1.5f), 0);
  EXPECT_TRUE(std::isnan(exp(std::numeric_limits<float>::quiet_NaN())));
}

TEST(ExpHalfFused, GivesNothingForNoEntry) {
  const ExpHalfFused exp(1, 2);
  EXPECT_EQ(exp(-std::numeric_limits<float>::infinity()), 0);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
