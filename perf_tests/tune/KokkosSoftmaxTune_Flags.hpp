// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_FLAGS_HPP
#define KOKKOSSOFTMAXTUNE_FLAGS_HPP

#include <KokkosSoftmaxTune_Point.hpp>
#include <KokkosSoftmaxTune_Types.hpp>
#include <filesystem>
#include <vector>

namespace KokkosSoftmaxTune {

/// The values of the command line.
struct Flags {
  std::vector<Operation> operations;
  std::vector<std::string> types = type_names();
  std::vector<Algorithm> algorithms;  ///< none: all
  std::vector<int> axes;
  std::vector<std::int64_t> columns;  ///< ascending
  std::vector<std::int64_t> rows;     ///< ascending
  std::int64_t elements = 0;          ///< of x, in place of `rows`; 0: not given
  std::size_t next = 0;               ///< variants per point, from the one that is taken; 0: all
  double max_mib = 0;                 ///< of x
  double working_set_mib = 0;         ///< of x
  std::size_t stop_after = 0;         ///< measurements; 0: all
  double margin = 0;                  ///< see write_table
  std::filesystem::path output = "tuning.table";
  bool resume = false;
  bool list = false;

  std::filesystem::path record() const { return output.string() + ".csv"; }
};

/// `on_host` selects the defaults. Throws std::invalid_argument for a flag with an invalid value.
Flags parse_flags(int argc, char** argv, bool on_host);

/// The points that the flags select, within the memory that the flags permit.
std::vector<Point> choose_points(const Flags& flags);

const char* help_text();

}  // namespace KokkosSoftmaxTune

#endif
