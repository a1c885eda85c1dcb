// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_REFERENCE_BACKWARD_HPP
#define KOKKOSSOFTMAX_TEST_REFERENCE_BACKWARD_HPP

/// \file
/// The definition of the backward passes, computed in long double with simple loops, and the bound
/// of their errors.

#include <impl/KokkosSoftmax_Operation.hpp>
#include <reference/Reference.hpp>

namespace KokkosSoftmax::Test {

using BackwardFunction = KokkosSoftmax::Impl::BackwardOperation;

/// The expected dx of all rows, and how far a result in the type T may be from it.
struct ExpectedBackward {
  std::vector<long double> dx;
  std::vector<long double> bound;
};

/// Computes dx from y (log_softmax_backward: the logarithms) and dy, with the scale rounded to T.
template <class T>
ExpectedBackward reference_backward(BackwardFunction function, const Rows<T>& y, const Rows<T>& dy,
                                    double scale = 1.0);

}  // namespace KokkosSoftmax::Test

#endif
