// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_INPUTS_HPP
#define KOKKOSSOFTMAX_TEST_INPUTS_HPP

/// \file
/// The results of calls with operands, made from those of the reference.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <reference/Reference.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// The operands of `count` rows of `columns` entries, as rows.
template <class B>
struct Inputs {
  std::vector<B> bias;                // one per entry, or empty
  std::vector<unsigned char> mask;    // one per entry, or empty
  std::vector<std::int64_t> lengths;  // one per row, or empty
  std::optional<std::int64_t> offset;
  std::vector<B> row_bias = {};  // one per row, or empty
  bool scale_biases = false;

  bool is_masked(std::size_t row, std::size_t column, std::size_t columns) const {
    const auto c = static_cast<std::int64_t>(column);
    return (!mask.empty() && mask[row * columns + column] == 0) ||
           (!lengths.empty() && c >= lengths[row]) ||
           (offset && c > static_cast<std::int64_t>(row) + *offset);
  }
};

/// v of each entry: scale * x and the biases, -inf where masked.
template <class T, class B>
Rows<T> values_of(const Rows<T>& x, const Inputs<B>& inputs, double scale) {
  Rows<T> v = x;
  for (std::size_t row = 0; row < x.count; ++row)
    for (std::size_t column = 0; column < x.columns; ++column) {
      const std::size_t i = row * x.columns + column;
      const T factor = static_cast<T>(scale);
      const T bias = inputs.bias.empty() ? T(0) : static_cast<T>(inputs.bias[i]);
      const T of_row = inputs.row_bias.empty() ? T(0) : static_cast<T>(inputs.row_bias[row]);
      const T value = inputs.scale_biases ? scaled((x.values[i] + bias) + of_row, factor)
                                          : (scaled(x.values[i], factor) + bias) + of_row;
      v.values[i] =
          inputs.is_masked(row, column, x.columns) ? -std::numeric_limits<T>::infinity() : value;
    }
  return v;
}

/// The results for v of values_of(): in a row with a NaN, those of masked entries aren't NaN.
template <class T, class B>
Expected expected_of(const Rows<T>& v, const Inputs<B>& inputs, EmptyRows empty_rows) {
  Expected expected = reference(v, 1.0, empty_rows);
  for (std::size_t row = 0; row < v.count; ++row) {
    bool has_nan = false;
    for (std::size_t column = 0; column < v.columns; ++column) {
      const T value = v.values[row * v.columns + column];
      has_nan = has_nan || std::isnan(value) || value == std::numeric_limits<T>::infinity();
    }
    if (!has_nan) continue;
    for (std::size_t column = 0; column < v.columns; ++column)
      if (inputs.is_masked(row, column, v.columns)) {
        expected.softmax[row * v.columns + column] = 0;
        expected.log_softmax[row * v.columns + column] =
            -std::numeric_limits<long double>::infinity();
      }
  }
  return expected;
}

/// What max is: the maximum of each row of v, +inf if an entry is +inf, or else NaN if an entry is
/// NaN.
template <class T>
std::vector<T> true_max(const Rows<T>& rows, double scale) {
  constexpr T inf = std::numeric_limits<T>::infinity();
  std::vector<T> result;
  for (std::size_t row = 0; row < rows.count; ++row) {
    T max = -inf;
    bool has_nan = false;
    for (std::size_t column = 0; column < rows.columns; ++column) {
      const T x = rows.values[row * rows.columns + column];
      // the scale 0 is the limit from above
      const T v = scale == 0 && std::isinf(x) ? x : static_cast<T>(scale) * x;
      has_nan = has_nan || std::isnan(v);
      max = std::max(max, std::isnan(v) ? -inf : v);
    }
    result.push_back(has_nan && max < inf ? std::numeric_limits<T>::quiet_NaN() : max);
  }
  return result;
}

/// What lse is in place of the logsumexp of a row: NaN in place of +inf.
inline Expected beside_y(Expected expected) {
  for (long double& lse : expected.logsumexp)
    if (lse == std::numeric_limits<long double>::infinity())
      lse = std::numeric_limits<long double>::quiet_NaN();
  return expected;
}

}  // namespace KokkosSoftmax::Test

#endif
