// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <KokkosSoftmaxSweep_Flags.hpp>
#include <KokkosSoftmaxSweep_Words.hpp>
#include <algorithm>
#include <iostream>
#include <regex>
#include <stdexcept>

namespace KokkosSoftmaxSweep {
namespace {

std::vector<std::string> table_names() {
  std::vector<std::string> items;
  for (const Table& table : tables(PointSet::full)) items.push_back(table.name);
  return items;
}

std::vector<Shape> shapes(const std::string& list) {
  std::vector<Shape> items;
  for (const std::string& text : split(list)) items.push_back(parse_shape(text));
  return items;
}

PointSet point_set(const std::string& flag, const std::string& text) {
  names(flag, text, {"host", "full"});
  return text == "host" ? PointSet::host : PointSet::full;
}

/// Reads one argument. Arguments that are not known here are left to Benchmark.
void take_flag(Flags& flags, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (flag == "--table")
    flags.tables = names(flag, value, table_names());
  else if (flag == "--dtype")
    flags.dtypes = dtypes(flag, value);
  else if (flag == "--shapes")
    flags.shapes = shapes(value);
  else if (flag == "--algorithms")
    flags.algorithms = names(flag, value, algorithm_names());
  else if (flag == "--points")
    flags.points = point_set(flag, value);
  else if (flag == "--max-mib")
    flags.max_mib = positive_number(flag, value);
  else if (flag == "--rest")
    flags.rest_ms = positive_number(flag, value);
  else if (flag == "--list")
    flags.list = true;
  else if (flag == "--benchmark_filter")
    flags.filter = value;
  else if (flag == "--benchmark_out" && !value.empty())
    flags.out = value;
  else
    flags.for_benchmark.push_back(argument);
}

std::vector<Table> chosen_tables(const Flags& flags) {
  if (!flags.shapes.empty()) return {own_table(flags.shapes)};
  std::vector<Table> chosen = tables(flags.points);
  std::erase_if(chosen, [&](const Table& table) {
    return !flags.tables.empty() &&
           std::find(flags.tables.begin(), flags.tables.end(), table.name) == flags.tables.end();
  });
  return chosen;
}

/// --benchmark_filter as Benchmark interprets it. It is applied here, so that the number of
/// remaining points is known.
bool passes_filter(const std::string& filter, const Point& point) {
  if (filter.empty() || filter == "all") return true;
  const bool negated = filter[0] == '-';
  const std::regex pattern(filter.substr(negated ? 1 : 0), std::regex::extended);
  return std::regex_search(point.name() + "/manual_time", pattern) != negated;
}

/// Removes the points that need more than --max-mib and says so.
void leave_out_large(std::vector<Point>& points, double max_mib) {
  const auto too_large = [&](const Point& point) {
    return static_cast<double>(point.memory()) > max_mib * (1 << 20);
  };
  const auto first = std::find_if(points.begin(), points.end(), too_large);
  if (first == points.end()) return;
  std::cerr << "left out: " << std::count_if(first, points.end(), too_large)
            << " points that need more memory than --max-mib=" << max_mib << ", for example "
            << first->name() << "\n";
  std::erase_if(points, too_large);
}

}  // namespace

Flags parse_flags(int argc, char** argv, bool on_host) {
  Flags flags;
  flags.points = on_host ? PointSet::host : PointSet::full;
  flags.max_mib = on_host ? 1024 : 8192;
  // A flag of the user comes later in the list and takes precedence.
  flags.for_benchmark.push_back("--benchmark_min_time=0.05");
  for (int i = 1; i < argc; ++i) take_flag(flags, argv[i]);
  return flags;
}

std::vector<Point> choose_points(const Flags& flags) {
  std::vector<Point> points;
  for (const Table& table : chosen_tables(flags))
    for (const DType dtype : flags.dtypes)
      for (const Shape& shape : table.shapes)
        for (const std::string& algorithm :
             flags.algorithms.empty() ? table.algorithms : flags.algorithms) {
          const Point point{table.name, dtype, algorithm, shape};
          if (passes_filter(flags.filter, point)) points.push_back(point);
        }
  leave_out_large(points, flags.max_mib);
  return points;
}

const char* help_text() {
  return R"(Times softmax: the library against the ladder of baselines and against a copy.

  --table=NAME,...       large, few_rows, fused_vs_naive, wide, odd, shapes, cliffs, axis_layout,
                         side_by_side, short_columns (default: all)
  --dtype=float,double   value types (default: both)
  --shapes=MxN,...       these shapes instead of the tables; rank 1 to 4, last axis reduced
  --algorithms=NAME,...  steps of the ladder, algorithms of the library, "library" (its choice),
                         "portable" (its choice without native schedules), "onednn" (that of oneDNN,
                         if the program was built with it)
  --points=host|full     few points or all (default: by backend)
  --max-mib=NUMBER       leave out points that need more memory
  --rest=MILLISECONDS    leave the device idle so long before each batch of launches, that a limit of
                         its power doesn't lower its clock; also for the copy (default: no rest)
  --list                 print the chosen points, and for those of the library what runs, and stop
  --benchmark_filter=REGEX, --benchmark_out=FILE (default sweep-results/softmax.json; a .txt and a
  .csv table are written beside it), --benchmark_min_time=SECONDS, --benchmark_repetitions=N and
  the other flags of Google Benchmark
  --kokkos-...           flags of Kokkos

On a host threads are bound to processors and sleep when they wait for long, unless OMP_PROC_BIND,
OMP_PLACES, OMP_WAIT_POLICY or GOMP_SPINCOUNT are set in the environment.
)";
}

}  // namespace KokkosSoftmaxSweep
