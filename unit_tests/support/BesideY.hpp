// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_BESIDEY_HPP
#define KOKKOSSOFTMAX_TEST_BESIDEY_HPP

/// \file
/// Checks of the log-sum-exp and the maximum of each row beside y.

#include <cmath>
#include <support/Check.hpp>
#include <support/Inputs.hpp>

namespace KokkosSoftmax::Test {

/// Whether `lse` holds the log-sum-exps of rows of type X.
template <class X, class T, class Lse>
::testing::AssertionResult is_lse_beside(const Rows<T>& rows, const Expected& expected,
                                         const Lse& lse) {
  // the terms of softmax for results of half types are rounded to 1e-5
  const long double at_least = sizeof(X) == 2 ? tolerance_before_rounding : 0;
  return both(is_accurate(Function::logsumexp, rows, beside_y(expected), lse.read(), at_least),
              lse.gaps_are_unchanged(), "something beside lse's elements was written");
}

/// Whether `max` holds the maxima of the scaled rows.
template <class T, class Max>
::testing::AssertionResult is_max_beside(const Rows<T>& rows, double scale, const Max& max) {
  const std::vector<T> expected = true_max(rows, scale), got = max.read();
  for (std::size_t row = 0; row < rows.count; ++row)
    if (got[row] != expected[row] && !(std::isnan(got[row]) && std::isnan(expected[row])))
      return ::testing::AssertionFailure()
             << "max of row " << row << " is " << got[row] << " and not " << expected[row];
  return both(::testing::AssertionSuccess(), max.gaps_are_unchanged(),
              "something beside max's elements was written");
}

}  // namespace KokkosSoftmax::Test

#endif
