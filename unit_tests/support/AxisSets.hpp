// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_AXISSETS_HPP
#define KOKKOSSOFTMAX_TEST_AXISSETS_HPP

/// \file
/// Tensors of which several axes are reduced together.

#include <algorithm>
#include <support/Check.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// A tensor, the axes that are reduced, and how the tensor lies in memory.
struct SetCase {
  Extents extents;
  std::vector<int> axes;
  /// The axes in the order of their strides, the largest first. Empty: the last axis is the
  /// fastest.
  std::vector<std::size_t> order = {};
  /// The elements between an entry and the next one are `step` - 1.
  std::size_t step = 1;

  bool is_reduced(std::size_t d) const {
    const auto n = static_cast<int>(extents.size());
    return std::any_of(axes.begin(), axes.end(), [&](int axis) {
      return static_cast<int>(d) == (axis < 0 ? axis + n : axis);
    });
  }

  Extents without_axes() const {
    Extents rest;
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (!is_reduced(d)) rest.push_back(extents[d]);
    return rest;
  }

  std::size_t count() const { return product(without_axes()); }
  std::size_t columns() const {
    std::size_t result = 1;
    for (std::size_t d = 0; d < extents.size(); ++d) result *= is_reduced(d) ? extents[d] : 1;
    return result;
  }

  Options options(Options given = {}) const {
    for (const int axis : axes) given.axes.push_back(axis);
    return given;
  }

  /// A placement of the tensor. `gap` elements lie between neighbours along each axis that no
  /// reduced axes have on both of its sides.
  Placement placement(std::size_t gap = 0) const {
    Placement placement{extents, Extents(extents.size())};
    std::size_t stride = step;
    for (std::size_t k = extents.size(); k-- > 0;) {
      const std::size_t d = order.empty() ? k : order[k];
      placement.strides[d] = stride;
      const bool splits_row = has_reduced(0, k) && has_reduced(k, extents.size());
      stride = stride * extents[d] + (splits_row ? 0 : gap);
    }
    return placement;
  }

  /// Whether a reduced axis is among those from `first` to `last` - 1 in the order of strides.
  bool has_reduced(std::size_t first, std::size_t last) const {
    for (std::size_t k = first; k < last; ++k)
      if (is_reduced(order.empty() ? k : order[k])) return true;
    return false;
  }

  /// A placement of one number per row, in the order in which the rows lie in the tensor.
  Placement row_placement() const {
    SetCase rows{without_axes(), {}};
    for (std::size_t k = 0; k < order.size(); ++k)
      if (!is_reduced(order[k])) {
        std::size_t place = 0;
        for (std::size_t d = 0; d < order[k]; ++d) place += is_reduced(d) ? 0 : 1;
        rows.order.push_back(place);
      }
    return rows.placement();
  }

  /// Calls body(row, column, i) for each element i of the tensor, with the last axis fastest.
  template <class Body>
  void for_each(const Body& body) const {
    for (std::size_t i = 0; i < product(extents); ++i) {
      std::size_t row = 0, column = 0, rows = 1, columns = 1, rest = i;
      for (std::size_t d = extents.size(); d-- > 0; rest /= extents[d]) {
        std::size_t& index = is_reduced(d) ? column : row;
        std::size_t& size = is_reduced(d) ? columns : rows;
        index += rest % extents[d] * size;
        size *= extents[d];
      }
      body(row, column, i);
    }
  }

  template <class T>
  std::vector<T> tensor_of(const std::vector<T>& rows) const {
    std::vector<T> tensor(rows.size());
    const std::size_t n = columns();
    for_each([&](std::size_t row, std::size_t column, std::size_t i) {
      tensor[i] = rows[row * n + column];
    });
    return tensor;
  }
  template <class T>
  std::vector<T> rows_of(const std::vector<T>& tensor) const {
    std::vector<T> rows(tensor.size());
    const std::size_t n = columns();
    for_each([&](std::size_t row, std::size_t column, std::size_t i) {
      rows[row * n + column] = tensor[i];
    });
    return rows;
  }
};

inline std::ostream& operator<<(std::ostream& out, const SetCase& c) {
  return out << "extents " << ::testing::PrintToString(c.extents) << ", axes "
             << ::testing::PrintToString(c.axes) << ", order " << ::testing::PrintToString(c.order)
             << ", step " << c.step;
}

}  // namespace KokkosSoftmax::Test

#endif
