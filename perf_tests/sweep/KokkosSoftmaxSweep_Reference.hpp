// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_REFERENCE_HPP
#define KOKKOSSOFTMAXSWEEP_REFERENCE_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <future>
#include <limits>
#include <set>
#include <thread>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The rows that are checked: the first, the last and two between them, each once.
inline std::set<std::int64_t> sampled_rows(std::int64_t rows) {
  return {0, rows / 3, 2 * rows / 3, rows - 1};
}

/// Calls body(begin, end) for parts of [0, size), in parallel on the processors of the host, and
/// combines their results with `merge`. On one processor, a row of 100 million columns takes half a
/// minute.
template <class Body, class Merge>
auto over_parts(std::size_t size, const Body& body, const Merge& merge) {
  const std::size_t processors = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t part = std::max<std::size_t>(65536, size / processors + 1);
  std::vector<std::future<decltype(body(size, size))>> others;
  for (std::size_t begin = part; begin < size; begin += part)
    others.push_back(std::async(std::launch::async, body, begin, std::min(size, begin + part)));
  auto result = body(0, std::min(size, part));
  for (auto& other : others) result = merge(result, other.get());
  return result;
}

/// The larger of two errors; a NaN counts as infinity.
inline long double worse(long double a, long double b) {
  const bool is_bad = std::isnan(a) || std::isnan(b);
  return is_bad ? std::numeric_limits<long double>::infinity() : std::fmax(a, b);
}

/// The largest of error(i), i < size.
template <class Error>
double worst_of(std::size_t size, const Error& error) {
  const auto worst_of_part = [&](std::size_t begin, std::size_t end) {
    long double worst = 0;
    for (std::size_t i = begin; i < end; ++i) worst = worse(worst, error(i));
    return worst;
  };
  return static_cast<double>(over_parts(size, worst_of_part, worse));
}

/// The max of the entries and the sum of exp(entry - max), in long double.
struct Sum {
  long double max, sum;

  template <class T>
  explicit Sum(const std::vector<T>& x) {
    const auto max_of_part = [&](std::size_t begin, std::size_t end) {
      return static_cast<long double>(*std::max_element(&x[begin], x.data() + end));
    };
    max = over_parts(x.size(), max_of_part, [](auto a, auto b) { return std::fmax(a, b); });
    const auto sum_of_part = [&](std::size_t begin, std::size_t end) {
      long double total = 0;
      for (std::size_t i = begin; i < end; ++i) total += std::exp(x[i] - max);
      return total;
    };
    sum = over_parts(x.size(), sum_of_part, std::plus<>());
  }
  long double value() const { return max + std::log(sum); }
};

/// The largest error of y as the softmax of x, compared with long double. The error is relative to
/// the value, or to `smallest` if the value is below it. Infinity if y has a NaN.
template <class T>
double softmax_error(const std::vector<T>& x, const std::vector<T>& y,
                     double smallest = std::numeric_limits<T>::min()) {
  const Sum row(x);
  return worst_of(x.size(), [&](std::size_t i) {
    const long double expected = std::exp(x[i] - row.max) / row.sum;
    return std::abs(y[i] - expected) / std::fmax(expected, smallest);
  });
}

/// The largest error of y as the log-softmax of x; relative if the value exceeds 1.
template <class T>
double log_softmax_error(const std::vector<T>& x, const std::vector<T>& y) {
  const long double value = Sum(x).value();
  return worst_of(x.size(), [&](std::size_t i) {
    const long double expected = x[i] - value;
    return std::abs(y[i] - expected) / std::fmax(1.0L, std::abs(expected));
  });
}

/// The error of y as the log-sum-exp of x; relative if the value exceeds 1.
template <class T>
double logsumexp_error(const std::vector<T>& x, T y) {
  const long double expected = Sum(x).value();
  return worst_of(
      1, [&](std::size_t) { return std::abs(y - expected) / std::fmax(1.0L, std::abs(expected)); });
}

/// The largest error of a result that counts as right. This is not the accuracy of the library,
/// which unit_tests check: steps of the ladder with one thread per row add all columns one by one,
/// which costs about sqrt(columns) roundings.
template <class T>
double error_bound(std::int64_t columns) {
  return std::numeric_limits<T>::epsilon() * (32 + 4 * std::sqrt(static_cast<double>(columns)));
}

}  // namespace KokkosSoftmaxSweep

#endif
