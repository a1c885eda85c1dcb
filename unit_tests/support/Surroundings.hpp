// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_SURROUNDINGS_HPP
#define KOKKOSSOFTMAX_TEST_SURROUNDINGS_HPP

/// \file
/// What the bits of a row must not depend on with Options::reproducible.

#include <algorithm>
#include <cstddef>
#include <support/Instances.hpp>
#include <vector>

namespace KokkosSoftmax::Test {

/// The surroundings of a row: the number of rows, its position among them, and the offsets of x and
/// y from an aligned address in elements.
struct Surroundings {
  std::size_t count = 1;
  std::size_t place = 0;
  std::size_t x_offset = 0;
  std::size_t y_offset = 0;

  /// Whether a row of so many columns is tested in them.
  bool are_for(std::size_t columns) const { return count <= 5 || count * columns <= 100000; }
};

inline constexpr Surroundings all_surroundings[] = {
    {1, 0, 0, 0}, {2, 0, 0, 0},   {2, 1, 0, 0},     {3, 1, 1, 0},    {5, 4, 2, 3},
    {1, 0, 3, 1}, {127, 5, 0, 0}, {127, 126, 1, 2}, {300, 131, 0, 0}};

/// Rows of other values with `row` among them.
template <class T>
Rows<T> surrounded(const Rows<T>& row, const Surroundings& s) {
  Rows<T> rows = normal_rows<T>(s.count, row.columns);
  std::copy(row.values.begin(), row.values.end(),
            rows.values.begin() + static_cast<std::ptrdiff_t>(s.place * row.columns));
  return rows;
}

/// Instances for successive calls.
template <class Exec>
std::vector<Exec> instances_in_turn() {
  return {Exec{}, other_instances(Exec{})[0], instance_of_many_threads<Exec>()};
}

}  // namespace KokkosSoftmax::Test

#endif
