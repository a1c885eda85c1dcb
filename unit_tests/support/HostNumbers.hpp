// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_HOSTNUMBERS_HPP
#define KOKKOSSOFTMAX_TEST_HOSTNUMBERS_HPP

/// \file
/// The numbers of the kernels of hosts: half types by their bits, because Kokkos has none of its
/// own without a GPU.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <host/Types.hpp>
#include <iterator>
#include <limits>
#include <optional>
#include <random>
#include <reference/Accuracy.hpp>
#include <type_traits>
#include <vector>

namespace KokkosSoftmax::Test {

using KokkosSoftmax::Impl::HostBhalf;
using KokkosSoftmax::Impl::HostCompute;
using KokkosSoftmax::Impl::HostHalf;

template <class X>
constexpr std::optional<Format> format_of_number() {
  if (std::is_same_v<X, HostHalf>) return Format{11, -14, 65504};
  if (std::is_same_v<X, HostBhalf>) return Format{8, -126, 0x1.fep127L};
  return {};
}

/// The number that the bits of a half type stand for.
inline double decoded(std::uint16_t bits, const Format& format) {
  const int stored_digits = format.digits - 1;
  const int exponent = (bits & 0x7fff) >> stored_digits;
  const int digits = bits & ((1 << stored_digits) - 1);
  double value;
  if (exponent == (1 << (15 - stored_digits)) - 1)
    value = digits == 0 ? std::numeric_limits<double>::infinity()
                        : std::numeric_limits<double>::quiet_NaN();
  else if (exponent == 0)
    value = std::ldexp(digits, format.min_exponent - stored_digits);
  else
    value = std::ldexp(digits + (1 << stored_digits),
                       exponent - 1 + format.min_exponent - stored_digits);
  return (bits & 0x8000) != 0 ? -value : value;
}

/// The bits of the nearest number of a half type, those with an even last digit in case of a tie.
inline std::uint16_t encoded(double value, const Format& format) {
  const int stored_digits = format.digits - 1;
  const int infinity = ((1 << (15 - stored_digits)) - 1) << stored_digits;
  const int sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return static_cast<std::uint16_t>(sign | 0x7fff);
  if (std::isinf(value)) return static_cast<std::uint16_t>(sign | infinity);
  const int exponent =
      value == 0 ? format.min_exponent : std::max(std::ilogb(value), format.min_exponent);
  const double digits = std::nearbyint(std::ldexp(std::fabs(value), stored_digits - exponent));
  const int bits = static_cast<int>(digits) + ((exponent - format.min_exponent) << stored_digits);
  return static_cast<std::uint16_t>(sign | std::min(bits, infinity));
}

template <class X, class T>
X to_number(T value) {
  if constexpr (std::is_same_v<X, T>)
    return value;
  else
    return X{encoded(value, *format_of_number<X>())};
}
template <class X>
HostCompute<X> value_of(X number) {
  if constexpr (std::is_same_v<X, HostCompute<X>>) {
    return number;
  } else {
    static const std::vector<float> values = [] {
      std::vector<float> v(1 << 16);
      for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<float>(decoded(static_cast<std::uint16_t>(i), *format_of_number<X>()));
      return v;
    }();
    return values[number.bits];
  }
}

/// Numbers of [-20, 20) that X can hold, with rows of special values among them.
template <class X, class T = HostCompute<X>>
Rows<T> random_rows(std::size_t count, std::size_t columns, unsigned seed) {
  constexpr T infinity = std::numeric_limits<T>::infinity();
  std::mt19937 random(seed);
  std::uniform_real_distribution<T> distribution(-20, 20);
  Rows<T> rows{count, columns, std::vector<T>(count * columns)};
  for (T& v : rows.values) v = distribution(random);
  const T large = std::is_same_v<X, HostHalf> ? T(65504) : T(9e8);
  const T specials[] = {infinity, -infinity, std::numeric_limits<T>::quiet_NaN(), large, -large};
  for (std::size_t r = 3; r < count; r += 3)
    rows.values[r * columns + random() % columns] = specials[r / 3 % std::size(specials)];
  if (count > 4) std::fill_n(rows.values.begin() + 4 * columns, columns, -infinity);
  if (count > 5)  // a slow ramp, for which the reference is raised again and again
    for (std::size_t c = 0; c < columns; ++c)
      rows.values[5 * columns + c] = T(30) * static_cast<T>(c) / static_cast<T>(columns);
  if (count > 7)  // neighbouring columns that count for nothing
    std::fill_n(rows.values.begin() + 7 * columns + columns / 4, columns / 2, -infinity);
  const T far = std::is_same_v<T, float> ? T(20000) : T(1e12);
  if (count > 10)  // references that are so large that they are subtracted first
    for (std::size_t c = 0; c < columns; ++c) {
      rows.values[8 * columns + c] += far;
      rows.values[10 * columns + c] -= far;
      rows.values[(count - 1) * columns + c] += far;
    }
  for (T& v : rows.values) v = value_of(to_number<X>(v));
  return rows;
}

}  // namespace KokkosSoftmax::Test

#endif
