// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <limits>
#include <reference/Accuracy.hpp>
#include <sstream>

namespace KokkosSoftmax::Test {
namespace {

bool accurate_probability(long double error, long double expected, long double tolerance,
                          long double smallest_normal) {
  return error <= (expected >= smallest_normal ? tolerance * expected : smallest_normal);
}

bool accurate_logarithm(long double error, long double expected, long double tolerance) {
  return error <= tolerance * std::max(1.0L, std::fabs(expected));
}

template <class T>
void describe(std::ostream& out, const Rows<T>& x, std::size_t row, std::size_t column, T got,
              long double expected) {
  out << std::setprecision(20) << "\n  row " << row;
  if (!x.names.empty()) out << " (" << x.names[row] << ")";
  out << ", column " << column << ": " << got << " instead of " << expected << ", relative error "
      << std::setprecision(3) << (got - expected) / expected;
}

}  // namespace

template <class T>
long double sequential_tolerance(std::size_t count) {
  return static_cast<long double>(count + 8) * std::numeric_limits<T>::epsilon();
}

template <class T>
bool is_accurate(Function function, T got, long double expected, long double tolerance) {
  if (std::isnan(expected)) return std::isnan(got);
  // Infinite, or beyond T's largest number.
  if (std::isinf(static_cast<T>(expected))) return got == static_cast<T>(expected);
  const long double error = std::fabs(got - expected);  // NaN is no less than anything
  if (function == Function::softmax)
    return accurate_probability(error, expected, tolerance, std::numeric_limits<T>::min());
  return accurate_logarithm(error, expected, tolerance);
}

template <class T>
::testing::AssertionResult is_accurate(Function function, const Rows<T>& x,
                                       const Expected& expected, const std::vector<T>& got,
                                       long double at_least) {
  const auto& truth = expected.of(function);
  const std::size_t columns = function == Function::logsumexp ? 1 : x.columns;
  if (got.size() != truth.size())
    return ::testing::AssertionFailure() << got.size() << " values instead of " << truth.size();
  constexpr int shown = 3;
  int wrong = 0;
  std::ostringstream examples;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const std::size_t row = i / columns;
    const long double bound = std::max(at_least, tolerance<T>(expected.moderate[row]));
    if (is_accurate(function, got[i], truth[i], bound)) continue;
    if (wrong++ < shown) describe(examples, x, row, i % columns, got[i], truth[i]);
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong << " of " << got.size() << " values wrong:" << examples.str();
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(T)                                                    \
  template long double sequential_tolerance<T>(std::size_t);                                 \
  template bool is_accurate(Function, T, long double, long double);                          \
  template ::testing::AssertionResult is_accurate(Function, const Rows<T>&, const Expected&, \
                                                  const std::vector<T>&, long double);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)

}  // namespace KokkosSoftmax::Test
