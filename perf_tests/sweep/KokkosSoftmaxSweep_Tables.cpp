// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <KokkosSoftmaxSweep_Tables.hpp>
#include <algorithm>
#include <cmath>

namespace KokkosSoftmaxSweep {
namespace {

std::vector<std::string> every_algorithm() {
  std::vector<std::string> names = ladder_step_names();
  names.push_back("library");
  return names;
}

// A host runs fewer points. They are enough for curves, and few enough for two cores to run all
// tables in less than five minutes.

/// The number of entries of the tables in which it is the same for all points, or nearly so. On a
/// host x and y then have 64 MB together (double 128 MB), which is beyond the last-level cache of
/// most processors.
std::int64_t most_entries(PointSet points) {
  return std::int64_t(1) << (points == PointSet::host ? 23 : 27);
}

/// The library, and what it would run without native schedules (hosts have none).
std::vector<std::string> library_and_portable(PointSet points) {
  if (points == PointSet::full) return {"library", portable};
  return {"library"};
}

/// Selected widths that run at the speed of memory: powers of two, odd and unaligned widths,
/// vocabularies, and rows that exceed registers and caches.
Table large(PointSet points) {
  const std::vector<std::int64_t> few = {8,    16,   32,   64,    128,   256,    512,    781,
                                         1024, 2048, 8192, 32768, 50257, 131072, 1 << 20};
  const std::vector<std::int64_t> all = {
      8,      16,     32,     64,     128,     256,     512,     781,      1000,
      1023,   1024,   1536,   2048,   2049,    4096,    5001,    8192,     12288,
      12671,  12672,  16384,  24576,  32768,   50256,   50257,   65536,    128257,
      131072, 151936, 256000, 262144, 1 << 20, 1 << 22, 1 << 24, 100000000};
  Table table{
      "large", "N varied, about the same number of entries", library_and_portable(points), {}};
  const std::int64_t elements = most_entries(points);
  for (const std::int64_t columns : points == PointSet::host ? few : all) {
    const std::int64_t rows = std::max<std::int64_t>(1, (elements + columns / 2) / columns);
    table.shapes.push_back(rows_of({rows, columns}));
  }
  return table;
}

/// The cost of a launch, and rows that are fewer than the multiprocessors.
Table few_rows(PointSet points) {
  const bool host = points == PointSet::host;
  const std::int64_t most_elements = host ? 1 << 22 : 1 << 24;
  Table table{"few_rows", "few rows, and small matrices", library_and_portable(points), {}};
  for (const std::int64_t rows : {1, 8, 64, 4096})
    for (int power = 4; power <= 20; power += host ? 2 : 1) {
      const Shape shape = rows_of({rows, std::int64_t(1) << power});
      if (shape.elements() <= most_elements) table.shapes.push_back(shape);
    }
  return table;
}

/// The classic plot: a row that is kept on chip, compared with one kernel per step.
Table fused_vs_naive(PointSet points) {
  Table table{"fused_vs_naive",
              "M = 4096, N = 128 i",
              {"naive", "fused_one_row", "fused_persistent", "library"},
              {}};
  const std::vector<std::int64_t> host = {1, 2, 3, 4, 5, 6, 8, 10, 12, 16};
  if (points == PointSet::host)
    for (const std::int64_t i : host) table.shapes.push_back(rows_of({4096, 128 * i}));
  else
    for (std::int64_t i = 2; i <= 99; ++i) table.shapes.push_back(rows_of({4096, 128 * i}));
  return table;
}

/// Rows that become wider than what a team can hold.
Table wide(PointSet points) {
  Table table{"wide",
              "M = 1024, N = 2^8 ... 2^17 (on hosts 2^6 ... 2^14)",
              {"fused_one_row", "tiled_three_pass", "online_two_pass", "online_two_pass_reversed",
               "library"},
              {}};
  if (points == PointSet::full) table.algorithms.push_back(portable);
  const bool host = points == PointSet::host;
  for (int power = host ? 6 : 8; power <= (host ? 14 : 17); ++power)
    table.shapes.push_back(rows_of({1024, std::int64_t(1) << power}));
  return table;
}

/// Extents without any power of two.
Table odd(PointSet) {
  return {"odd", "1823 x 781, every step of the ladder", every_algorithm(), {rows_of({1823, 781})}};
}

/// Where one team per row becomes faster than one thread per row.
Table shapes(PointSet points) {
  Table table{
      "shapes",
      "M and N varied, thread per row against team reductions",
      {"thread_per_row", "thread_per_row_online", "team_scratch", "team_shuffle", "library"},
      {}};
  const bool host = points == PointSet::host;
  const std::int64_t most_elements = host ? 1 << 22 : 1 << 28;
  const int row_step = host ? 4 : 3, most_rows = host ? 14 : 21;
  for (int row_power = 6; row_power <= most_rows; row_power += row_step)
    for (int column_power = 2; column_power <= 14; column_power += 2) {
      const Shape shape = rows_of({std::int64_t(1) << row_power, std::int64_t(1) << column_power});
      if (shape.elements() <= most_elements) table.shapes.push_back(shape);
    }
  return table;
}

/// Widths that are dense enough to show if one costs much more than its neighbour. They are
/// log-spaced from 2 on, with odd numbers and primes among them.
Table cliffs(PointSet points) {
  const bool host = points == PointSet::host;
  const int count = host ? 40 : 400;
  const double widest = host ? 3e4 : 3e5;
  const std::int64_t elements = most_entries(points);
  Table table{"cliffs",
              "N log-spaced from 2, the same number of entries",
              library_and_portable(points),
              {}};
  std::int64_t last = 1;
  for (int i = 0; i < count; ++i) {
    const auto spaced = std::llround(2 * std::pow(widest / 2, i / (count - 1.0)));
    last = std::max<std::int64_t>(last + 1, spaced);  // small widths one after the other
    table.shapes.push_back(rows_of({elements / last, last}));
  }
  return table;
}

/// Any axis of any layout should cost the same.
Table axis_layout(PointSet points) {
  Table table{"axis_layout", "each axis of LayoutRight and LayoutLeft", {"library"}, {}};
  using Extents = std::vector<std::int64_t>;
  const std::vector<Extents> host = {{4096, 2000}, {128, 500, 128}};
  const std::vector<Extents> full = {{32768, 4096}, {512, 1000, 256}};
  for (const Extents& extents : points == PointSet::host ? host : full)
    for (int axis = 0; axis < static_cast<int>(extents.size()); ++axis)
      for (const Layout layout : {Layout::right, Layout::left})
        table.shapes.push_back({extents, axis, layout});
  return table;
}

/// Many strided rows of few columns, such as the classes of each pixel. An even number of rows, so
/// that several can be moved in one load, and an odd number.
Table short_columns(PointSet points) {
  const std::int64_t elements = most_entries(points);
  const std::vector<std::int64_t> few = {2, 3, 5, 8, 12, 21, 40, 80, 150, 300, 600, 1024};
  const std::vector<std::int64_t> all = {2,   3,   4,   5,   8,   10,  12,  16,   19,  21,
                                         24,  32,  33,  40,  48,  64,  80,  100,  128, 150,
                                         192, 200, 256, 300, 400, 512, 600, 1000, 1024};
  Table table{"short_columns", "N columns, the same number of entries", {"library"}, {}};
  for (const std::int64_t columns : points == PointSet::host ? few : all)
    for (const std::int64_t beside : {0, 1})
      table.shapes.push_back({{columns, elements / columns / 8 * 8 + beside}, 0, Layout::right});
  return table;
}

/// Few strided rows with many columns. With some numbers of rows each column begins at a cache
/// line, with others it doesn't.
Table side_by_side(PointSet points) {
  const std::int64_t elements = most_entries(points);
  const std::vector<std::int64_t> few = {2, 3, 5, 8, 16, 32, 64, 100, 128, 256, 1000, 8193};
  const std::vector<std::int64_t> all = {2,    3,    5,    8,    16,   31,    32,   33,
                                         48,   64,   100,  128,  129,  200,   256,  1000,
                                         1001, 1024, 2048, 3000, 8193, 17001, 32769};
  Table table{"side_by_side", "M rows side by side, the same number of entries", {"library"}, {}};
  for (const std::int64_t rows : points == PointSet::host ? few : all)
    table.shapes.push_back({{elements / rows, rows}, 0, Layout::right});
  return table;
}

}  // namespace

std::vector<Table> tables(PointSet points) {
  return {large(points),        few_rows(points),     fused_vs_naive(points), wide(points),
          odd(points),          shapes(points),       cliffs(points),         axis_layout(points),
          side_by_side(points), short_columns(points)};
}

Table own_table(std::vector<Shape> shapes) {
  return {"own", "shapes given by --shapes", every_algorithm(), std::move(shapes)};
}

}  // namespace KokkosSoftmaxSweep
