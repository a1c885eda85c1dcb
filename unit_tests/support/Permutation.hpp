// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_PERMUTATION_HPP
#define KOKKOSSOFTMAX_TEST_PERMUTATION_HPP

/// \file
/// The columns of rows in another order.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <random>
#include <vector>

namespace KokkosSoftmax::Test {

template <class T>
std::vector<T> permuted(const std::vector<T>& rows, const std::vector<std::size_t>& order) {
  std::vector<T> result;
  for (std::size_t first = 0; first < rows.size(); first += order.size())
    for (const std::size_t column : order) result.push_back(rows[first + column]);
  return result;
}

inline std::vector<std::size_t> any_order(std::size_t columns) {
  std::vector<std::size_t> order(columns);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::minstd_rand(static_cast<unsigned>(columns)));
  return order;
}

}  // namespace KokkosSoftmax::Test

#endif
