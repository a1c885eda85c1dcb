// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_REFERENCE_HPP
#define KOKKOSSOFTMAXSWEEP_REFERENCE_HPP

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The rows that are checked: first, last and two between.
inline std::vector<std::int64_t> sampled_rows(std::int64_t rows) {
  return {0, rows / 3, 2 * rows / 3, rows - 1};
}

/// max and sum of exp(entry - max), in long double.
struct Sum {
  long double max = -std::numeric_limits<long double>::infinity();
  long double sum = 0;

  template <class T>
  explicit Sum(const std::vector<T>& x) {
    for (const T entry : x) max = std::fmax(max, static_cast<long double>(entry));
    for (const T entry : x) sum += std::exp(entry - max);
  }
  long double value() const { return max + std::log(sum); }
};

/// The worse of two errors; a NaN is infinitely bad.
inline double worse(double worst, long double error) {
  return std::isnan(error) ? std::numeric_limits<double>::infinity()
                           : std::fmax(worst, static_cast<double>(error));
}

/// The largest relative error of y as the softmax of x, against long double; infinity where y has
/// a NaN.
template <class T>
double softmax_error(const std::vector<T>& x, const std::vector<T>& y) {
  const Sum row(x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = std::exp(x[i] - row.max) / row.sum;
    worst = worse(worst, std::abs(y[i] - expected) / expected);
  }
  return worst;
}

/// The largest error of y as the log-softmax of x; relative where that is more than 1.
template <class T>
double log_softmax_error(const std::vector<T>& x, const std::vector<T>& y) {
  const Sum row(x);
  double worst = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double expected = x[i] - row.value();
    worst = worse(worst, std::abs(y[i] - expected) / std::fmax(1.0L, std::abs(expected)));
  }
  return worst;
}

/// The error of y as the log-sum-exp of x; relative where that is more than 1.
template <class T>
double logsumexp_error(const std::vector<T>& x, T y) {
  const long double expected = Sum(x).value();
  return worse(0, std::abs(y - expected) / std::fmax(1.0L, std::abs(expected)));
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
