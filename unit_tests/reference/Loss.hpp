// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_LOSS_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_LOSS_HPP

/// \file
/// The definition of cross_entropy and of the gradients of operations with one number per row,
/// computed in long double with simple loops, and the bounds of their errors.

#include <cstdint>
#include <reference/Accuracy.hpp>
#include <reference/Reference.hpp>

namespace KokkosSoftmax::Test {

/// The label of each row, and what it means.
struct Labels {
  std::vector<std::int64_t> of_row;
  std::int64_t ignored = -100;
  double smoothing = 0;
};

/// v = scale * x, with the scale and the product rounded to T.
template <class T>
Rows<T> scaled_rows(const Rows<T>& x, double scale);

/// The loss of each row of v.
template <class T>
ExpectedNumbers reference_loss(const Rows<T>& v, const Labels& labels);

/// dx of each entry of v, given the log-sum-exp and the derivative of each row; without labels that
/// of logsumexp.
template <class T>
ExpectedNumbers reference_gradient(const Rows<T>& v, double scale, const std::vector<T>& lse,
                                   const std::vector<T>& derivative, const Labels* labels);

}  // namespace KokkosSoftmax::Test

#endif
