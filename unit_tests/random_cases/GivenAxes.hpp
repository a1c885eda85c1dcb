// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_GIVENAXES_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_GIVENAXES_HPP

/// \file
/// The axes of the arrays that a call gets. A case is drawn, placed and checked with few axes, of
/// which one is reduced. The call may get each of these axes as several ones, its parts, that merge
/// to it.

#include <KokkosSoftmax.hpp>
#include <algorithm>
#include <numeric>
#include <ostream>
#include <random_cases/Random.hpp>
#include <support/Placement.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

using KokkosSoftmax::Impl::StridedArray;

template <class Range>
void shuffle(Random& random, Range& range) {
  for (std::size_t i = range.size(); i > 1; --i) std::swap(range[i - 1], range[random.below(i)]);
}

class GivenAxes {
 public:
  /// Which axes get parts.
  enum class Divided { none, all, all_but_reduced };

  /// Draws parts of the axes of a case. The extents become products of those of the parts.
  GivenAxes(Random& random, Extents& extents, std::size_t reduced, Divided divided)
      : m_reduced(reduced) {
    for (std::size_t axis = 0; axis < extents.size(); ++axis) m_parts.push_back({axis, 0});
    if (divided != Divided::none) add_parts(random, extents, divided);
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      extents[axis] = draw_extents(random, axis, extents[axis]);
    if (is_divided()) {
      std::vector<std::size_t> order(m_parts.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      if (random.one_in(2)) shuffle(random, order);
      set_steps(order);
      if (random.one_in(2)) shuffle(random, m_parts);
    } else {
      for (Part& part : m_parts) part.step = 1;
    }
    m_as_set = is_divided(reduced) || (divided == Divided::all && random.one_in(4));
    for (std::size_t d = 0; d < m_parts.size(); ++d)
      if (m_parts[d].axis == reduced)
        m_listed.push_back(static_cast<int>(d) - (random.one_in(2) ? rank() : 0));
    shuffle(random, m_listed);
  }

  int rank() const { return static_cast<int>(m_parts.size()); }
  bool is_divided(std::size_t axis) const {
    return 1 < std::count_if(m_parts.begin(), m_parts.end(),
                             [&](const Part& part) { return part.axis == axis; });
  }

  /// Puts the last of the parts of an axis fastest. The order of the parts that are reduced must be
  /// this one if columns are counted, and if x, whose strides say the order, has the stride 0.
  void put_in_order(std::size_t axis) {
    std::size_t step = 1;
    for (auto part = m_parts.rbegin(); part != m_parts.rend(); ++part) {
      if (part->axis != axis) continue;
      part->step = step;
      step *= std::max<std::size_t>(part->extent, 1);
    }
  }

  /// The options with what is reduced.
  Options options(Options options) const {
    if (!m_as_set) {
      options.axis = m_listed.front();
      return options;
    }
    options.axis = Options{}.axis;
    for (const int axis : m_listed) options.axes.push_back(axis);
    return options;
  }

  /// The axis of the call that an axis without parts is.
  int place_of(std::size_t axis) const {
    const auto part = std::find_if(m_parts.begin(), m_parts.end(),
                                   [&](const Part& other) { return other.axis == axis; });
    return static_cast<int>(part - m_parts.begin());
  }
  /// The axis along which a causal limit counts rows by default.
  int last_of_rows() const {
    int last = rank() - 1;
    while (m_parts[static_cast<std::size_t>(last)].axis == m_reduced) --last;
    return last;
  }

  /// An array with the axes of the case, as the call gets it. It may lack the first axes, or have
  /// the extent 1 along some.
  template <class T>
  StridedArray<T> divided(const StridedArray<T>& array, std::size_t rank_of_case) const {
    return divided(array, rank_of_case, false);
  }
  /// The same for an array without the reduced axis.
  template <class T>
  StridedArray<T> divided_rows(const StridedArray<T>& array, std::size_t rank_of_case) const {
    return divided(array, rank_of_case - 1, true);
  }

  friend std::ostream& operator<<(std::ostream& out, const GivenAxes& axes) {
    if (!axes.is_divided()) return out;
    out << ", given as (";
    for (std::size_t d = 0; d < axes.m_parts.size(); ++d)
      out << (d == 0 ? "" : ", ") << axes.m_parts[d].extent;
    out << "), parts of the axes";
    for (const Part& part : axes.m_parts) out << ' ' << part.axis;
    out << " with the steps";
    for (const Part& part : axes.m_parts) out << ' ' << part.step;
    return out;
  }

 private:
  static constexpr std::size_t max_rank = 8;

  /// A part of an axis: one index further along it is `step` indices further along the axis.
  struct Part {
    std::size_t axis;
    std::size_t extent;
    std::size_t step = 1;
  };

  bool is_divided() const {
    for (const Part& part : m_parts)
      if (is_divided(part.axis)) return true;
    return false;
  }

  void add_parts(Random& random, const Extents& extents, Divided divided) {
    const std::size_t most = random.one_in(2) ? max_rank : std::min(extents.size() + 2, max_rank);
    for (std::size_t more = random.below(most - extents.size() + 1); more > 0; --more) {
      const bool of_reduced = divided == Divided::all && random.one_in(2);
      const std::size_t axis = of_reduced ? m_reduced : random.below(extents.size());
      if (axis == m_reduced && divided == Divided::all_but_reduced) continue;
      const auto first_of_next = std::find_if(m_parts.begin(), m_parts.end(),
                                              [&](const Part& p) { return p.axis > axis; });
      m_parts.insert(first_of_next, {axis, 0});
    }
  }

  /// Draws the extents of the parts of an axis, and returns their product, which is near `extent`.
  std::size_t draw_extents(Random& random, std::size_t axis, std::size_t extent) {
    std::vector<Part*> parts;
    for (Part& part : m_parts)
      if (part.axis == axis) parts.push_back(&part);
    shuffle(random, parts);
    std::size_t product = 1, rest = extent;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const std::size_t most = std::clamp<std::size_t>(rest, 1, random.one_in(4) ? 40 : 4);
      parts[i]->extent = random.up_to(most);
      rest /= parts[i]->extent;
      product *= parts[i]->extent;
    }
    parts.back()->extent = extent == 0 ? 0 : std::max<std::size_t>(rest, 1);
    return product * parts.back()->extent;
  }

  /// Sets the steps, given the parts from the slowest to the fastest one.
  void set_steps(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> steps(max_rank, 1);
    for (auto d = order.rbegin(); d != order.rend(); ++d) {
      Part& part = m_parts[*d];
      part.step = steps[part.axis];
      steps[part.axis] *= std::max<std::size_t>(part.extent, 1);
    }
  }

  template <class T>
  StridedArray<T> divided(const StridedArray<T>& array, std::size_t rank_of_case,
                          bool of_rows) const {
    const std::size_t missing = rank_of_case - static_cast<std::size_t>(array.rank);
    StridedArray<T> result;
    result.data = array.data;
    for (const Part& part : m_parts) {
      if (of_rows && part.axis == m_reduced) continue;
      const std::size_t axis = part.axis - (of_rows && part.axis > m_reduced ? 1 : 0);
      const std::size_t place = axis - missing;
      const bool is_one = axis < missing || array.extents[place] == 1;
      if (is_one && result.rank == 0 && missing > 0) continue;  // a first axis that it lacks
      result.extents[result.rank] = is_one ? 1 : static_cast<std::int64_t>(part.extent);
      result.strides[result.rank++] =
          axis < missing ? 1 : array.strides[place] * static_cast<std::int64_t>(part.step);
    }
    return result;
  }

  std::size_t m_reduced;
  std::vector<Part> m_parts;  // in the order of the axes of the call
  bool m_as_set = false;      // whether the call gets a set of axes
  std::vector<int> m_listed;  // the parts that are reduced, in any order
};

}  // namespace KokkosSoftmax::Test

#endif
