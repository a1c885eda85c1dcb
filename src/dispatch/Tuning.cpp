// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dispatch/Compiled.hpp>
#include <dispatch/Tuning.hpp>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string_view>

namespace KokkosSoftmax::Impl {
namespace {

[[noreturn]] void fail(const std::string& message) { throw std::invalid_argument(message); }

std::string quoted(std::string_view text) {
  return std::string(1, '"').append(text).append(1, '"');
}

/// The index of a word in a list. If the list doesn't contain the word, throws an error that names
/// all of its words.
template <class Words>
std::size_t find_word(const std::string& word, const char* what, const Words& words) {
  const auto found = std::find(std::begin(words), std::end(words), word);
  if (found != std::end(words)) return static_cast<std::size_t>(found - std::begin(words));
  std::string all;
  for (const auto& known : words) all += (all.empty() ? "" : ", ") + std::string(known);
  fail(quoted(word) + " is not " + what + " (known are " + all + "): write one of these");
}

template <class Enum>
Enum parse_enum(const std::string& word, const char* what, Enum last) {
  std::vector<std::string_view> names;
  for (int e = 0; e <= static_cast<int>(last); ++e)
    names.push_back(to_string(static_cast<Enum>(e)));
  return static_cast<Enum>(find_word(word, what, names));
}

std::string parse_types(const std::string& word) {
  return std::string(type_names()[find_word(word, "a type", type_names())]);
}

template <class Integer>
Integer parse_integer(std::string_view text) {
  Integer value = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || next != end || value < 0)
    fail(quoted(text) + " is not a number (of 0 or more): write a whole number");
  return value;
}

constexpr const char* range_remedy = ": write N, N-M, N-* or *";

Range parse_range(const std::string& word, const char* what) {
  if (word.empty()) fail(std::string("the range of ") + what + " is missing" + range_remedy);
  if (word == "*") return {};
  const std::size_t dash = word.find('-');
  const std::string first = word.substr(0, dash);
  const std::string last = dash == std::string::npos ? first : word.substr(dash + 1);
  Range range;
  try {
    range.first = parse_integer<std::int64_t>(first);
    if (last != "*") range.last = parse_integer<std::int64_t>(last);
  } catch (const std::invalid_argument&) {
    fail(quoted(word) + " is not a range of " + what + range_remedy);
  }
  if (range.last < range.first)
    fail("the range " + quoted(word) + " of " + what + " is empty (its last is below its first)" +
         range_remedy);
  return range;
}

std::string without_spaces(std::string text) {
  std::erase_if(text, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
  return text;
}

/// Reads a part of a schedule, such as "items=4".
void parse_field(Schedule& schedule, const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : text.substr(equals + 1);
  std::vector<std::string_view> names = {"access"};
  for (const ScheduleField& field : schedule_fields) names.push_back(field.name);
  const std::size_t position = find_word(name, "a part of a schedule", names);
  if (position == 0)
    schedule.access = parse_enum(value, "an access mode", last_access_mode);
  else
    schedule.*schedule_fields[position - 1].value = parse_integer<int>(value);
}

/// Refuses the pairs of types that an operation has no kernels of its own for (KernelTypes.hpp).
void check_types(Operation operation, const std::string& types) {
  const std::size_t suffix = types.rfind("_float");
  if (one_value_per_row(operation) && suffix != std::string::npos)
    fail(quoted(types) + " has no kernels of " + to_string(operation) + " (they are those of " +
         quoted(types.substr(0, suffix)) + "): write " + quoted(types.substr(0, suffix)));
}

bool is_compiled(const TuningLine& line) {
  return std::any_of(compiled().begin(), compiled().end(), [&](const Compiled& part) {
    if (part.operation != line.operation || part.types != line.types) return false;
    const std::vector<Schedule> schedules = part.schedules();
    return std::find(schedules.begin(), schedules.end(), line.schedule) != schedules.end();
  });
}

[[noreturn]] void fail_at(const std::string& table, int number, const std::string& problem) {
  fail(table + ":" + std::to_string(number) + ": " + problem);
}

/// Reads the file with stdio, because not every std::ifstream distinguishes an error from the end
/// of the file: a directory can be opened, and reading it fails.
std::string read_whole_file(const std::string& path) {
  errno = 0;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"),
                                                             std::fclose);
  std::string text;
  char buffer[4096];
  while (file != nullptr) {
    const std::size_t count = std::fread(buffer, 1, sizeof(buffer), file.get());
    if (count == 0) break;
    text.append(buffer, count);
  }
  if (file == nullptr || std::ferror(file.get()) != 0)
    fail(path + " can't be read (" + std::strerror(errno) + "): give the path of a tuning table");
  return text;
}

std::vector<TuningLine> read_override() {
  const char* const variable = "KOKKOSSOFTMAX_TUNING";
  const char* const path = std::getenv(variable);
  if (path == nullptr || *path == '\0') return {};
  try {
    return read_tuning_file(path);
  } catch (const std::invalid_argument& error) {
    fail(std::string("KokkosSoftmax: ") + variable + ": " + error.what());
  }
}

std::vector<TuningLine> read_all() {
  std::vector<TuningLine> lines = read_override();
  for (const ShippedTable& shipped : shipped_tables()) {
    std::istringstream text(shipped.text);
    const auto more = parse_tuning_table(text, shipped.name, shipped.architecture);
    lines.insert(lines.end(), more.begin(), more.end());
  }
  return lines;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, const Range& range) {
  if (range == Range{}) return out << "*";
  out << range.first;
  if (range.last == range.first) return out;
  out << "-";
  return range.last == Range::unbounded ? out << "*" : out << range.last;
}

std::ostream& operator<<(std::ostream& out, const TuningLine& line) {
  return out << to_string(line.operation) << " " << line.types << " " << line.columns << " "
             << line.rows << " " << line.schedule;
}

Schedule parse_schedule(const std::string& text) {
  const std::string all = without_spaces(text);
  const std::size_t open = all.find('{');
  Schedule schedule;
  schedule.algorithm = parse_enum(all.substr(0, open), "an algorithm", last_algorithm);
  if (open == std::string::npos || all.back() != '}')
    fail(quoted(text) + " is not a schedule (its parts stand in braces): write it as --list of " +
         "kokkossoftmax_tune prints it");
  std::istringstream parts(all.substr(open + 1, all.size() - open - 2));
  for (std::string part; std::getline(parts, part, ',');) parse_field(schedule, part);
  return schedule;
}

TuningLine parse_tuning_line(const std::string& text) {
  std::istringstream words(text);
  std::string operation, types, columns, rows, schedule;
  words >> operation >> types >> columns >> rows;
  std::getline(words, schedule);
  TuningLine line{.operation = parse_enum(operation, "an operation", last_operation),
                  .types = parse_types(types),
                  .columns = parse_range(columns, "columns"),
                  .rows = parse_range(rows, "rows"),
                  .schedule = parse_schedule(schedule)};
  check_types(line.operation, line.types);
  return line;
}

std::vector<TuningLine> parse_tuning_table(std::istream& in, const std::string& name,
                                           std::string_view architecture) {
  std::vector<TuningLine> lines;
  int number = 0;
  for (std::string text; std::getline(in, text);) {
    ++number;
    text = text.substr(0, text.find('#'));
    if (without_spaces(text).empty()) continue;
    try {
      lines.push_back(parse_tuning_line(text));
    } catch (const std::invalid_argument& error) {
      fail_at(name, number, error.what());
    }
    lines.back().table = name;
    lines.back().number = number;
    lines.back().architecture = architecture;
  }
  return lines;
}

std::vector<TuningLine> read_tuning_file(const std::string& path) {
  std::istringstream text(read_whole_file(path));
  const std::vector<TuningLine> lines = parse_tuning_table(text, path);
  for (const TuningLine& line : lines) {
    if (is_compiled(line)) continue;
    std::ostringstream schedule;
    schedule << line.schedule;
    fail_at(path, line.number,
            schedule.str() + " is not compiled for " + to_string(line.operation) + " of " +
                line.types + " (`kokkossoftmax_tune --list` prints what is): take one of these, " +
                "or build with KokkosSoftmax_TUNING_SHAPES=ON if it comes from such a build");
  }
  return lines;
}

const std::vector<TuningLine>& tuning_lines() {
  static const std::vector<TuningLine> lines = read_all();
  return lines;
}

}  // namespace KokkosSoftmax::Impl
