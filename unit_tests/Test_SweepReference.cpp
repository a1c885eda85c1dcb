// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the sweep checks results with before it times them: it must find one wrong entry wherever it
// stands, also in rows so long that several processors share them.

#include <gtest/gtest.h>

#include <KokkosSoftmaxSweep_Reference.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

constexpr std::size_t part = 65536;  // the least that a processor gets
const std::vector<std::size_t> lengths = {1, 2, part, part + 1, 3 * part + 7};

std::vector<double> waves(std::size_t columns) {
  std::vector<double> x(columns);
  for (std::size_t i = 0; i < columns; ++i) x[i] = 3 * std::sin(0.7 * static_cast<double>(i));
  return x;
}

long double sum_of_exponentials(const std::vector<double>& x) {
  long double sum = 0;
  for (const double entry : x) sum += std::exp(static_cast<long double>(entry));
  return sum;
}

TEST(SweepReference, FindsOneWrongEntry) {
  for (const std::size_t columns : lengths) {
    const auto x = waves(columns);
    const long double sum = sum_of_exponentials(x);
    std::vector<double> y(columns), log_y(columns);
    for (std::size_t i = 0; i < columns; ++i) {
      y[i] = static_cast<double>(std::exp(static_cast<long double>(x[i])) / sum);
      log_y[i] = static_cast<double>(x[i] - std::log(sum));
    }
    EXPECT_LT(KokkosSoftmaxSweep::softmax_error(x, y), 1e-15);
    EXPECT_LT(KokkosSoftmaxSweep::log_softmax_error(x, log_y), 1e-15);
    for (const std::size_t i : {std::size_t(0), columns / 2, columns - 1})
      for (const double wrong : {1.001, std::numeric_limits<double>::quiet_NaN()}) {
        auto z = y, log_z = log_y;
        z[i] *= wrong;
        log_z[i] += 0.001 * wrong;
        EXPECT_GT(KokkosSoftmaxSweep::softmax_error(x, z), 0.9e-3) << i << " of " << columns;
        EXPECT_GT(KokkosSoftmaxSweep::log_softmax_error(x, log_z), 1e-5) << i << " of " << columns;
      }
  }
}

TEST(SweepReference, MeasuresSmallEntriesByTheSmallestNormal) {
  const std::vector<double> x = {0, -20}, y = {1, 3 * std::exp(-20.0)};
  EXPECT_NEAR(KokkosSoftmaxSweep::softmax_error(x, y), 2, 1e-6);
  EXPECT_NEAR(KokkosSoftmaxSweep::softmax_error(x, y, 1e-3), 2e3 * std::exp(-20.0), 1e-10);
}

TEST(SweepReference, LogSumExp) {
  for (const std::size_t columns : lengths) {
    const auto x = waves(columns);
    const auto value = static_cast<double>(std::log(sum_of_exponentials(x)));
    EXPECT_LT(KokkosSoftmaxSweep::logsumexp_error(x, value), 1e-15);
    EXPECT_GT(KokkosSoftmaxSweep::logsumexp_error(x, value + 0.001), 1e-5);
  }
}

TEST(SweepReference, SamplesEachRowOnce) {
  using Rows = std::set<std::int64_t>;
  EXPECT_EQ(KokkosSoftmaxSweep::sampled_rows(1), Rows({0}));
  EXPECT_EQ(KokkosSoftmaxSweep::sampled_rows(3), Rows({0, 1, 2}));
  EXPECT_EQ(KokkosSoftmaxSweep::sampled_rows(300), Rows({0, 100, 200, 299}));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
