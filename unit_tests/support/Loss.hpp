// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_LOSS_HPP
#define KOKKOSSOFTMAX_TEST_LOSS_HPP

/// \file
/// Labels and other numbers of rows.

#include <random>
#include <reference/Loss.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

/// Labels of which some are ignored, and some aren't columns.
inline Labels random_labels(std::size_t count, std::size_t columns, double smoothing,
                            std::int64_t ignored) {
  std::minstd_rand random(static_cast<unsigned>(count * 31 + columns));
  Labels labels{.of_row = {}, .ignored = ignored, .smoothing = smoothing};
  for (std::size_t r = 0; r < count; ++r) {
    const auto kind = random() % 8;
    const auto n = static_cast<std::int64_t>(columns);
    labels.of_row.push_back(kind == 0   ? ignored
                            : kind == 1 ? n + static_cast<std::int64_t>(random() % 2)
                                        : static_cast<std::int64_t>(random() % columns));
  }
  labels.of_row.back() = static_cast<std::int64_t>(columns) - 1;
  return labels;
}

/// What a gradient is computed from besides x.
template <class T>
struct RowNumbers {
  std::vector<T> lse;
  std::vector<T> derivative;
};

/// The log-sum-exps of the rows of v, and some derivatives.
template <class T>
RowNumbers<T> row_numbers(const Rows<T>& v) {
  RowNumbers<T> numbers;
  const Expected expected = reference(v);
  std::minstd_rand random(3);
  for (std::size_t r = 0; r < v.count; ++r) {
    numbers.lse.push_back(static_cast<T>(expected.logsumexp[r]));
    numbers.derivative.push_back(static_cast<T>(random() % 100) / T(16) - T(3));
  }
  return numbers;
}

}  // namespace KokkosSoftmax::Test

#endif
