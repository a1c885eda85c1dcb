// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_TUNING_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_TUNING_HPP

/// \file
/// Tuning tables: which schedule is taken for which numbers of columns and rows. docs/tuning.md
/// describes the format. The exported functions are those that the tests and the search program
/// call.

#include <impl/KokkosSoftmax_Export.h>

#include <backend/Schedule.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <iosfwd>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace KokkosSoftmax::Impl {

/// The numbers from `first` to `last`, both included.
struct Range {
  static constexpr std::int64_t unbounded = std::numeric_limits<std::int64_t>::max();

  std::int64_t first = 0;
  std::int64_t last = unbounded;

  bool contains(std::int64_t n) const { return first <= n && n <= last; }
  bool operator==(const Range&) const = default;
};

/// Prints "N", "N-M", "N-*" or "*".
KOKKOSSOFTMAX_EXPORT std::ostream& operator<<(std::ostream& out, const Range& range);

/// The architecture of lines that apply to every device.
inline constexpr std::string_view any_architecture = "";

/// One line of a tuning table, and its place.
struct TuningLine {
  Operation operation = Operation::softmax;
  std::string types;
  Range columns;
  Range rows;
  Schedule schedule;

  std::string table = {};
  int number = 0;
  std::string architecture{any_architecture};  ///< see Architecture.hpp

  bool applies(std::int64_t rows_, std::int64_t columns_, std::string_view architecture_) const {
    return columns.contains(columns_) && rows.contains(rows_) &&
           (architecture == any_architecture || architecture == architecture_);
  }
};

/// Prints a line as it stands in a table.
KOKKOSSOFTMAX_EXPORT std::ostream& operator<<(std::ostream& out, const TuningLine& line);

/// Read what operator<< prints. Both throw std::invalid_argument with a message that says what is
/// wrong and what is expected.
KOKKOSSOFTMAX_EXPORT Schedule parse_schedule(const std::string& text);
KOKKOSSOFTMAX_EXPORT TuningLine parse_tuning_line(const std::string& text);

/// Reads a table. The messages of errors name the table and the line.
KOKKOSSOFTMAX_EXPORT std::vector<TuningLine> parse_tuning_table(
    std::istream& in, const std::string& name, std::string_view architecture = any_architecture);

/// Reads a table from a file. Every schedule in it must be compiled.
KOKKOSSOFTMAX_EXPORT std::vector<TuningLine> read_tuning_file(const std::string& path);

/// A table that is compiled into the library for an architecture.
struct ShippedTable {
  const char* name;
  const char* architecture;
  const char* text;
};
KOKKOSSOFTMAX_EXPORT std::span<const ShippedTable> shipped_tables();

/// The lines that are searched, in this order: the lines of the file that KOKKOSSOFTMAX_TUNING
/// names, then the lines of the shipped tables. The file is read once. If it is invalid, each call
/// throws an exception.
const std::vector<TuningLine>& tuning_lines();

}  // namespace KokkosSoftmax::Impl

#endif
