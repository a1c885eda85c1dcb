// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The references of the states of softmax and log_softmax.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <impl/device/team/KokkosSoftmax_SteppedState.hpp>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::ReferenceStep;
using KokkosSoftmax::Impl::SteppedState;

template <class State>
class SteppedStates : public ::testing::Test {
 public:
  using Traits = KokkosSoftmax::Impl::StateTraits<State>;
  using T = typename Traits::Value;
  static constexpr bool is_float = std::is_same_v<T, float>;
  static constexpr T step = Traits::step;
  static constexpr T farthest = is_float ? T(1.5) * step : step;
  static constexpr T largest_fine = is_float ? T(0x1p20) : T(0x1p53);

  /// Ascending: entries of every size, and the steps with their neighbours.
  static std::vector<T> maxima() {
    std::vector<T> list = {T(0), std::numeric_limits<T>::denorm_min(),
                           std::numeric_limits<T>::min()};
    std::mt19937 random(20);
    std::uniform_real_distribution<T> mantissa(1, 2);
    for (int e = -20; e < std::numeric_limits<T>::max_exponent; ++e)
      list.push_back(std::ldexp(mantissa(random), e));
    for (int k = 1; k < 40; ++k)
      for (T to : {T(0), std::numeric_limits<T>::infinity()})
        list.push_back(std::nextafter(k * step / 4, to));
    const std::size_t positive = list.size();
    for (std::size_t i = 0; i < positive; ++i) list.push_back(-list[i]);
    std::sort(list.begin(), list.end());
    return list;
  }
};
using States = ::testing::Types<SteppedState<float, ReferenceStep::one_half>,
                                SteppedState<float, ReferenceStep::four>,
                                SteppedState<double, ReferenceStep::four>>;
TYPED_TEST_SUITE(SteppedStates, States, );

TYPED_TEST(SteppedStates, ReferencesAreStepsBelowTheMaximum) {
  using Traits = typename TestFixture::Traits;
  using T = typename TestFixture::T;
  for (const T max : TestFixture::maxima()) {
    const T reference = Traits::reference_of(max);
    // for -1e-300, too, whose difference to the reference is lost in the additions
    EXPECT_LE(reference, max + std::numeric_limits<T>::epsilon());
    if (std::abs(max) > TestFixture::largest_fine) continue;
    EXPECT_GE(reference, max - TestFixture::farthest) << max;
    EXPECT_EQ(std::fmod(reference, TestFixture::step), T(0)) << max;
  }
}

TYPED_TEST(SteppedStates, ReferencesMoveByStepsWithTheMaximum) {
  using Traits = typename TestFixture::Traits;
  using T = typename TestFixture::T;
  T before = -std::numeric_limits<T>::infinity();
  EXPECT_EQ(Traits::reference_of(before), before);
  for (const T max : TestFixture::maxima()) {
    const T reference = Traits::reference_of(max);
    EXPECT_TRUE(reference == before || reference - before >= T(0.125)) << max;
    before = reference;
  }
}

TYPED_TEST(SteppedStates, MergesRescale) {
  using T = typename TestFixture::T;
  const T low = -3, high = 20;
  TypeParam merged, other;
  for (const T v : {low, high}) {
    other = {v, std::exp(v - TestFixture::Traits::reference_of(v))};
    merged.merge(other);
  }
  EXPECT_EQ(merged.max, high);
  const T expected = high + std::log1p(std::exp(low - high));
  EXPECT_NEAR(merged.value(), expected, 20 * std::numeric_limits<T>::epsilon() * high);
}

}  // namespace
}  // namespace KokkosSoftmax::Test
