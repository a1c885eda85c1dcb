// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_PLACEMENT_HPP
#define KOKKOSSOFTMAX_TEST_PLACEMENT_HPP

/// \file
/// The positions of the elements of a tensor in memory, and the conversion of tensors to rows.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <reference/Reference.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

using Extents = std::vector<std::size_t>;

struct Placement {
  Extents extents;
  Extents strides;         // in elements
  std::size_t offset = 0;  // position of the first element, in elements

  /// The distance from the first element to the end of the last one, in elements.
  std::size_t span() const;
  /// Whether the elements follow one another, with the last axis fastest.
  bool is_right() const;
  /// The distance of each element from the first one, in elements, with the last axis fastest.
  std::vector<std::size_t> addresses() const;
};

Placement place_right(const Extents& extents);
Placement place_left(const Extents& extents);
/// A placement that is neither Right nor Left and has no contiguous axis: the middle axis is the
/// fastest with a stride of two elements, and there are gaps after each axis.
Placement place_strided(const Extents& extents);

template <class Layout>
Placement place(const Extents& extents, std::size_t offset = 0);

std::size_t product(const Extents& extents);

/// Returns `axis` as an index in [0, rank).
std::size_t axis_index(const Extents& extents, int axis);
Extents without_axis(const Extents& extents, int axis);

/// Converts rows to a tensor of the given extents whose rows lie along `axis`, and back. The values
/// of a tensor are given with the last axis fastest.
template <class T>
std::vector<T> rows_to_tensor(const std::vector<T>& rows, const Extents& extents, int axis);
template <class T>
std::vector<T> tensor_to_rows(const std::vector<T>& tensor, const Extents& extents, int axis);

}  // namespace KokkosSoftmax::Test

#endif
