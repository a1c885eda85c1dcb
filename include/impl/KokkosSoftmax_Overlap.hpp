// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_OVERLAP_HPP
#define KOKKOSSOFTMAX_IMPL_OVERLAP_HPP

/// \file
/// Tests whether two strided arrays share an element. It is not enough to compare their spans: the
/// left and the right half of the columns of a matrix have overlapping spans and share no element.

#include <algorithm>
#include <array>
#include <impl/KokkosSoftmax_RowProblem.hpp>

namespace KokkosSoftmax::Impl {

/// One term of an address in bytes: stride * k with first <= k <= last and stride > 0.
struct AddressTerm {
  std::int64_t stride;
  std::int64_t first;
  std::int64_t last;
};

/// Returns whether the terms can sum to `target`. The search starts with the largest stride and
/// tries only those k for which the remaining terms can still reach the target: one or two values
/// if the axes of the arrays nest. If they don't nest, the search gives up after `budget` steps and
/// returns true.
inline bool terms_reach(const AddressTerm* term, const AddressTerm* end, std::int64_t target,
                        int& budget) {
  if (--budget < 0) return true;
  if (term == end) return target == 0;
  std::int64_t rest_low = 0, rest_high = 0;
  for (auto rest = term + 1; rest != end; ++rest) {
    rest_low += rest->stride * rest->first;
    rest_high += rest->stride * rest->last;
  }
  const auto floor_div = [](std::int64_t a, std::int64_t b) {
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
  };
  const std::int64_t low = std::max(term->first, -floor_div(rest_high - target, term->stride));
  const std::int64_t high = std::min(term->last, floor_div(target - rest_low, term->stride));
  for (std::int64_t k = low; k <= high; ++k)
    if (terms_reach(term + 1, end, target - k * term->stride, budget)) return true;
  return false;
}

/// Returns true if an element of x and an element of y share a byte, or if that can't be excluded.
/// x and y must have passed check_size(): then no stride is negative, and no sum here overflows 64
/// bits. Problem is a RowProblem or a RowPair.
template <class Problem>
bool overlap(const Problem& p) {
  // A common byte solves x + (terms of x) = y + (terms of y) + (offset inside an element). An axis
  // with the same stride in x and y gives one term, in the difference of the two indices. Any other
  // axis gives two terms.
  constexpr auto x_size = static_cast<std::int64_t>(sizeof(*p.x));
  constexpr auto y_size = static_cast<std::int64_t>(sizeof(*p.y));
  std::array<AddressTerm, 2 * max_rank + 1> terms{};
  int count = 0;
  const auto add_axis = [&](std::int64_t x_extent, std::int64_t x_stride, std::int64_t y_extent,
                            std::int64_t y_stride) {
    // the stride of an axis of extent 1 has no meaning
    x_stride = x_extent > 1 ? x_stride * x_size : 0;
    y_stride = y_extent > 1 ? y_stride * y_size : 0;
    if (x_stride == y_stride && x_extent == y_extent) {
      if (x_stride > 0) terms[count++] = {x_stride, 1 - x_extent, x_extent - 1};
      return;
    }
    if (x_stride > 0) terms[count++] = {x_stride, 0, x_extent - 1};
    if (y_stride > 0) terms[count++] = {y_stride, 1 - y_extent, 0};
  };
  for (int d = 0; d < p.outer_rank; ++d)
    add_axis(p.outer[d].extent, p.outer[d].x_stride, p.outer[d].extent, p.outer[d].y_stride);
  add_axis(p.columns, p.x_column_stride, p.y_column_stride == 0 ? 1 : p.columns, p.y_column_stride);
  terms[count++] = {1, 1 - y_size, x_size - 1};
  const auto longer_stride = [](const AddressTerm& a, const AddressTerm& b) {
    return a.stride > b.stride;
  };
  insertion_sort(terms.begin(), terms.begin() + count, longer_stride);
  const std::int64_t distance =
      reinterpret_cast<std::intptr_t>(p.y) - reinterpret_cast<std::intptr_t>(p.x);
  int budget = 10000;
  return terms_reach(terms.data(), terms.data() + count, distance, budget);
}

/// Returns whether x and y are the same elements in the same order.
template <class Problem>
bool in_place(const Problem& p) {
  if (static_cast<const void*>(p.x) != static_cast<const void*>(p.y)) return false;
  if (sizeof(*p.x) != sizeof(*p.y)) return false;
  bool same = p.columns == 1 || p.x_column_stride == p.y_column_stride;
  for (int d = 0; d < p.outer_rank; ++d) same = same && p.outer[d].x_stride == p.outer[d].y_stride;
  return same;
}

}  // namespace KokkosSoftmax::Impl

#endif
