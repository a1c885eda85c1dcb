// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cmath>
#include <limits>
#include <reference/Backward.hpp>

namespace KokkosSoftmax::Test {

template <class T>
ExpectedBackward reference_backward(BackwardFunction function, const Rows<T>& y, const Rows<T>& dy,
                                    double scale) {
  constexpr long double epsilon = std::numeric_limits<T>::epsilon();
  const bool is_log = function == BackwardFunction::log_softmax_backward;
  const long double factor = static_cast<T>(scale);
  ExpectedBackward expected;
  std::vector<long double> p(y.columns), t(y.columns);
  for (std::size_t row = 0; row < y.count; ++row) {
    long double sum = 0, magnitude = 0;
    for (std::size_t c = 0; c < y.columns; ++c) {
      const std::size_t i = row * y.columns + c;
      const long double value = y.values[i];
      p[c] = is_log ? std::exp(value) : value;
      const bool is_masked =
          is_log ? value == -std::numeric_limits<long double>::infinity() : value == 0;
      t[c] = is_masked ? 0 : factor * (is_log ? 1 : p[c]) * dy.values[i];
      sum += t[c];
      magnitude += std::fabs(t[c]);
    }
    for (std::size_t c = 0; c < y.columns; ++c) {
      expected.dx.push_back(p[c] == 0 && t[c] == 0 ? 0 : t[c] - p[c] * sum);
      const long double of_sum = p[c] == 0 ? 0 : p[c] * 16 * magnitude;
      expected.bound.push_back(epsilon * (4 * std::fabs(t[c]) + of_sum) +
                               std::numeric_limits<T>::min());
    }
  }
  return expected;
}

template ExpectedBackward reference_backward(BackwardFunction, const Rows<float>&,
                                             const Rows<float>&, double);
template ExpectedBackward reference_backward(BackwardFunction, const Rows<double>&,
                                             const Rows<double>&, double);

}  // namespace KokkosSoftmax::Test
