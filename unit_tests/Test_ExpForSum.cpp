// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exponential of terms that are only summed, tested alone and on each execution space: GPUs add
// doubles with other instructions than hosts. All tests of logsumexp test it inside schedules.

#include <gtest/gtest.h>

#include <cmath>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <limits>
#include <support/Config.hpp>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

/// Computes sum + exp(v - reference) for each entry v, and sum plus the exponentials of all
/// entries.
template <class T>
struct AddEach {
  using Exp = KokkosSoftmax::Impl::ExpForLse<T>;

  T reference;
  T sum;
  const T* v;
  T* result;
  int count;
  T* slack;

  KOKKOS_FUNCTION void operator()(int i) const {
    if (i < count) {
      result[i] = KokkosSoftmax::Impl::plus_exp(sum, Exp(reference), v[i]);
      return;
    }
    *slack = Exp::slack();
    result[count] = KokkosSoftmax::Impl::sum_by(Exp(reference), [&](const auto& exp) {
      T all = sum;
      for (int k = 0; k < count; ++k) all = KokkosSoftmax::Impl::plus_exp(all, exp, v[k]);
      return all;
    });
  }
};

template <class C>
class ExpForSum : public ::testing::Test {
 protected:
  using T = typename C::value;
  static constexpr T infinity = std::numeric_limits<T>::infinity();
  static constexpr T nan = std::numeric_limits<T>::quiet_NaN();

  struct Results {
    std::vector<T> each;
    T all;
    T slack;
  };

  static Results add(T sum, T reference, const std::vector<T>& v) {
    using Exec = typename C::exec;
    const int count = static_cast<int>(v.size());
    const Kokkos::View<T*, Exec> entries("v", v.size()), result("result", v.size() + 1);
    const Kokkos::View<T, Exec> slack("slack");
    Kokkos::deep_copy(entries, Kokkos::View<const T*, Kokkos::HostSpace>(v.data(), v.size()));
    Kokkos::parallel_for(
        "add each", Kokkos::RangePolicy<Exec>(0, count + 1),
        AddEach<T>{reference, sum, entries.data(), result.data(), count, slack.data()});
    Results results{std::vector<T>(v.size() + 1), T(0), T(0)};
    Kokkos::deep_copy(Kokkos::View<T*, Kokkos::HostSpace>(results.each.data(), v.size() + 1),
                      result);
    Kokkos::deep_copy(results.slack, slack);
    results.all = results.each.back();
    results.each.pop_back();
    return results;
  }
};
TYPED_TEST_SUITE(ExpForSum, ValueConfigs, ConfigName);

/// The error is an ulp or two near the reference. Further below it, the rounding of v - reference
/// adds to the error.
TYPED_TEST(ExpForSum, IsAccurate) {
  using T = typename TypeParam::value;
  constexpr T lowest = sizeof(T) == 8 ? T(-700) : T(-85);
  for (const T reference : {T(0), T(3.25), T(-1000.5), T(1e6)}) {
    const T slack = TestFixture::add(T(0), reference, {reference}).slack;
    std::vector<T> v;
    for (T d = lowest; d <= slack; d += T(0.0837)) v.push_back(reference + d);
    const auto results = TestFixture::add(T(0), reference, v);
    for (std::size_t i = 0; i < v.size(); ++i) {
      const long double d = static_cast<long double>(v[i]) - static_cast<long double>(reference);
      const long double ulps =
          (results.each[i] / std::exp(d) - 1) / std::numeric_limits<T>::epsilon();
      EXPECT_LT(std::abs(ulps), 3 + std::abs(d)) << "reference " << reference << ", v " << v[i];
    }
  }
}

TYPED_TEST(ExpForSum, AddsToASum) {
  using T = typename TypeParam::value;
  EXPECT_EQ(TestFixture::add(T(2.5), T(7), {T(7)}).each[0], T(3.5));
}

/// Entries far below the reference add nothing, at any distance.
TYPED_TEST(ExpForSum, AddsNothingForWhatIsFarBelow) {
  using T = typename TypeParam::value;
  const std::vector<T> v{T(-800), T(-1e30), std::numeric_limits<T>::lowest(),
                         -TestFixture::infinity};
  for (const T term : TestFixture::add(T(0), T(0), v).each) {
    EXPECT_GE(term, 0);
    EXPECT_LT(term, sizeof(T) == 8 ? 1e-305 : 1e-37);
  }
  // The reference is -inf if there has been no entry.
  for (const T term : TestFixture::add(T(0), -TestFixture::infinity, {-TestFixture::infinity}).each)
    EXPECT_LT(term, sizeof(T) == 8 ? 1e-305 : 1e-37);
}

/// NaN of either sign: the bits of a negative NaN are next to those of -inf.
TYPED_TEST(ExpForSum, KeepsNaN) {
  using T = typename TypeParam::value;
  for (const T nan : {TestFixture::nan, std::copysign(TestFixture::nan, T(-1))})
    for (const T reference : {T(0), T(5), -TestFixture::infinity, TestFixture::infinity}) {
      const auto results = TestFixture::add(T(1), reference, {nan});
      EXPECT_TRUE(std::isnan(results.each[0])) << reference;
      EXPECT_TRUE(std::isnan(results.all)) << reference;
    }
}

TYPED_TEST(ExpForSum, SumsInfinities) {
  using T = typename TypeParam::value;
  const T infinity = TestFixture::infinity;
  EXPECT_GT(TestFixture::add(T(0), infinity, {infinity}).all, 0);
  EXPECT_GT(TestFixture::add(T(0), infinity, {T(1), infinity, -infinity}).all, 0);
  EXPECT_TRUE(std::isnan(TestFixture::add(T(0), infinity, {infinity, TestFixture::nan}).all));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
