// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_PLACEMENT_HPP
#define KOKKOSSOFTMAX_TEST_PLACEMENT_HPP

/// \file
/// Where the elements of a tensor lie in memory, and how its values are cut into rows.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <reference/Reference.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

using Extents = std::vector<std::size_t>;

struct Placement {
  Extents extents;
  Extents strides;         // in elements
  std::size_t offset = 0;  // of the first element, in elements

  /// From the first element to the end of the last one.
  std::size_t span() const;
  /// Of each element from the first one, last axis fastest.
  std::vector<std::size_t> addresses() const;
};

Placement place_right(const Extents& extents);
Placement place_left(const Extents& extents);
/// The middle axis fastest, two elements apart, and with gaps after each axis: neither Right nor
/// Left, and no axis is contiguous.
Placement place_strided(const Extents& extents);

template <class Layout>
Placement place(const Extents& extents, std::size_t offset = 0);

std::size_t product(const Extents& extents);

/// `axis` in [0, rank).
std::size_t axis_index(const Extents& extents, int axis);
Extents without_axis(const Extents& extents, int axis);

/// Rows of columns as a tensor of these extents (values in order, last axis fastest) whose rows lie
/// along `axis`; and back.
template <class T>
std::vector<T> rows_to_tensor(const std::vector<T>& rows, const Extents& extents, int axis);
template <class T>
std::vector<T> tensor_to_rows(const std::vector<T>& tensor, const Extents& extents, int axis);

}  // namespace KokkosSoftmax::Test

#endif
