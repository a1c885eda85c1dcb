// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <limits>
#include <reference/Weighted.hpp>

namespace KokkosSoftmax::Test {
namespace {

constexpr long double inf = std::numeric_limits<long double>::infinity();

struct Entry {
  long double v;
  long double weight;
};

struct WeightedSum {
  long double max = -inf;
  long double sum = 0;       // of weight * exp(v - max)
  long double absolute = 0;  // of |weight| * exp(v - max)
};

WeightedSum weighted_sum(const std::vector<Entry>& row) {
  WeightedSum all;
  for (const Entry& e : row) all.max = std::max(all.max, std::isnan(e.v) ? -inf : e.v);
  for (const Entry& e : row) {
    const long double term = e.v == all.max ? 1 : std::exp(e.v - all.max);
    all.sum += e.weight * term;
    all.absolute += std::fabs(e.weight) * term;
  }
  return all;
}

/// The entries of a row that count.
template <class T>
std::vector<Entry> entries_of(const Rows<T>& v, const std::vector<T>& weights, std::size_t row) {
  std::vector<Entry> entries;
  for (std::size_t i = row * v.columns; i < (row + 1) * v.columns; ++i)
    if (weights[i] != T(0) && v.values[i] != -std::numeric_limits<T>::infinity())
      entries.push_back({v.values[i], weights[i]});
  return entries;
}

}  // namespace

template <class T>
ExpectedWeighted reference_weighted(const Rows<T>& v, const std::vector<T>& weights) {
  constexpr long double relative = tolerance<T>(false);
  ExpectedWeighted expected;
  for (std::size_t row = 0; row < v.count; ++row) {
    const WeightedSum all = weighted_sum(entries_of(v, weights, row));
    const long double value = all.max + std::log(std::fabs(all.sum));
    const bool is_finite = std::isfinite(all.sum) && std::isfinite(all.max);
    const bool is_certain = !is_finite || std::fabs(all.sum) > relative * all.absolute;
    expected.sign.push_back(std::isnan(all.sum) ? all.sum : (all.sum > 0) - (all.sum < 0));
    expected.sign_is_certain.push_back(is_certain);
    const long double size = std::max({1.0L, std::fabs(value), std::fabs(all.max)});
    // The derivative of the logarithm is 1 / |sum|, and the sum is rounded relative to `absolute`.
    expected.lse.add(value, !is_certain ? inf
                            : !is_finite
                                ? 0
                                : relative * (size + 2 * all.absolute / std::fabs(all.sum)));
  }
  return expected;
}

ExpectedNumbers without_signs(const ExpectedWeighted& expected) {
  ExpectedNumbers numbers = expected.lse;
  for (std::size_t row = 0; row < numbers.values.size(); ++row) {
    if (expected.sign[row] >= 0) continue;
    numbers.values[row] = std::numeric_limits<long double>::quiet_NaN();
    if (expected.sign_is_certain[row]) numbers.bounds[row] = 0;
  }
  return numbers;
}

template <class T>
::testing::AssertionResult are_signs(const std::vector<T>& got, const ExpectedWeighted& expected) {
  for (std::size_t row = 0; row < got.size(); ++row) {
    const long double sign = expected.sign[row];
    const bool same = std::isnan(sign) ? std::isnan(got[row]) : sign == got[row];
    if (expected.sign_is_certain[row] && !same)
      return ::testing::AssertionFailure()
             << "the sign of row " << row << " is " << got[row] << " instead of " << sign;
  }
  return ::testing::AssertionSuccess();
}

template ::testing::AssertionResult are_signs(const std::vector<float>&, const ExpectedWeighted&);
template ::testing::AssertionResult are_signs(const std::vector<double>&, const ExpectedWeighted&);
template ExpectedWeighted reference_weighted(const Rows<float>&, const std::vector<float>&);
template ExpectedWeighted reference_weighted(const Rows<double>&, const std::vector<double>&);

}  // namespace KokkosSoftmax::Test
