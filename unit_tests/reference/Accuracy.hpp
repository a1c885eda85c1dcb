// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ACCURACY_HPP
#define KOKKOSSOFTMAX_TEST_ACCURACY_HPP

/// \file
/// The accuracy that the library promises, in this one place.

#include <gtest/gtest.h>

#include <optional>
#include <reference/Reference.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {

/// Relative error where the true result is a normal number of T. A row is moderate where its
/// entries are at most 50 below its maximum and it has at most 2^17 of them.
template <class T>
constexpr long double tolerance(bool moderate) {
  if constexpr (std::is_same_v<T, float>) return 1e-6L;
  return moderate ? 1e-14L : 1e-13L;
}

/// The same of a softmax before it is rounded to a half type, where that is more: a fiftieth of
/// half an ulp of half_t at most.
inline constexpr long double tolerance_before_rounding = 1e-5L;

/// The same for one chain of `count` additions in T (LogSumExpState::update one by one), whose
/// rounding grows with its length.
template <class T>
long double sequential_tolerance(std::size_t count);

/// A binary floating-point format that results are rounded to after all.
struct Format {
  int digits;
  int min_exponent;  // of the normal numbers
  long double largest;

  /// Half the distance of the numbers of the format around a value.
  long double half_ulp(long double value) const;
};

/// Whether `got` is as good an answer as is promised where `expected` is the true one. A format
/// adds half an ulp.
template <class T>
bool is_accurate(Function function, T got, long double expected, long double tolerance,
                 const std::optional<Format>& format = {});

/// `got` (an entry for each of x, or one a row for logsumexp, row after row) against `expected`,
/// within tolerance(), or within `at_least` where that is more.
template <class T>
::testing::AssertionResult is_accurate(Function function, const Rows<T>& x,
                                       const Expected& expected, const std::vector<T>& got,
                                       long double at_least = 0,
                                       const std::optional<Format>& format = {});

}  // namespace KokkosSoftmax::Test

#endif
