// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSEGMENTS_REFERENCE_HPP
#define KOKKOSSOFTMAXSEGMENTS_REFERENCE_HPP

/// \file
/// The check of rows against the definitions in long double.

#include <algorithm>
#include <cmath>
#include <limits>

namespace KokkosSoftmaxSegments {

/// Errors divided by what docs/semantics.md and docs/backward.md allow for float.
struct Errors {
  double softmax = 0;
  double logsumexp = 0;
  double backward = 0;

  double largest() const { return std::max({softmax, logsumexp, backward}); }
};

inline void take_larger(double& largest, long double error) {
  if (!(error <= largest)) largest = static_cast<double>(error);  // also NaN
}

/// A row on the host: what was read, and the results.
struct RowOnHost {
  long columns;
  const float* x;
  const float* y;  // also what the backward pass read
  const float* dy;
  const float* dx;
  float lse;
};

inline void check_forward(const RowOnHost& row, Errors& errors) {
  constexpr long double tolerance = 1e-6L;
  const long double max = *std::max_element(row.x, row.x + row.columns);
  long double sum = 0;
  for (long j = 0; j < row.columns; ++j) sum += std::exp(row.x[j] - max);
  for (long j = 0; j < row.columns; ++j) {
    const long double exact = std::exp(row.x[j] - max) / sum;
    take_larger(errors.softmax, std::abs(row.y[j] - exact) / exact / tolerance);
  }
  const long double lse = max + std::log(sum);
  take_larger(errors.logsumexp,
              std::abs(row.lse - lse) / std::max(1.0L, std::abs(lse)) / tolerance);
}

inline void check_backward(const RowOnHost& row, Errors& errors) {
  constexpr long double epsilon = std::numeric_limits<float>::epsilon();
  constexpr long double smallest = std::numeric_limits<float>::min();
  long double sum = 0, magnitude = 0;
  for (long j = 0; j < row.columns; ++j) {
    const long double t = static_cast<long double>(row.y[j]) * row.dy[j];
    sum += t;
    magnitude += std::abs(t);
  }
  for (long j = 0; j < row.columns; ++j) {
    const long double p = row.y[j], t = p * row.dy[j];
    const long double allowed = epsilon * (4 * std::abs(t) + 16 * p * magnitude) + smallest;
    take_larger(errors.backward, std::abs(row.dx[j] - (t - p * sum)) / allowed);
  }
}

}  // namespace KokkosSoftmaxSegments

#endif
