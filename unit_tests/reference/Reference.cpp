// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <limits>
#include <reference/Reference.hpp>
#include <stdexcept>

namespace KokkosSoftmax::Test {
namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();
constexpr long double not_a_number = std::numeric_limits<long double>::quiet_NaN();

using Row = std::vector<long double>;

template <class T>
Row scaled_row(const T* x, std::size_t columns, double scale) {
  Row v(columns);
  std::transform(x, x + columns, v.begin(),
                 [=](T entry) { return scaled(entry, static_cast<T>(scale)); });
  return v;
}

bool is_moderate(const Row& v, long double max) {
  const auto near_max = [=](long double entry) {
    return !std::isfinite(entry) || max - entry <= 50;
  };
  return v.size() <= (1u << 17) && std::all_of(v.begin(), v.end(), near_max);
}

void append(Expected& expected, std::size_t columns, long double softmax, long double log_softmax,
            long double logsumexp) {
  expected.softmax.insert(expected.softmax.end(), columns, softmax);
  expected.log_softmax.insert(expected.log_softmax.end(), columns, log_softmax);
  expected.logsumexp.push_back(logsumexp);
  expected.moderate.push_back(true);
  expected.terms_near_zero.push_back(infinity);
}

long double sum_near_zero(long double max, long double log_sum) {
  const bool is_near = std::fabs(max) <= near_zero && log_sum <= near_zero;
  return is_near ? std::fabs(max) + log_sum : infinity;
}

/// Appends the results of a row whose maximum is finite. The term of one of the largest entries, 1,
/// is kept out of the sum, so that a sum near 1 keeps its digits.
void append_ordinary_row(Expected& expected, const Row& v, long double max) {
  long double rest = 0;
  const auto first = expected.softmax.size();
  bool has_max = false;
  for (const long double entry : v) {
    expected.softmax.push_back(std::exp(entry - max));
    if (entry == max && !has_max)
      has_max = true;
    else
      rest += expected.softmax.back();
  }
  const long double sum = 1 + rest;
  const long double log_sum = std::log1p(rest);
  for (std::size_t i = 0; i < v.size(); ++i) {
    expected.softmax[first + i] /= sum;
    expected.log_softmax.push_back((v[i] - max) - log_sum);
  }
  expected.logsumexp.push_back(max + log_sum);
  expected.moderate.push_back(is_moderate(v, max));
  expected.terms_near_zero.push_back(sum_near_zero(max, log_sum));
}

void append_row(Expected& expected, const Row& v, EmptyRows empty_rows) {
  const bool has_nan = std::any_of(v.begin(), v.end(), [](auto e) { return std::isnan(e); });
  if (has_nan) return append(expected, v.size(), not_a_number, not_a_number, not_a_number);
  const long double max = v.empty() ? -infinity : *std::max_element(v.begin(), v.end());
  if (max == infinity) return append(expected, v.size(), not_a_number, not_a_number, infinity);
  if (max > -infinity) return append_ordinary_row(expected, v, max);
  if (empty_rows == EmptyRows::zero) return append(expected, v.size(), 0, -infinity, -infinity);
  append(expected, v.size(), not_a_number, not_a_number, -infinity);
}

}  // namespace

const std::vector<long double>& Expected::of(Function function) const {
  switch (function) {
    case Function::softmax:
      return softmax;
    case Function::log_softmax:
      return log_softmax;
    case Function::logsumexp:
      return logsumexp;
  }
  throw std::logic_error("no such function");
}

template <class T>
Expected reference(const Rows<T>& x, double scale, EmptyRows empty_rows) {
  Expected expected;
  expected.softmax.reserve(x.values.size());
  expected.log_softmax.reserve(x.values.size());
  for (std::size_t row = 0; row < x.count; ++row)
    append_row(expected, scaled_row(x.values.data() + row * x.columns, x.columns, scale),
               empty_rows);
  return expected;
}

template Expected reference(const Rows<float>&, double, EmptyRows);
template Expected reference(const Rows<double>&, double, EmptyRows);

}  // namespace KokkosSoftmax::Test
