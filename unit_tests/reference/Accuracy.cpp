// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <iomanip>
#include <limits>
#include <reference/Accuracy.hpp>
#include <sstream>

namespace KokkosSoftmax::Test {
namespace {

constexpr int double_bias = 1023;  // of the exponent of a double

long double bound_of_probability(long double expected, long double tolerance,
                                 long double smallest_normal) {
  return expected >= smallest_normal ? tolerance * expected : smallest_normal;
}

long double bound_of_logarithm(long double expected, long double tolerance) {
  return tolerance * std::max(1.0L, std::fabs(expected));
}

/// Whether `expected` rounds to an infinity, or could do so with a relative error of `tolerance`.
bool may_overflow(const Format& format, long double expected, long double tolerance) {
  const long double overflow = format.largest + format.half_ulp(format.largest);
  return std::fabs(expected) * (1 + tolerance) >= overflow;
}

template <class T>
void describe(std::ostream& out, const Rows<T>& x, std::size_t row, std::size_t column, T got,
              long double expected) {
  out << std::setprecision(20) << "\n  row " << row;
  if (!x.names.empty()) out << " (" << x.names[row] << ")";
  out << ", column " << column << ": " << got << " instead of " << expected << ", relative error "
      << std::setprecision(3) << (got - expected) / expected;
}

/// Whether `got` is at most `bound` away from the expected number, see ExpectedNumbers.
template <class T>
bool is_near(T got, long double expected, long double bound, const std::optional<Format>& format) {
  if (std::isinf(bound)) return true;
  if (std::isnan(expected)) return std::isnan(got);
  if (got == expected) return true;
  if (format) bound += format->half_ulp(expected);
  if (!std::isinf(got)) return std::fabs(got - expected) <= bound;  // false if got is NaN
  const long double largest = format ? format->largest : std::numeric_limits<T>::max();
  if (bound - std::fabs(expected) >= largest) return true;  // of either sign
  return std::fabs(expected) + bound >= largest && std::signbit(got) == std::signbit(expected);
}

}  // namespace

template <class T>
long double sequential_tolerance(std::size_t count) {
  return static_cast<long double>(count + 8) * std::numeric_limits<T>::epsilon();
}

long double Format::half_ulp(long double value) const {
  // The exponent is taken from the bits of a double, because ilogb and ldexp took a third of the
  // time of the tests with half types.
  const long double magnitude = std::fabs(value);
  std::uint64_t bits = std::bit_cast<std::uint64_t>(static_cast<double>(magnitude));
  if (std::bit_cast<double>(bits) > magnitude) --bits;  // rounded up, maybe to a power of two
  const int exponent = std::max(static_cast<int>(bits >> 52) - double_bias, min_exponent);
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent - digits + double_bias) << 52);
}

template <class T>
bool is_accurate(Function function, T got, long double expected, long double tolerance,
                 const std::optional<Format>& format) {
  const long double ordinary = format ? format->largest / 2 : std::numeric_limits<T>::max();
  if (!(std::fabs(expected) <= ordinary)) {  // rarely; or NaN
    if (std::isnan(expected)) return std::isnan(got);
    // `expected` is infinite, or larger than the largest number of T.
    if (std::isinf(static_cast<T>(expected))) return got == static_cast<T>(expected);
  }
  // The logarithm of a probability is never positive, regardless of rounding.
  if (function == Function::log_softmax && got > 0) return false;
  if (format && std::fabs(expected) > ordinary &&
      may_overflow(*format, expected, std::isinf(got) ? tolerance : -tolerance))
    return std::isinf(got) && std::signbit(got) == std::signbit(expected);
  if (format && function == Function::softmax)
    tolerance = std::max(tolerance, tolerance_before_rounding);
  const long double bound =
      function == Function::softmax
          ? bound_of_probability(expected, tolerance, std::numeric_limits<T>::min())
          : bound_of_logarithm(expected, tolerance);
  // false if `got` is NaN, because comparisons with NaN are false
  return std::fabs(got - expected) <= bound + (format ? format->half_ulp(expected) : 0);
}

template <class T>
::testing::AssertionResult is_accurate(Function function, const Rows<T>& x,
                                       const Expected& expected, const std::vector<T>& got,
                                       long double at_least, const std::optional<Format>& format) {
  const auto& truth = expected.of(function);
  const std::size_t columns = function == Function::logsumexp ? 1 : x.columns;
  if (got.size() != truth.size())
    return ::testing::AssertionFailure() << got.size() << " values instead of " << truth.size();
  constexpr int shown = 3;
  int wrong = 0;
  std::ostringstream examples;
  for (std::size_t row = 0; row * columns < got.size(); ++row) {
    const long double bound = std::max(at_least, tolerance<T>(expected.moderate[row]));
    for (std::size_t column = 0; column < columns; ++column) {
      const std::size_t i = row * columns + column;
      if (is_accurate(function, got[i], truth[i], bound, format)) continue;
      if (wrong++ < shown) describe(examples, x, row, column, got[i], truth[i]);
    }
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure()
         << wrong << " of " << got.size() << " values wrong:" << examples.str();
}

template <class T>
::testing::AssertionResult is_accurate_near_zero(const Rows<T>& x, const Expected& expected,
                                                 const std::vector<T>& got) {
  if (got.size() != expected.logsumexp.size())
    return ::testing::AssertionFailure()
           << got.size() << " values instead of " << expected.logsumexp.size();
  for (std::size_t row = 0; row < got.size(); ++row) {
    const long double terms = expected.terms_near_zero[row];
    if (std::isinf(terms)) continue;
    // each term below the smallest normal number may count as 0
    const long double lost = static_cast<long double>(x.columns) * std::numeric_limits<T>::min();
    const long double bound = tolerance_near_zero<T> * terms + lost;
    if (std::fabs(got[row] - expected.logsumexp[row]) <= bound) continue;
    std::ostringstream example;
    describe(example, x, row, 0, got[row], expected.logsumexp[row]);
    return ::testing::AssertionFailure()
           << "a result near 0 lost its digits:" << example.str() << ", error "
           << std::fabs(got[row] - expected.logsumexp[row]) / terms << " |max| + log1p(rest)";
  }
  return ::testing::AssertionSuccess();
}

template <class T>
::testing::AssertionResult are_near(const std::vector<T>& got, const ExpectedNumbers& expected,
                                    const std::optional<Format>& format) {
  if (got.size() != expected.values.size())
    return ::testing::AssertionFailure()
           << got.size() << " numbers instead of " << expected.values.size();
  for (std::size_t i = 0; i < got.size(); ++i)
    if (!is_near(got[i], expected.values[i], expected.bounds[i], format))
      return ::testing::AssertionFailure()
             << std::setprecision(20) << "number " << i << ": " << got[i] << " instead of "
             << expected.values[i] << ", allowed: " << expected.bounds[i]
             << (format ? " and half an ulp" : "");
  return ::testing::AssertionSuccess();
}

#define KOKKOSSOFTMAX_TEST_INSTANTIATE(T)                                                         \
  template long double sequential_tolerance<T>(std::size_t);                                      \
  template bool is_accurate(Function, T, long double, long double, const std::optional<Format>&); \
  template ::testing::AssertionResult is_accurate(Function, const Rows<T>&, const Expected&,      \
                                                  const std::vector<T>&, long double,             \
                                                  const std::optional<Format>&);                  \
  template ::testing::AssertionResult is_accurate_near_zero(const Rows<T>&, const Expected&,      \
                                                            const std::vector<T>&);               \
  template ::testing::AssertionResult are_near(const std::vector<T>&, const ExpectedNumbers&,     \
                                               const std::optional<Format>&);
KOKKOSSOFTMAX_TEST_INSTANTIATE(float)
KOKKOSSOFTMAX_TEST_INSTANTIATE(double)

}  // namespace KokkosSoftmax::Test
