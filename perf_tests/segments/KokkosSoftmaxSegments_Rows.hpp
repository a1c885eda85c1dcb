// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSEGMENTS_ROWS_HPP
#define KOKKOSSOFTMAXSEGMENTS_ROWS_HPP

/// \file
/// The lengths of ragged rows that are measured.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace KokkosSoftmaxSegments {

/// Row r has the entries offsets[r] to offsets[r + 1] - 1.
struct Rows {
  std::string name;
  std::vector<std::int32_t> offsets = {0};
  long columns = 0;  // of all rows, if they have the same length
  long longest = 0;

  long count() const { return static_cast<long>(offsets.size()) - 1; }
  long entries() const { return offsets.back(); }
  long length(long r) const { return offsets[r + 1] - offsets[r]; }
  void add(long length) {
    offsets.push_back(static_cast<std::int32_t>(offsets.back() + length));
    longest = std::max(longest, length);
  }
};

inline Rows uniform_rows(long entries, long columns) {
  Rows rows{.name = "uniform", .columns = columns};
  do rows.add(columns);
  while (rows.entries() + columns <= entries);
  return rows;
}

/// The shortest length for which lengths with a density of 1 / length^2 from there to `longest`,
/// rounded down, have this mean.
inline double shortest_of_power_law(double mean, double longest) {
  double low = 1, high = mean + 1;
  for (int step = 0; step < 60; ++step) {
    const double middle = (low + high) / 2;
    const double mean_of_middle =
        middle * std::log(longest / middle) / (1 - middle / longest) - 0.5;
    (mean_of_middle < mean ? low : high) = middle;
  }
  return low;
}

/// Rows whose number falls with the square of their length, as in graphs with a few large vertices.
inline Rows power_law_rows(long entries, double mean, double longest) {
  const double shortest = shortest_of_power_law(mean, longest);
  Rows rows{.name = "power law"};
  std::mt19937_64 bits(5);
  while (rows.entries() < entries) {
    const double u = static_cast<double>(bits() >> 11) * 0x1p-53;  // in [0, 1)
    const double length = shortest / (1 - u * (1 - shortest / longest));
    rows.add(std::min(static_cast<long>(length), entries - rows.entries()));
  }
  return rows;
}

/// One long row in the middle of `count` short ones.
inline Rows one_long_row(long count, long columns, long longest) {
  Rows rows{.name = "one long row"};
  for (long r = 0; r <= count; ++r) rows.add(r == count / 2 ? longest : columns);
  return rows;
}

}  // namespace KokkosSoftmaxSegments

#endif
