// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_BACKWARD_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_BACKWARD_HPP

/// \file
/// The definition of the backward passes, computed in long double with simple loops, and the bound
/// of their errors.

#include <impl/KokkosSoftmax_Operation.hpp>
#include <reference/Accuracy.hpp>
#include <reference/Reference.hpp>

namespace KokkosSoftmax::Test {

using BackwardFunction = KokkosSoftmax::Impl::BackwardOperation;

/// Computes dx from y (log_softmax_backward: the logarithms) and dy, with the scale rounded to T.
/// Nothing is promised of a row in which a product or a sum may exceed the numbers of T.
/// `gives_halfs`: whether results are rounded to a half type, so that exponentials have the larger
/// error of docs/backward.md.
template <class T>
ExpectedNumbers reference_backward(BackwardFunction function, const Rows<T>& y, const Rows<T>& dy,
                                   double scale = 1.0, bool gives_halfs = false);

}  // namespace KokkosSoftmax::Test

#endif
