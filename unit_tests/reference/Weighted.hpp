// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_WEIGHTED_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_WEIGHTED_HPP

/// \file
/// The definition of logsumexp with weights, computed in long double with simple loops, and the
/// bounds of its errors.

#include <reference/Accuracy.hpp>
#include <reference/Reference.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// log|sum_j w_j exp(v_j)| of each row, and the sign of the sum.
struct ExpectedWeighted {
  ExpectedNumbers lse;
  std::vector<long double> sign;
  std::vector<char> sign_is_certain;  ///< per row: the sum is larger than its rounding errors
};

/// The results for v, whose masked entries are -inf. The weights are one per entry. `keeps_digits`:
/// whether results near 0 have the bound of docs/weights.md, which those of half types haven't.
template <class T>
ExpectedWeighted reference_weighted(const Rows<T>& v, const std::vector<T>& weights,
                                    bool keeps_digits = true);

/// What is expected of a call that asks for no signs: NaN where the sum is negative.
ExpectedNumbers without_signs(const ExpectedWeighted& expected);

/// Compares the signs that are certain.
template <class T>
::testing::AssertionResult are_signs(const std::vector<T>& got, const ExpectedWeighted& expected);

}  // namespace KokkosSoftmax::Test

#endif
