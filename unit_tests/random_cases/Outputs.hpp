// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_OUTPUTS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_OUTPUTS_HPP

/// \file
/// Random rows that a backward pass gets as outputs of its function.

#include <algorithm>
#include <cmath>
#include <limits>
#include <random_cases/Values.hpp>
#include <support/Backward.hpp>

namespace KokkosSoftmax::Test {

/// Outputs of the function for random rows, or other numbers, of which some are masked or NaN.
template <class X, class T>
Rows<T> random_outputs(Random& random, BackwardFunction function, std::size_t count,
                       std::size_t columns) {
  const bool is_log = function == BackwardFunction::log_softmax_backward;
  constexpr T inf = std::numeric_limits<T>::infinity();
  const T masked = is_log ? -inf : T(0);
  Rows<T> y = random_values<X, T>(random, count, columns);
  if (random.one_in(5)) {  // infinite y aren't specified, and neither are logarithms above 0
    for (T& value : y.values)
      value = std::isinf(value) ? masked : is_log ? -std::fabs(value) : value;
  } else {
    const auto empty_rows = random.one_in(2) ? EmptyRows::nan : EmptyRows::zero;
    const Expected expected = reference(y, 1.0, empty_rows);
    const auto& outputs = is_log ? expected.log_softmax : expected.softmax;
    std::transform(outputs.begin(), outputs.end(), y.values.begin(),
                   [](long double value) { return static_cast<T>(value); });
  }
  replace_some(random, y, masked);
  if (random.one_in(10)) replace_some(random, y, std::numeric_limits<T>::quiet_NaN());
  return y;
}

}  // namespace KokkosSoftmax::Test

#endif
