// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes beyond 32 bits, on devices with enough memory: more than 2^31 rows, more than 2^31 columns,
// and more than 2^32 elements. The data repeat after `period` entries. The true sum over 2^31
// entries is therefore a sum over `period` entries, each multiplied by the number of times that it
// occurs.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {
namespace {

constexpr std::int64_t period = 1021;  // prime, so not a multiple of the size of a tile or a vector

KOKKOS_INLINE_FUNCTION float periodic_entry(std::int64_t row, std::int64_t column) {
  return static_cast<float>((row * 7 + column * 3) % period) * (8.0f / period);
}

template <class Exec>
using Matrix = Kokkos::View<float**, Kokkos::LayoutRight, Exec>;

template <class Exec>
void fill_periodically(const Matrix<Exec>& x) {
  const auto columns = static_cast<std::int64_t>(x.extent(1));
  using Range = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  Kokkos::parallel_for(
      "KokkosSoftmaxTest::fill_periodically", Range(0, x.extent(0) * x.extent(1)),
      KOKKOS_LAMBDA(std::int64_t i) { x.data()[i] = periodic_entry(i / columns, i % columns); });
}

long double true_logsumexp(std::int64_t row, std::int64_t columns) {
  long double sum = 0;
  for (std::int64_t i = 0; i < std::min(period, columns); ++i) {
    const std::int64_t times = (columns - i + period - 1) / period;
    sum += times * std::exp(static_cast<long double>(periodic_entry(row, i)));
  }
  return std::log(sum);
}

/// Returns some of the indices 0 to n - 1: near the ends, the middle and the limits of 32-bit
/// numbers.
std::vector<std::int64_t> interesting_indices(std::int64_t n) {
  std::vector<std::int64_t> indices;
  for (const std::int64_t center :
       {std::int64_t{0}, std::int64_t{1} << 31, std::int64_t{1} << 30, n / 2, n - 1})
    for (std::int64_t i = center - 2; i <= center + 2; ++i)
      if (i >= 0 && i < n) indices.push_back(i);
  return indices;
}

template <class Exec>
float entry_of(const Matrix<Exec>& y, std::int64_t row, std::int64_t column) {
  float value = 0;
  Kokkos::deep_copy(value, Kokkos::subview(y, row, column));
  return value;
}

/// Calls softmax in place and checks some of its entries. It runs in place because the device has
/// memory for only one such matrix.
template <class Exec>
void expect_right_in_place(std::int64_t rows, std::int64_t columns, const Options& options = {}) {
  const Matrix<Exec> x(Kokkos::view_alloc("x", Kokkos::WithoutInitializing), rows, columns);
  fill_periodically(x);
  softmax(Exec{}, x, x, options);
  for (const std::int64_t row : interesting_indices(rows)) {
    const long double lse = true_logsumexp(row, columns);
    for (const std::int64_t column : interesting_indices(columns)) {
      const float got = entry_of(x, row, column);
      const long double truth = std::exp(periodic_entry(row, column) - lse);
      EXPECT_TRUE(is_accurate(Function::softmax, got, truth, tolerance<float>(false)))
          << got << " instead of " << truth << " in row " << row << ", column " << column;
    }
  }
}

/// The same for cross_entropy_backward. The label of each row is the last column.
template <class Exec>
void expect_right_gradient_in_place(std::int64_t rows, std::int64_t columns) {
  const Matrix<Exec> x(Kokkos::view_alloc("x", Kokkos::WithoutInitializing), rows, columns);
  const Kokkos::View<float*, Exec> lse("lse", rows), derivative("derivative", rows);
  const Kokkos::View<std::int64_t*, Exec> label("label", rows);
  const auto host_lse = Kokkos::create_mirror_view(lse);
  long double lse_of_period[period];
  for (std::int64_t row = 0; row < std::min(period, rows); ++row)
    lse_of_period[row] = true_logsumexp(row, columns);
  for (std::int64_t row = 0; row < rows; ++row)
    host_lse(row) = static_cast<float>(lse_of_period[row % period]);
  Kokkos::deep_copy(lse, host_lse);
  Kokkos::deep_copy(derivative, 1.0f);
  Kokkos::deep_copy(label, columns - 1);
  fill_periodically(x);
  cross_entropy_backward(Exec{}, x, label, lse, derivative, x);
  for (const std::int64_t row : interesting_indices(rows))
    for (const std::int64_t column : interesting_indices(columns)) {
      const float got = entry_of(x, row, column);
      const long double p = std::exp(periodic_entry(row, column) - lse_of_period[row % period]);
      const long double truth = column == columns - 1 ? p - 1 : p;
      EXPECT_NEAR(got, truth, 1e-5 * std::abs(truth)) << "in row " << row << ", column " << column;
    }
}

template <class C>
class SlowSizes : public ::testing::Test {
 protected:
  void SetUp() override {
    if (is_host_space<typename C::exec> || std::is_same_v<typename C::value, double>)
      GTEST_SKIP() << "20 GB of a device's memory are used, with float";
  }
};
TYPED_TEST_SUITE(SlowSizes, ValueConfigs, ConfigName);

TYPED_TEST(SlowSizes, MoreThan2To32Elements) {
  expect_right_in_place<typename TypeParam::exec>((std::int64_t{1} << 20) + 3, 4099);
}

TYPED_TEST(SlowSizes, MoreThan2To31Rows) {
  expect_right_in_place<typename TypeParam::exec>((std::int64_t{1} << 31) + 5, 2);
}

TYPED_TEST(SlowSizes, MoreThan2To31Columns) {
  expect_right_in_place<typename TypeParam::exec>(1, (std::int64_t{1} << 31) + 5);
}

// A number of columns that is 0 when truncated to 32 bits must not be taken for one that fits
// scratch memory.
TYPED_TEST(SlowSizes, TwoTo32Columns) {
  expect_right_in_place<typename TypeParam::exec>(1, std::int64_t{1} << 32, {.reproducible = true});
}

TYPED_TEST(SlowSizes, GradientOfMoreThan2To32Elements) {
  expect_right_gradient_in_place<typename TypeParam::exec>((std::int64_t{1} << 20) + 3, 4099);
}

// Numbers of columns that fit 32 bits, except if they are rounded up or shifted, and larger ones.
TYPED_TEST(SlowSizes, GradientsOfMoreThan2To30Columns) {
  expect_right_gradient_in_place<typename TypeParam::exec>(1, (std::int64_t{1} << 30) + 4);
  expect_right_gradient_in_place<typename TypeParam::exec>(2, (std::int64_t{1} << 31) + 5);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
