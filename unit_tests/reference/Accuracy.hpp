// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ACCURACY_HPP
#define KOKKOSSOFTMAX_TEST_ACCURACY_HPP

/// \file
/// The accuracy that the library promises. All tests take the bounds from here.

#include <gtest/gtest.h>

#include <optional>
#include <reference/Reference.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {

/// The bound of the relative error of results whose true value is a normal number of T. A row is
/// moderate if its finite entries are at most 50 below its maximum and it has at most 2^17 entries.
template <class T>
constexpr long double tolerance(bool moderate) {
  if constexpr (std::is_same_v<T, float>) return 1e-6L;
  return moderate ? 1e-14L : 1e-13L;
}

/// The bound of the error of logsumexp near 0, in units of |max| + log1p(rest): see
/// Expected::terms_near_zero.
template <class T>
inline constexpr long double tolerance_near_zero = std::is_same_v<T, float> ? 2e-6L : 1e-14L;

/// The bound of the relative error of softmax before the result is rounded to a half type. It is
/// used if it is larger than tolerance(). It is at most a fiftieth of half an ulp of half_t.
inline constexpr long double tolerance_before_rounding = 1e-5L;

/// The bound for one chain of `count` additions in T (LogSumExpState::update, entry by entry). Its
/// rounding error grows with the number of additions.
template <class T>
long double sequential_tolerance(std::size_t count);

/// A binary floating-point format to which results are rounded at the end.
struct Format {
  int digits;
  int min_exponent;  // smallest exponent of the normal numbers
  long double largest;

  /// Half the distance between neighbouring numbers of the format around a value.
  long double half_ulp(long double value) const;
};

/// Returns whether `got` is as accurate as promised if `expected` is the true result. With a
/// format, half an ulp of the format is added to the bound.
template <class T>
bool is_accurate(Function function, T got, long double expected, long double tolerance,
                 const std::optional<Format>& format = {});

/// Compares `got` with `expected`. `got` holds the rows one after the other: one value per entry of
/// x, or one value per row for logsumexp. The bound is tolerance(), or `at_least` if that is
/// larger.
template <class T>
::testing::AssertionResult is_accurate(Function function, const Rows<T>& x,
                                       const Expected& expected, const std::vector<T>& got,
                                       long double at_least = 0,
                                       const std::optional<Format>& format = {});

/// Whether results of logsumexp that are near 0 keep their digits.
template <class T>
::testing::AssertionResult is_accurate_near_zero(const Rows<T>& x, const Expected& expected,
                                                 const std::vector<T>& got);

/// Expected numbers, and how far results may be from them. The bound of a number that isn't finite
/// is 0. A bound of +inf says that nothing is promised, not even a number.
struct ExpectedNumbers {
  std::vector<long double> values;
  std::vector<long double> bounds;

  void add(long double value, long double bound) {
    values.push_back(value);
    bounds.push_back(bound);
  }
};

/// Compares `got` with `expected`. With a format, half an ulp of the format is added to each bound.
template <class T>
::testing::AssertionResult are_near(const std::vector<T>& got, const ExpectedNumbers& expected,
                                    const std::optional<Format>& format);

}  // namespace KokkosSoftmax::Test

#endif
