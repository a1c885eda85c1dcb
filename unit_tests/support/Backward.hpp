// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_BACKWARD_HPP
#define KOKKOSSOFTMAX_TEST_BACKWARD_HPP

/// \file
/// Samples of the backward passes.

#include <random>
#include <reference/Backward.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

inline constexpr BackwardFunction backward_functions[] = {BackwardFunction::softmax_backward,
                                                          BackwardFunction::log_softmax_backward};

template <class Exec, class Y, class DY, class DX>
void call_backward(BackwardFunction function, const Exec& exec, const Y& y, const DY& dy,
                   const DX& dx, const Options& options) {
  if (function == BackwardFunction::softmax_backward)
    softmax_backward(exec, y, dy, dx, options);
  else
    log_softmax_backward(exec, y, dy, dx, options);
}

/// y and dy of rows, as numbers of type X.
template <class T>
struct BackwardSample {
  Rows<T> y;
  Rows<T> dy;
};

/// The function's output for normal random x, and normal random dy.
template <class X>
auto backward_sample(BackwardFunction function, std::size_t count, std::size_t columns) {
  const auto& forward = normal_sample<X>(count, columns);
  using T = typename KokkosSoftmax::Impl::ValueTypes<X>::Compute;
  BackwardSample<T> sample{forward.rows, forward.rows};
  std::mt19937_64 random(count * 7919 + columns);
  std::normal_distribution<double> normal(0.5, 2);
  const auto& y = function == BackwardFunction::softmax_backward ? forward.expected.softmax
                                                                 : forward.expected.log_softmax;
  for (std::size_t i = 0; i < sample.y.values.size(); ++i) {
    sample.y.values[i] = static_cast<T>(static_cast<X>(static_cast<T>(y[i])));
    sample.dy.values[i] = static_cast<T>(static_cast<X>(static_cast<T>(normal(random))));
  }
  return sample;
}

}  // namespace KokkosSoftmax::Test

#endif
