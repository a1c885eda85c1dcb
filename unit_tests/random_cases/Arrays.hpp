// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_ARRAYS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_ARRAYS_HPP

/// \file
/// Random shapes, placements and options of calls.

#include <algorithm>
#include <array>
#include <numeric>
#include <random_cases/GivenAxes.hpp>
#include <random_cases/Random.hpp>
#include <support/Algorithms.hpp>

namespace KokkosSoftmax::Test {

inline std::size_t random_columns(Random& random) {
  if (random.one_in(100)) return random.up_to(100000);
  switch (random.below(10)) {
    case 0:
    case 1:
    case 2:
      return random.up_to(8);
    case 3:
    case 4:
    case 5:
      return random.up_to(64);
    case 6:
    case 7:
      return random.up_to(300);
    case 8:
      return random.element_of(std::array{31, 32, 33, 127, 128, 129, 1000, 1023, 1024, 1025, 4096});
    default:
      return random.up_to(5000);
  }
}

/// Whether the arrays of a case are placed so that neighbouring rows come in aligned pairs. They
/// have kernels of their own, and are rare by chance.
enum class RowPairs { by_chance, wanted };

/// The axis that is reduced. Pairs of rows are neighbours along the last axis.
inline std::size_t random_axis(Random& random, std::size_t rank, RowPairs pairs) {
  if (pairs == RowPairs::wanted) return random.below(rank - 1);
  return random.one_in(2) ? rank - 1 : random.below(rank);
}

/// Extents of rank 1 to 5 with few thousand elements, except that a row may have more.
inline Extents random_extents(Random& random, std::size_t axis, std::size_t rank, RowPairs pairs) {
  Extents extents(rank, 1);
  extents[axis] = random_columns(random);
  std::size_t rest = (random.one_in(10) ? 30000 : 3000) / extents[axis];
  for (std::size_t d = 0; d < rank; ++d) {
    if (d == axis || rest < 2) continue;
    const bool is_last = d + 1 == rank || (d + 2 == rank && axis + 1 == rank);
    extents[d] = random.up_to(is_last ? rest : std::min<std::size_t>(rest, 9));
    rest /= extents[d];
  }
  if (pairs == RowPairs::wanted) extents.back() += extents.back() % 2;
  if (random.one_in(40)) extents[random.below(rank)] = 0;
  return extents;
}

/// Any order of the axes in memory, with gaps after some of them, at any alignment. If pairs of
/// rows are wanted, most placements have them: the last axis is the fastest, and all distances are
/// even.
inline Placement random_placement(Random& random, const Extents& extents,
                                  RowPairs pairs = RowPairs::by_chance) {
  const bool in_pairs = pairs == RowPairs::wanted && !random.one_in(8);
  const auto any_or_even = [&](std::size_t number) { return in_pairs ? number / 2 * 2 : number; };
  std::vector<std::size_t> order(extents.size());  // the slowest axis first
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (!in_pairs && random.one_in(3)) shuffle(random, order);
  Placement placement{extents, Extents(extents.size()),
                      random.one_in(2) ? 0 : any_or_even(random.below(17))};
  std::size_t stride = !in_pairs && random.one_in(6) ? random.up_to(4) : 1;
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    placement.strides[*d] = stride;
    stride *= std::max<std::size_t>(extents[*d], 1);
    if (random.one_in(4)) stride += any_or_even(random.below(9));
  }
  return placement;
}

/// A placement with one stride from row to row, in the order of the rows in x.
inline Placement placement_beside(Random& random, const Placement& x, std::size_t axis) {
  const Extents extents = without_axis(x.extents, static_cast<int>(axis));
  const Extents x_strides = without_axis(x.strides, static_cast<int>(axis));
  std::vector<std::size_t> order(extents.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  order.erase(std::remove_if(order.begin(), order.end(), [&](auto d) { return extents[d] == 1; }),
              order.end());
  std::stable_sort(order.begin(), order.end(),
                   [&](auto a, auto b) { return x_strides[a] > x_strides[b]; });
  Placement placement{extents, Extents(extents.size(), 1), random.below(4)};
  std::size_t stride = random.up_to(3);
  for (auto d = order.rbegin(); d != order.rend(); ++d) {
    placement.strides[*d] = stride;
    stride *= std::max<std::size_t>(extents[*d], 1);
  }
  return placement;
}

template <class T>
StridedArray<T> array_at(T* data, const Placement& placement) {
  StridedArray<T> array;
  array.data = data;
  array.rank = static_cast<int>(placement.extents.size());
  for (std::size_t d = 0; d < placement.extents.size(); ++d) {
    array.extents[d] = static_cast<std::int64_t>(placement.extents[d]);
    array.strides[d] = static_cast<std::int64_t>(placement.strides[d]);
  }
  return array;
}

/// A tensor that a call gets.
template <class Value, class T, class Exec>
StridedArray<Value> array_of(const Field<T, Exec>& field) {
  return array_at<Value>(field.data(), field.placement());
}

/// The placement of an array that is read: it may repeat elements.
inline Placement random_input_placement(Random& random, const Extents& extents,
                                        RowPairs pairs = RowPairs::by_chance) {
  Placement placement = random_placement(random, extents, pairs);
  if (!extents.empty() && random.one_in(20)) placement.strides[random.below(extents.size())] = 0;
  return placement;
}

inline bool repeats_elements(const Placement& placement) {
  return std::count(placement.strides.begin(), placement.strides.end(), std::size_t{0}) > 0;
}

inline void describe(std::ostream& out, const char* name, const Placement& placement) {
  out << ", " << name << " at " << placement.offset << " with strides";
  for (const std::size_t stride : placement.strides) out << ' ' << stride;
}

inline Options random_options(Random& random, std::size_t axis,
                              RowPairs pairs = RowPairs::by_chance) {
  const bool in_pairs = pairs == RowPairs::wanted;
  const auto algorithm = [&] {
    if (in_pairs && !random.one_in(4))  // those that have kernels for pairs
      return random.one_in(4) ? Algorithm::cluster_column : Algorithm::column;
    return random.one_in(2) ? Algorithm::automatic : random.element_of(all_algorithms);
  };
  return {.axis = static_cast<int>(axis),
          .scale = random.element_of(std::array{1.0, 1.0, 1.0, 0.5, -0.75, 0.0, 3.0, 1e-3, 250.0}),
          .empty_rows = random.one_in(2) ? EmptyRows::nan : EmptyRows::zero,
          .algorithm = algorithm(),
          .reproducible = random.one_in(in_pairs ? 16 : 4)};
}

/// The extents and the options of a case, with one axis that is reduced, and the axes with which
/// the call gets its arrays.
struct RandomShape {
  using Divided = GivenAxes::Divided;

  RowPairs pairs;
  Extents extents;
  Options options;

  /// `divided`: which axes may be given as several ones.
  explicit RandomShape(Random& random, Divided divided = Divided::all)
      : RandomShape(random, random.element_of(std::array{1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 5}),
                    divided) {}

  /// The options of the call.
  Options call_options() const { return m_axes.options(options); }

  /// A tensor as the call gets it, or an operand that is broadcast to x.
  template <class Value>
  StridedArray<Value> given(const StridedArray<Value>& array) const {
    return m_axes.divided(array, extents.size());
  }
  template <class Value, class T, class Exec>
  StridedArray<Value> given(const Field<T, Exec>& field) const {
    return given(array_of<Value>(field));
  }
  /// An array without the axis.
  template <class Value>
  StridedArray<Value> given_rows(const StridedArray<Value>& array) const {
    return m_axes.divided_rows(array, extents.size());
  }
  template <class Value, class T, class Exec>
  StridedArray<Value> given_rows(const Field<T, Exec>& field) const {
    return given_rows(array_of<Value>(field));
  }
  const GivenAxes& axes() const { return m_axes; }

  /// Orders the axes that the call gets so that columns can be counted.
  void count_columns() { m_axes.put_in_order(axis()); }
  /// Orders them so that all arrays can have the order of the first one. Its strides say the order,
  /// unless they are 0.
  void follow(const Placement& first) {
    for (std::size_t d = 0; d < extents.size(); ++d)
      if (first.strides[d] == 0) m_axes.put_in_order(d);
  }

  std::size_t axis() const { return axis_index(extents, options.axis); }
  std::size_t columns() const { return extents[axis()]; }
  Extents row_extents() const { return without_axis(extents, options.axis); }
  std::size_t count() const { return product(row_extents()); }

  /// The entries of a tensor of these extents, as it holds them: rounded, and one of the values
  /// that a stride of 0 puts at the same address.
  template <class T, class Tensor>
  Rows<T> rows_of(const Tensor& tensor) const {
    return {.count = count(),
            .columns = columns(),
            .values = tensor_to_rows(tensor.template read<T>(), extents, options.axis)};
  }
  template <class T, class Tensor>
  void assign(Tensor& tensor, const Rows<T>& rows) const {
    tensor.assign(rows_to_tensor(rows.values, extents, options.axis));
  }

  friend std::ostream& operator<<(std::ostream& out, const RandomShape& shape) {
    out << "extents (";
    for (std::size_t d = 0; d < shape.extents.size(); ++d)
      out << (d == 0 ? "" : ", ") << shape.extents[d];
    return out << "), axis " << shape.options.axis << shape.m_axes << ", scale "
               << shape.options.scale << ", " << to_string(shape.options.algorithm)
               << (shape.options.reproducible ? ", reproducible" : "");
  }

 private:
  RandomShape(Random& random, std::size_t rank, Divided divided)
      : RandomShape(random, rank,
                    rank > 1 && random.one_in(4) ? RowPairs::wanted : RowPairs::by_chance,
                    divided) {}
  RandomShape(Random& random, std::size_t rank, RowPairs pairs_, Divided divided)
      : RandomShape(random, rank, random_axis(random, rank, pairs_), pairs_, divided) {}
  RandomShape(Random& random, std::size_t rank, std::size_t axis, RowPairs pairs_, Divided divided)
      : pairs(pairs_),
        extents(random_extents(random, axis, rank, pairs)),
        options(random_options(random, axis, pairs)),
        m_axes(random, extents, axis, random.one_in(2) ? divided : Divided::none) {}

  GivenAxes m_axes;
};

}  // namespace KokkosSoftmax::Test

#endif
