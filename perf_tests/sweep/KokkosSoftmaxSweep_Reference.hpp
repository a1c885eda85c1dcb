// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_REFERENCE_HPP
#define KOKKOSSOFTMAXSWEEP_REFERENCE_HPP

#include <cmath>
#include <limits>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The largest relative error of y as the softmax of x, against long double; infinity where y has
/// a NaN.
template <class T>
double softmax_error(const std::vector<T>& x, const std::vector<T>& y) {
  long double max = -std::numeric_limits<long double>::infinity(), sum = 0;
  for (const T entry : x) max = std::fmax(max, static_cast<long double>(entry));
  for (const T entry : x) sum += std::exp(entry - max);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = std::exp(x[i] - max) / sum;
    const double error = static_cast<double>(std::abs(y[i] - expected) / expected);
    worst = std::isnan(error) ? std::numeric_limits<double>::infinity() : std::fmax(worst, error);
  }
  return worst;
}

/// What the error may be for a result to count as right. Not the accuracy of the library, which
/// unit_tests check: steps of the ladder with one thread a row add all columns one by one, which
/// costs about sqrt(columns) roundings.
template <class T>
double error_bound(std::int64_t columns) {
  return std::numeric_limits<T>::epsilon() * (32 + 4 * std::sqrt(static_cast<double>(columns)));
}

}  // namespace KokkosSoftmaxSweep

#endif
