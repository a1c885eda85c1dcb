// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_TABLES_HPP
#define KOKKOSSOFTMAXSWEEP_TABLES_HPP

#include <KokkosSoftmaxSweep_Shape.hpp>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// How many points the tables have: all, or so few that a laptop needs only minutes.
enum class PointSet { host, full };

struct Table {
  std::string name;
  std::string title;
  std::vector<std::string> algorithms;
  std::vector<Shape> shapes;
};

std::vector<Table> tables(PointSet points);

/// The table of shapes that the user gave.
Table own_table(std::vector<Shape> shapes);

}  // namespace KokkosSoftmaxSweep

#endif
