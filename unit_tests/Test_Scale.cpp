// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Options::scale: temperatures, softmin, zero, and scales with which values overflow or underflow.

#include <cmath>
#include <limits>
#include <support/Algorithms.hpp>
#include <support/Check.hpp>
#include <vector>
#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

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
TYPED_TEST_SUITE(Scale, EnabledValueConfigs, ConfigName);

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

// The limit from above: the results of finite rows are uniform, and -inf still contributes nothing.
TYPED_TEST(Scale, Zero) {
  for (const std::size_t columns : {7, 1025})
    for (const double scale : {0.0, -0.0})
      TestFixture::expect_right(hostile_rows<typename TypeParam::value>(columns), scale);
}

// Products of the largest numbers with 0 are 0. So the log-sum-exp of the only entry that counts is
// 0.
TYPED_TEST(Scale, ZeroOfLargeNumbers) {
  using T = typename TypeParam::value;
  constexpr T infinity = std::numeric_limits<T>::infinity(), large = std::numeric_limits<T>::max();
  const auto algorithms = compiled_for<typename TypeParam::exec>(
      {std::begin(all_algorithms), std::end(all_algorithms)});
  for (const auto& rows : {Rows<T>{2, 1, {large, -large}},
                           Rows<T>{2, 3, {-infinity, large, -infinity, -large, -infinity, large}}})
    for (const Algorithm algorithm : algorithms)
      for (const Function function : all_functions)
        for (const int axis : {0, 1})
          serves<TypeParam>({.function = function,
                             .options = {.axis = axis, .scale = 0.0, .algorithm = algorithm}},
                            rows, reference(rows, 0.0));
}

#if defined(__SSE2__)
/// While an object of this class exists, the processor treats denormal numbers as zero in the
/// calling thread, as in programs that are linked with -ffast-math or by icx.
class DenormalsAreZero {
 public:
  DenormalsAreZero() { _mm_setcsr(m_before | flush_to_zero | denormals_are_zero); }
  ~DenormalsAreZero() { _mm_setcsr(m_before); }
  DenormalsAreZero(const DenormalsAreZero&) = delete;
  DenormalsAreZero& operator=(const DenormalsAreZero&) = delete;

 private:
  static constexpr unsigned flush_to_zero = 0x8000;
  static constexpr unsigned denormals_are_zero = 0x0040;

  unsigned m_before = _mm_getcsr();
};

TYPED_TEST(Scale, ZeroWithoutDenormalNumbers) {
  using T = typename TypeParam::value;
  if (!is_host_space<typename TypeParam::exec>) GTEST_SKIP() << "not a host";
  constexpr T infinity = std::numeric_limits<T>::infinity();
  const Rows<T> rows{2, 5, {1, -infinity, 3, -1, -infinity, -infinity, 0, 2, 1e30f, -1e30f}};
  const auto expected = reference(rows, 0.0);
  const auto algorithms = compiled_for<typename TypeParam::exec>(
      {Algorithm::automatic, Algorithm::host, Algorithm::online, Algorithm::subgroup,
       Algorithm::packed});
  for (const Algorithm algorithm : algorithms)
    for (const Function function : all_functions) {
      const DenormalsAreZero denormals_are_zero;
      EXPECT_TRUE(check_matrix<TypeParam>(
          {.function = function, .options = {.scale = 0.0, .algorithm = algorithm}}, rows,
          expected));
    }
}
#endif

// Scales that overflow or underflow when they are rounded, or whose products with x do.
TYPED_TEST(Scale, Extreme) {
  using T = typename TypeParam::value;
  for (const double scale : {1e-310, 1e-45, 1e30, 1e300, -1e300})
    if (std::isfinite(static_cast<T>(scale)))
      TestFixture::expect_right(hostile_rows<T>(129), scale);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
