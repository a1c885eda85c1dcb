// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <reference/Loss.hpp>

namespace KokkosSoftmax::Test {

namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double nan = std::numeric_limits<long double>::quiet_NaN();

/// log(sum_k exp(v_k)) - max v, and max v, of columns that aren't NaN or +inf.
struct LogSum {
  long double max = -infinity;
  long double log_sum = 0;
};
template <class T>
LogSum log_sum_of(const T* v, std::size_t columns) {
  LogSum result;
  for (std::size_t c = 0; c < columns; ++c) result.max = std::max<long double>(result.max, v[c]);
  long double sum = 0;
  for (std::size_t c = 0; c < columns; ++c)
    sum += std::exp(static_cast<long double>(v[c]) - result.max);
  result.log_sum = std::log(sum);
  return result;
}

bool is_label(std::int64_t label, std::size_t columns) {
  return label >= 0 && label < static_cast<std::int64_t>(columns);
}

}  // namespace

template <class T>
Rows<T> scaled_rows(const Rows<T>& x, double scale) {
  Rows<T> v = x;
  for (T& value : v.values) value = static_cast<T>(static_cast<T>(scale) * value);
  return v;
}

template <class T>
ExpectedNumbers reference_loss(const Rows<T>& v, const Labels& labels) {
  constexpr long double epsilon = std::numeric_limits<T>::epsilon();
  const long double e = static_cast<T>(labels.smoothing);
  ExpectedNumbers expected;
  const auto add = [&](long double value, long double bound) {
    expected.values.push_back(value);
    expected.bounds.push_back(bound);
  };
  for (std::size_t r = 0; r < v.count; ++r) {
    const T* const row = v.values.data() + r * v.columns;
    const std::int64_t label = labels.of_row[r];
    const bool has_nan = std::any_of(row, row + v.columns, [](T x) {
      return std::isnan(x) || x == std::numeric_limits<T>::infinity();
    });
    if (label == labels.ignored) {
      add(0, 0);
      continue;
    }
    if (!is_label(label, v.columns) || has_nan ||
        *std::max_element(row, row + v.columns) == -std::numeric_limits<T>::infinity()) {
      add(nan, 0);
      continue;
    }
    const LogSum sum = log_sum_of(row, v.columns);
    const long double of_label = row[label];
    long double total = 0, magnitude = 0;
    for (std::size_t c = 0; c < v.columns; ++c) {
      total += row[c];
      magnitude += std::fabs(row[c]) + std::fabs(row[c] - sum.max);
    }
    const auto columns = static_cast<long double>(v.columns);
    const long double target = (1 - e) * ((sum.max - of_label) + sum.log_sum);
    const long double spread = (sum.max - total / columns) + sum.log_sum;
    add((e == 1 ? 0 : target) + (e == 0 ? 0 : e * spread),
        epsilon * (2 * std::fabs(sum.max - of_label) + 4 * sum.log_sum + 2) +
            (e == 0 ? 0 : epsilon * e * 4 * magnitude / columns));
  }
  return expected;
}

template <class T>
ExpectedNumbers reference_gradient(const Rows<T>& v, double scale, const std::vector<T>& lse,
                                   const std::vector<T>& derivative, const Labels* labels) {
  constexpr long double epsilon = std::numeric_limits<T>::epsilon();
  ExpectedNumbers expected;
  for (std::size_t r = 0; r < v.count; ++r) {
    const long double factor = static_cast<long double>(static_cast<T>(scale)) * derivative[r];
    const long double e = labels == nullptr ? 0 : static_cast<T>(labels->smoothing);
    const bool is_ignored = labels != nullptr && labels->of_row[r] == labels->ignored;
    const bool is_invalid =
        labels != nullptr && !is_ignored && !is_label(labels->of_row[r], v.columns);
    for (std::size_t c = 0; c < v.columns; ++c) {
      const long double value = v.values[r * v.columns + c];
      const long double p = value == -infinity ? 0 : std::exp(value - lse[r]);
      const bool is_target = labels != nullptr && labels->of_row[r] == static_cast<std::int64_t>(c);
      const long double spread = e / static_cast<long double>(v.columns);
      const long double above = p - (is_target ? 1 - e : 0) - spread;
      expected.values.push_back(is_ignored   ? 0
                                : is_invalid ? nan
                                : above == 0 ? 0
                                             : factor * above);
      const long double of_p = p == 0 ? 0 : p * (6 + std::fabs(value - lse[r]));
      expected.bounds.push_back(std::fabs(factor) * epsilon *
                                    (of_p + 4 * spread + (is_target ? 4 : 0)) +
                                (1 + std::fabs(factor)) * std::numeric_limits<T>::min());
    }
  }
  return expected;
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(T)                                                    \
  template Rows<T> scaled_rows(const Rows<T>&, double);                                      \
  template ExpectedNumbers reference_loss(const Rows<T>&, const Labels&);                    \
  template ExpectedNumbers reference_gradient(const Rows<T>&, double, const std::vector<T>&, \
                                              const std::vector<T>&, const Labels*);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)

}  // namespace KokkosSoftmax::Test
