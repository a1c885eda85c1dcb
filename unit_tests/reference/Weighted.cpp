// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
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
  long double absolute = 0;  // of |weight| * exp(v - max) * (1 + (max - v) / 16)
  long double weights = 0;   // of |weight|
};

WeightedSum weighted_sum(const std::vector<Entry>& row) {
  WeightedSum all;
  for (const Entry& e : row) all.max = std::max(all.max, std::isnan(e.v) ? -inf : e.v);
  for (const Entry& e : row) {
    const long double term = e.v == all.max ? 1 : std::exp(e.v - all.max);
    all.sum += e.weight * term;
    // The difference from the maximum is rounded. That counts for large weights of far entries.
    if (term != 0)
      all.absolute += std::fabs(e.weight) * term * (e.v == all.max ? 1 : 1 + (all.max - e.v) / 16);
    all.weights += std::fabs(e.weight);
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

/// The result of a row near 0.
struct NearZeroResult {
  long double value;
  long double beside_one;  ///< |v| + ||w| - 1| of the term near 1
  long double others;      ///< the absolute values of the other terms, added up
};

/// How far the value of an entry may be from 0, and the absolute value of its weight from 1, and
/// what the absolute values of the other terms may add up to, so that the result is near 0.
constexpr long double near_one = 1.0L / 32;
constexpr long double most_beside_one = 1.0L / 16;

/// The result of a row in which entry m has nearly the value 0 and the weight 1 or -1. That term is
/// kept out of the sum, so that a sum near 1 keeps its digits.
NearZeroResult result_beside(const std::vector<Entry>& row, std::size_t m) {
  const auto [v, weight] = row[m];
  const long double sign = weight < 0 ? -1 : 1;
  NearZeroResult result{.value = (weight - sign) + weight * std::expm1(v),
                        .beside_one = std::fabs(v) + std::fabs(weight - sign),
                        .others = 0};
  long double rest = 0;  // by itself, so that it isn't rounded relative to the first term
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i == m) continue;
    const long double term = row[i].weight * std::exp(row[i].v);
    rest += term;
    result.others += std::fabs(term);
  }
  result.value = std::log1p(sign * (result.value + rest));
  return result;
}

/// The result of a row whose bound is that of results near 0, if it is such a row.
std::optional<NearZeroResult> near_zero_result(const std::vector<Entry>& row) {
  const auto is_near_one = [](const Entry& e) {
    return std::fabs(e.v) <= near_one && std::fabs(std::fabs(e.weight) - 1) <= near_one;
  };
  const auto m = std::find_if(row.begin(), row.end(), is_near_one);
  if (m == row.end()) return {};
  const NearZeroResult result = result_beside(row, static_cast<std::size_t>(m - row.begin()));
  if (!(result.others <= most_beside_one)) return {};
  return result;
}

}  // namespace

template <class T>
ExpectedWeighted reference_weighted(const Rows<T>& v, const std::vector<T>& weights,
                                    bool keeps_digits) {
  constexpr long double relative = tolerance<T>(false);
  ExpectedWeighted expected;
  for (std::size_t row = 0; row < v.count; ++row) {
    const std::vector<Entry> entries = entries_of(v, weights, row);
    const WeightedSum all = weighted_sum(entries);
    // each exponential below the smallest normal number may count as 0
    const long double lost = all.weights * std::numeric_limits<T>::min();
    const long double value = all.max + std::log(std::fabs(all.sum));
    const bool is_finite = std::isfinite(all.sum) && std::isfinite(all.max);
    // If the largest value is +inf, the sum is that of the weights of these entries. A sum of 0 is
    // exact, as that of 1 and -1 is.
    const bool is_exact = !std::isfinite(all.sum) || (!is_finite && all.sum == 0);
    const bool is_certain = is_exact || std::fabs(all.sum) > relative * all.absolute + lost;
    expected.sign.push_back(std::isnan(all.sum) ? all.sum : (all.sum > 0) - (all.sum < 0));
    expected.sign_is_certain.push_back(is_certain);
    if (const auto near_zero = near_zero_result(entries); near_zero && keeps_digits) {
      const long double size = near_zero->beside_one + near_zero->others;
      expected.lse.add(near_zero->value,
                       tolerance_near_zero<T> * size + lost * std::max(1.0L, std::exp(all.max)));
      continue;
    }
    const long double size = std::max({1.0L, std::fabs(value), std::fabs(all.max)});
    // The sum is rounded relative to `absolute`. A sum that is smaller by a part d has a logarithm
    // that is smaller by -log1p(-d).
    const long double part = (2 * relative * all.absolute + lost) / std::fabs(all.sum);
    const long double of_sum = part < 1 ? -std::log1p(-part) : inf;
    expected.lse.add(value, !is_certain ? inf : !is_finite ? 0 : relative * size + of_sum);
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
template ExpectedWeighted reference_weighted(const Rows<float>&, const std::vector<float>&, bool);
template ExpectedWeighted reference_weighted(const Rows<double>&, const std::vector<double>&, bool);

}  // namespace KokkosSoftmax::Test
