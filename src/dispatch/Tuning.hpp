// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_TUNING_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_TUNING_HPP

/// \file
/// Tuning tables: which schedule to take for which columns and rows. Format in docs/tuning.md.
/// Exported is what the tests and the search program call.

#include <impl/KokkosSoftmax_Export.h>

#include <backend/Schedule.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <iosfwd>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace KokkosSoftmax::Impl {

/// From first to last, both included.
struct Range {
  static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t first = 0;
  std::int64_t last = unbounded;

  bool contains(std::int64_t n) const { return first <= n && n <= last; }
  bool operator==(const Range&) const = default;
};

/// "N", "N-M", "N-*" or "*".
KOKKOSSOFTMAX_EXPORT std::ostream& operator<<(std::ostream& out, const Range& range);

inline constexpr int any_architecture = 0;

/// One line of a table, and where it stands.
struct TuningLine {
  Operation operation = Operation::softmax;
  std::string types;
  Range columns;
  Range rows;
  Schedule schedule;

  std::string table = {};
  int number = 0;
  int architecture = any_architecture;  ///< CUDA compute capability, 90 for 9.0

  bool applies(std::int64_t rows_, std::int64_t columns_, int architecture_) const {
    return columns.contains(columns_) && rows.contains(rows_) &&
           (architecture == any_architecture || architecture == architecture_);
  }
};

/// As it stands in a table.
KOKKOSSOFTMAX_EXPORT std::ostream& operator<<(std::ostream& out, const TuningLine& line);

/// Reads what operator<< prints. Both throw std::invalid_argument saying what is wrong and what is
/// expected.
KOKKOSSOFTMAX_EXPORT Schedule parse_schedule(const std::string& text);
KOKKOSSOFTMAX_EXPORT TuningLine parse_tuning_line(const std::string& text);

/// Reads a table; errors name it and the line.
KOKKOSSOFTMAX_EXPORT std::vector<TuningLine> parse_tuning_table(
    std::istream& in, const std::string& name, int architecture = any_architecture);

/// Reads the table in a file, every schedule of which must be compiled.
KOKKOSSOFTMAX_EXPORT std::vector<TuningLine> read_tuning_file(const std::string& path);

/// The table that is compiled in for an architecture.
struct ShippedTable {
  const char* name;
  int architecture;
  const char* text;
};
KOKKOSSOFTMAX_EXPORT std::span<const ShippedTable> shipped_tables();

/// The lines that are looked at, in this order: of the file that KOKKOSSOFTMAX_TUNING names, and of
/// the shipped tables. Read once; throws at each call where the file is bad.
const std::vector<TuningLine>& tuning_lines();

}  // namespace KokkosSoftmax::Impl

#endif
