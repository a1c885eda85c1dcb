// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_REDUCEDAXES_HPP
#define KOKKOSSOFTMAX_IMPL_REDUCEDAXES_HPP

/// \file
/// The axes that a call reduces. If there are several of them, each array is converted to one in
/// which they are one axis. Everything after this conversion knows one axis only.

#include <KokkosSoftmax_Options.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <impl/KokkosSoftmax_InvalidArgument.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <sstream>
#include <string>

namespace KokkosSoftmax::Impl {

/// The numbers as text: "(5, 7)".
inline std::string listed(const std::array<std::int64_t, max_rank>& numbers, int rank) {
  std::ostringstream text;
  text << "(";
  for (int d = 0; d < rank; ++d) text << (d == 0 ? "" : ", ") << numbers[d];
  text << ")";
  return text.str();
}

template <class T>
std::string extents_of(const StridedArray<T>& array) {
  return listed(array.extents, array.rank);
}

template <class T>
bool has_elements(const StridedArray<T>& array) {
  const auto end = array.extents.begin() + array.rank;
  return std::find(array.extents.begin(), end, 0) == end;
}

/// Axes of x that are reduced together.
class ReducedAxes {
 public:
  /// `axes` has at least one axis in [0, rank), and none of them twice.
  template <class X>
  ReducedAxes(const StridedArray<X>& x, const std::array<int, max_rank>& axes, int count)
      : m_axes(axes), m_count(count) {
    std::sort(m_axes.begin(), m_axes.begin() + m_count);
    for (int i = 0; i < m_count; ++i)
      if (x.extents[m_axes[i]] != 1) m_order[m_order_size++] = m_axes[i];
    if (!has_elements(x)) return;  // its strides have no meaning
    insertion_sort(m_order.begin(), m_order.begin() + m_order_size,
                   [&](int a, int b) { return x.strides[a] > x.strides[b]; });
  }
  template <class X>
  ReducedAxes(const StridedArray<X>& x, int axis) : ReducedAxes(x, {axis}, 1) {}

  int count() const { return m_count; }
  bool contains(int axis) const {
    return std::find(m_axes.begin(), m_axes.begin() + m_count, axis) != m_axes.begin() + m_count;
  }

  /// The axis of merged arrays that the axes are merged to, in the place of the last one.
  int merged_axis() const { return last() - (m_count - 1); }
  /// The axis of merged arrays that an axis which isn't reduced becomes.
  int merged_index(int axis) const {
    const auto before = std::lower_bound(m_axes.begin(), m_axes.begin() + m_count, axis);
    return axis - static_cast<int>(before - m_axes.begin()) + (axis > last() ? 1 : 0);
  }
  int last() const { return m_axes[m_count - 1]; }

  /// The number of axes whose extent isn't 1, and these axes in the order in which the entries of a
  /// row lie in x, the slowest first.
  int order_size() const { return m_order_size; }
  int order(int i) const { return m_order[i]; }
  /// Whether the last axis is the fastest, so that columns can be counted.
  bool is_in_order() const {
    return std::is_sorted(m_order.begin(), m_order.begin() + m_order_size);
  }

  /// The axes as text: "axis = 1" or "axes = {1, 2}".
  std::string text() const {
    std::ostringstream text;
    if (m_count == 1) {
      text << "axis = " << m_axes[0];
    } else {
      for (int i = 0; i < m_count; ++i) text << (i == 0 ? "axes = {" : ", ") << m_axes[i];
      text << "}";
    }
    return text.str();
  }
  const char* those() const { return m_count == 1 ? "that axis" : "those axes"; }

 private:
  std::array<int, max_rank> m_axes;  // ascending
  int m_count;
  std::array<int, max_rank> m_order{};
  int m_order_size = 0;
};

/// Returns the axis in [0, rank); negative axes count from the end.
inline int checked_axis(const Callee& callee, const char* x_name, int axis, int rank) {
  if (axis < -rank || axis >= rank)
    throw_invalid(callee, "axis = ", axis, " is out of range (", x_name, " has rank ", rank,
                  "): give an axis from ", -rank, " to ", rank - 1);
  return axis < 0 ? axis + rank : axis;
}

/// Returns an element of a set of axes in [0, rank).
inline int checked_element(const Callee& callee, const char* x_name, const Axes& axes, int i,
                           int rank) {
  const auto index = [&](int k) { return axes[k] < 0 ? axes[k] + rank : axes[k]; };
  if (axes[i] < -rank || axes[i] >= rank)
    throw_invalid(callee, "axes[", i, "] = ", axes[i], " is out of range (", x_name, " has rank ",
                  rank, "): give axes from ", -rank, " to ", rank - 1);
  for (int k = 0; k < i; ++k)
    if (index(k) == index(i))
      throw_invalid(callee, "axes[", k, "] = ", axes[k], " and axes[", i, "] = ", axes[i],
                    " are the same axis (an axis is reduced once): give each axis once");
  return index(i);
}

/// The axes that the options name.
template <class X>
ReducedAxes checked_axes(const Callee& callee, const char* x_name, const StridedArray<X>& x,
                         const Options& options) {
  const Axes& axes = options.axes;
  if (axes.empty()) return {x, checked_axis(callee, x_name, options.axis, x.rank)};
  if (options.axis != Options{}.axis)
    throw_invalid(callee, "axis = ", options.axis, " and axes are both given (either of them says ",
                  "what is reduced): give one of them");
  if (axes.size() > x.rank)
    throw_invalid(callee, "axes has ", axes.size(), " elements (", x_name, " has rank ", x.rank,
                  "): give each axis once");
  std::array<int, max_rank> indices{};
  for (int i = 0; i < axes.size(); ++i)
    indices[i] = checked_element(callee, x_name, axes, i, x.rank);
  return {x, indices, axes.size()};
}

/// Checks that one stride leads from entry to entry of a row.
template <class T>
void check_merges(const Callee& callee, const char* name, const StridedArray<T>& array,
                  const ReducedAxes& axes) {
  if (!has_elements(array)) return;  // its strides have no meaning
  for (int i = 1; i < axes.order_size(); ++i) {
    const int slower = axes.order(i - 1), faster = axes.order(i);
    if (array.strides[slower] != capped_product(array.extents[faster], array.strides[faster]))
      throw_invalid(callee, axes.text(), " don't merge to one axis in ", name, " with the extents ",
                    extents_of(array), " and the strides ", listed(array.strides, array.rank),
                    " (one stride must lead from entry to entry of a row, in the order in which ",
                    "they lie in x): give a copy of ", name, " in which the axes merge");
  }
}

/// The same array with the reduced axes as one. The array must have passed check_size().
template <class T>
StridedArray<T> merged_array(const Callee& callee, const char* name, const StridedArray<T>& array,
                             const ReducedAxes& axes) {
  if (axes.count() == 1) return array;
  check_merges(callee, name, array, axes);
  StridedArray<T> merged;
  merged.data = array.data;
  std::int64_t columns = 1;
  for (int d = 0; d < array.rank; ++d) {
    if (axes.contains(d)) columns = capped_product(columns, array.extents[d]);
    if (axes.contains(d) && d != axes.last()) continue;
    merged.extents[merged.rank] = array.extents[d];
    merged.strides[merged.rank++] = array.strides[d];
  }
  merged.extents[axes.merged_axis()] = columns;
  merged.strides[axes.merged_axis()] =
      axes.order_size() == 0 ? 1 : array.strides[axes.order(axes.order_size() - 1)];
  return merged;
}

/// The same array without the reduced axes.
template <class T>
StridedArray<T> without_axes(const StridedArray<T>& array, const ReducedAxes& axes) {
  StridedArray<T> rows;
  rows.data = array.data;
  for (int d = 0; d < array.rank; ++d) {
    if (axes.contains(d)) continue;
    rows.extents[rows.rank] = array.extents[d];
    rows.strides[rows.rank++] = array.strides[d];
  }
  return rows;
}

}  // namespace KokkosSoftmax::Impl

#endif
