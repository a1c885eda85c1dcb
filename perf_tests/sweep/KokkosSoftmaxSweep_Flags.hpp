// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_FLAGS_HPP
#define KOKKOSSOFTMAXSWEEP_FLAGS_HPP

#include <KokkosSoftmaxSweep_Point.hpp>
#include <KokkosSoftmaxSweep_Tables.hpp>
#include <filesystem>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// What the command line asks for.
struct Flags {
  std::vector<std::string> tables;  ///< names; empty: all
  std::vector<DType> dtypes = {DType::float32, DType::float64};
  std::vector<Shape> shapes;            ///< instead of the tables
  std::vector<std::string> algorithms;  ///< names; empty: those of each table
  PointSet points = PointSet::full;
  double max_mib = 0;
  double rest_ms = 0;  ///< before each batch
  bool list = false;

  std::string filter;  ///< --benchmark_filter: a regular expression, a leading '-' negates it
  std::filesystem::path out = "sweep-results/softmax.json";  ///< --benchmark_out
  std::vector<std::string> for_benchmark;                    ///< every other flag
};

/// `on_host` selects the defaults. Throws std::invalid_argument for a flag of the sweep with an
/// invalid value.
Flags parse_flags(int argc, char** argv, bool on_host);

/// The points that the flags choose, in the order in which they run.
std::vector<Point> choose_points(const Flags& flags);

const char* help_text();

}  // namespace KokkosSoftmaxSweep

#endif
