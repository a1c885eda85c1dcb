// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions with which the sweep checks results before it times them: they must find one wrong
// entry at any position, also in rows so long that several processors share them. The file also
// tests the copies with which the sweep compares hosts, and how it takes times and marks disturbed
// ones.

#include <gtest/gtest.h>

#include <KokkosSoftmaxSweep_HostCopy.hpp>
#include <KokkosSoftmaxSweep_Reference.hpp>
#include <KokkosSoftmaxSweep_Report.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

constexpr std::size_t part = 65536;  // the smallest number of entries that a processor gets
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

TEST(SweepHostCopy, SlicesAreWholeCacheLinesAndCoverEverything) {
  using namespace KokkosSoftmaxSweep;
  for (const std::size_t size : {0, 1, 63, 64, 65, 1000, 4096, 100000})
    for (const std::size_t count : {1, 2, 3, 64}) {
      std::size_t end = 0;
      for (std::size_t number = 0; number < count; ++number) {
        const Slice slice = slice_of(size, number, count);
        EXPECT_EQ(slice.begin, end);
        EXPECT_TRUE(slice.begin % KokkosSoftmaxSweep::cache_line == 0 || slice.begin == size);
        EXPECT_LE(slice.begin, slice.end);
        end = slice.end;
      }
      EXPECT_EQ(end, size) << count << " slices";
    }
}

TEST(SweepHostCopy, CopiesAtAnyAddressAndNothingElse) {
  using namespace KokkosSoftmaxSweep;
  constexpr std::size_t room = 1024;
  constexpr std::byte untouched{0xee};
  std::vector<std::byte> from(room);
  for (std::size_t i = 0; i < room; ++i) from[i] = static_cast<std::byte>(i * 37 % 251);
  for (const HostCopy copy : host_copies())
    for (const std::size_t from_begin : {0, 1, 4, 64})
      for (const std::size_t to_begin : {0, 4, 63, 64, 100})
        for (const std::size_t bytes : {0, 1, 63, 64, 65, 128, 200, 777}) {
          std::vector<std::byte> to(room, untouched), expected = to;
          std::copy_n(&from[from_begin], bytes, &expected[to_begin]);
          copy_slice(copy, &from[from_begin], &to[to_begin], bytes);
          EXPECT_TRUE(to == expected) << to_string(copy) << " of " << bytes << " bytes from "
                                      << from_begin << " to " << to_begin;
        }
}

TEST(SweepTiming, HostsTakeTheFastestBatchAndGpusTheMedian) {
  struct Gpu {
    struct memory_space {};
  };
  const std::vector<double> batches = {3, 2, 9, 4, 8};
  EXPECT_EQ(KokkosSoftmaxSweep::time_of<Kokkos::DefaultHostExecutionSpace>(batches), 2);
  EXPECT_EQ(KokkosSoftmaxSweep::time_of<Gpu>(batches), 4);
}

TEST(SweepTiming, ScatterIsTheMedianOverTheFastest) {
  EXPECT_EQ(KokkosSoftmaxSweep::scatter({3, 2, 9, 4, 8}), 2);
  EXPECT_EQ(KokkosSoftmaxSweep::scatter({5}), 1);
}

TEST(SweepTiming, MarksWhatScatters) {
  KokkosSoftmaxSweep::Result result;
  result.scatter = 1.19;
  EXPECT_FALSE(result.scatters());
  result.copy_scatter = 1.21;
  EXPECT_TRUE(result.scatters());
}

}  // namespace
}  // namespace KokkosSoftmax::Test
