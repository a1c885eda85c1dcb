// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests that the loops of the host schedules are vectorized: they must be faster than the same
// arithmetic in a scalar loop, in the same run. Compilers leave such loops scalar without a
// warning, for example GCC if -ftrapping-math is on.

#include <algorithm>
#include <chrono>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <limits>
#include <support/Check.hpp>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__) || \
    !defined(NDEBUG)
#define KOKKOSSOFTMAX_TEST_SLOW_BUILD
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define KOKKOSSOFTMAX_TEST_SLOW_BUILD
#endif
#endif

#if defined(__GNUC__) && !defined(__clang__)
#define KOKKOSSOFTMAX_TEST_SCALAR_FUNCTION __attribute__((noinline, optimize("no-tree-vectorize")))
#define KOKKOSSOFTMAX_TEST_SCALAR_LOOP
#elif defined(__clang__)
#define KOKKOSSOFTMAX_TEST_SCALAR_FUNCTION __attribute__((noinline))
#define KOKKOSSOFTMAX_TEST_SCALAR_LOOP _Pragma("clang loop vectorize(disable)")
#endif

namespace KokkosSoftmax::Test {
namespace {

template <class T>
class HostSpeed : public ::testing::Test {};
using HostSpeedTypes = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostSpeed, HostSpeedTypes);

/// Returns the time of the fastest of many runs, which other programs hardly affect.
template <class Body>
double fastest_seconds(const Body& body) {
  double fastest = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 50; ++run) {
    const auto begin = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    fastest = std::min(fastest, taken.count());
  }
  return fastest;
}

#ifdef KOKKOSSOFTMAX_TEST_SCALAR_FUNCTION
/// Computes only the exponentials, without maximum and output, which is less work than softmax.
template <class T>
KOKKOSSOFTMAX_TEST_SCALAR_FUNCTION T scalar_sum(const T* x, std::size_t columns) {
  const KokkosSoftmax::Impl::ExpAccurate<T> exp(T(0));
  T sum = T(0);
  KOKKOSSOFTMAX_TEST_SCALAR_LOOP
  for (std::size_t i = 0; i < columns; ++i) sum += exp(x[i]);
  return sum;
}

#if defined(KOKKOS_ENABLE_SERIAL)
using HostSpeedSpace = Kokkos::Serial;
#else
using HostSpeedSpace = Kokkos::DefaultHostExecutionSpace;
#endif

/// Returns the time of the scalar exponentials of the rows divided by the time of their softmax.
template <class T>
double speed_up(std::size_t rows, std::size_t columns) {
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> x("x", rows, columns);
  const Kokkos::View<T**, Kokkos::LayoutRight, Kokkos::HostSpace> y("y", rows, columns);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = -T(0.01) * static_cast<T>(i % 97);
  volatile T sink = T(0);
  const double scalar = fastest_seconds([&] { sink = sink + scalar_sum(x.data(), x.size()); });
  const HostSpeedSpace exec;
  const double ours = fastest_seconds([&] {
    softmax(exec, x, y);
    exec.fence();
  });
  return scalar / ours;
}

// Rows that are read once, and rows that are read twice with two exponentials per entry. The bounds
// are the speed-up of vectors of 16 bytes without FMA beside a scalar loop with FMA (1.40 for float
// and 0.84 for double on a Zen 4), less a margin for noise. Scalar loops reach 0.6 and 0.35.
TYPED_TEST(HostSpeed, LoopsAreVectorized) {
#ifdef KOKKOSSOFTMAX_TEST_SLOW_BUILD
  GTEST_SKIP() << "a build without optimization, or with a sanitizer";
#endif
  const double in_one_span = speed_up<TypeParam>(200, 500);
  const double in_spans = speed_up<TypeParam>(20, 5000);
  ::testing::Test::RecordProperty("in_one_span", std::to_string(in_one_span));
  ::testing::Test::RecordProperty("in_spans", std::to_string(in_spans));
  EXPECT_GT(in_one_span, sizeof(TypeParam) == 4 ? 1.1 : 0.7);
  EXPECT_GT(in_spans, sizeof(TypeParam) == 4 ? 0.9 : 0.5);
}
#endif

}  // namespace
}  // namespace KokkosSoftmax::Test
