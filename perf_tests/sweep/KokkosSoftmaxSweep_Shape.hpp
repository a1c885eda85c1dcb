// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_SHAPE_HPP
#define KOKKOSSOFTMAXSWEEP_SHAPE_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

enum class Layout { right, left };

/// A View's extents and layout and the axis that softmax reduces. "Rows" are the one-dimensional
/// pieces along that axis, "columns" their entries, whatever the layout.
struct Shape {
  std::vector<std::int64_t> extents;
  int axis = 0;
  Layout layout = Layout::right;

  int rank() const { return static_cast<int>(extents.size()); }
  std::int64_t columns() const { return extents[axis]; }
  std::int64_t elements() const;
  std::int64_t rows() const { return elements() / columns(); }

  /// The distance of neighbours along dimension d, in elements.
  std::int64_t stride(int d) const;

  /// The offset in elements at which row `row` (counted with the last dimension fastest) begins.
  std::int64_t row_offset(std::int64_t row) const;

  /// Whether the rows are contiguous and the View is a plain matrix of them.
  bool is_row_major_matrix() const { return rank() == 2 && axis == 1 && layout == Layout::right; }

  /// For example "4096x256".
  std::string extents_text() const;
};

/// Softmax along the last axis, LayoutRight.
Shape rows_of(std::vector<std::int64_t> extents);

/// Reads "4096x256" (rank 1 to 4, every extent positive); throws std::invalid_argument otherwise.
Shape parse_shape(const std::string& text);

}  // namespace KokkosSoftmaxSweep

#endif
