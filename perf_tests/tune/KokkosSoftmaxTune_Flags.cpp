// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Words.hpp>
#include <KokkosSoftmaxTune_Flags.hpp>
#include <algorithm>
#include <charconv>
#include <iostream>
#include <stdexcept>

namespace KokkosSoftmaxTune {
namespace {

using KokkosSoftmaxSweep::names;

/// Enumerators from `first` to `last`, each with a name by to_string.
template <class Enum>
std::vector<Enum> enumerators(const std::string& flag, const std::string& list, Enum first,
                              Enum last) {
  const int begin = static_cast<int>(first);
  std::vector<std::string> known;
  for (int e = begin; e <= static_cast<int>(last); ++e)
    known.emplace_back(to_string(static_cast<Enum>(e)));
  std::vector<Enum> items;
  for (const std::string& name : names(flag, list, known)) {
    const auto place = std::find(known.begin(), known.end(), name) - known.begin();
    items.push_back(static_cast<Enum>(begin + place));
  }
  return items;
}

std::int64_t positive_integer(const std::string& flag, const std::string& text) {
  std::int64_t number = 0;
  const char* const end = text.data() + text.size();
  const auto [next, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || next != end || number < 1)
    throw std::invalid_argument(flag + ": \"" + text + "\" is not a whole number above 0");
  return number;
}

/// Sorts the numbers in ascending order, each once.
std::vector<std::int64_t> sizes(const std::string& flag, const std::string& list) {
  std::vector<std::int64_t> items;
  for (const std::string& text : KokkosSoftmaxSweep::split(list))
    items.push_back(positive_integer(flag, text));
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  if (items.empty())
    throw std::invalid_argument(flag + ": give numbers, as in " + flag + "=32,1024");
  return items;
}

std::vector<int> axes(const std::string& flag, const std::string& list) {
  std::vector<int> items;
  for (const std::string& name : names(flag, list, {"0", "1"})) items.push_back(name == "1");
  return items;
}

void take_flag(Flags& flags, const std::string& argument) {
  const std::size_t equals = argument.find('=');
  const std::string flag = argument.substr(0, equals);
  const std::string value = equals == std::string::npos ? "" : argument.substr(equals + 1);
  if (flag == "--operations")
    flags.operations =
        enumerators(flag, value, Operation::softmax, KokkosSoftmax::Impl::last_operation);
  else if (flag == "--algorithms")
    flags.algorithms =
        enumerators(flag, value, Algorithm::packed, KokkosSoftmax::Impl::last_algorithm);
  else if (flag == "--types")
    flags.types = names(flag, value, type_names());
  else if (flag == "--axes")
    flags.axes = axes(flag, value);
  else if (flag == "--columns")
    flags.columns = sizes(flag, value);
  else if (flag == "--rows")
    flags.rows = sizes(flag, value);
  else if (flag == "--elements")
    flags.elements = positive_integer(flag, value);
  else if (flag == "--next")
    flags.next = static_cast<std::size_t>(positive_integer(flag, value));
  else if (flag == "--max-mib")
    flags.max_mib = KokkosSoftmaxSweep::positive_number(flag, value);
  else if (flag == "--working-set-mib")
    flags.working_set_mib = KokkosSoftmaxSweep::positive_number(flag, value);
  else if (flag == "--stop-after")
    flags.stop_after = static_cast<std::size_t>(positive_integer(flag, value));
  else if (flag == "--margin")
    flags.margin = KokkosSoftmaxSweep::positive_number(flag, value) / 100;
  else if (flag == "--output" && !value.empty())
    flags.output = value;
  else if (argument == "--resume")
    flags.resume = true;
  else if (argument == "--list")
    flags.list = true;
  else
    throw std::invalid_argument("\"" + argument + "\" is not a flag: --help lists them");
}

/// The numbers of rows for a number of columns.
std::vector<std::int64_t> rows_for(const Flags& flags, std::int64_t columns) {
  if (flags.elements == 0) return flags.rows;
  return {std::max<std::int64_t>(1, flags.elements / columns)};
}

}  // namespace

Flags parse_flags(int argc, char** argv, bool on_host) {
  Flags flags;
  for (const auto& row : KokkosSoftmax::Impl::operation_table)
    flags.operations.push_back(row.operation);
  if (on_host) {
    flags.axes = {1};
    flags.columns = {16, 64, 512, 4096, 65536};
    flags.rows = {64, 4096};
    flags.max_mib = 64;
    flags.working_set_mib = 64;
  } else {
    flags.axes = {1, 0};
    for (std::int64_t columns = 8; columns <= 1 << 20; columns *= 2)
      flags.columns.push_back(columns);
    flags.rows = {64, 4096, 262144};
    flags.max_mib = 4096;
    flags.working_set_mib = 512;
  }
  for (int i = 1; i < argc; ++i) take_flag(flags, argv[i]);
  return flags;
}

std::vector<Point> choose_points(const Flags& flags) {
  std::vector<Point> points;
  for (const Operation operation : flags.operations)
    for (const std::string& types : flags.types)
      for (const int axis : flags.axes)
        for (const std::int64_t columns : flags.columns)
          for (const std::int64_t rows : rows_for(flags, columns)) {
            const Point point{operation, types, axis, rows, columns};
            if (static_cast<double>(rows) * static_cast<double>(columns) *
                    static_cast<double>(size_of_x(types)) <=
                flags.max_mib * (1 << 20))
              points.push_back(point);
            else
              std::cerr << "left out (more than --max-mib=" << flags.max_mib
                        << "): " << point.name() << "\n";
          }
  return points;
}

const char* help_text() {
  return R"(Searches for the fastest schedule: every one that is compiled and serves, for each point.

  --operations=NAME,...  softmax, log_softmax, logsumexp (default: all)
  --types=NAME,...       float, double and, on GPUs, half, bhalf, half_float, bhalf_float: x, and y
                         where it is another (default: all)
  --algorithms=NAME,...  packed, subgroup and the others of docs/algorithms.md (default: all)
  --columns=N,...        sizes that are measured; each stands for all above the one before it
  --rows=M,...           the same for rows
  --elements=COUNT       in place of --rows: so many rows that x has about COUNT entries
  --axes=1,0             1: contiguous rows, 0: strided ones, for the algorithms of columns (default: 1; both on GPUs)
  --next=COUNT           only the schedule that the library takes and the next ones of the list that serve, COUNT in all:
                         what would be taken without the first
  --output=FILE          the table (default tuning.table); FILE.csv has every measurement
  --margin=PERCENT       only lines that make a call faster by so much than the library's choice
  --resume               keeps what FILE.csv has, and goes on
  --stop-after=COUNT     stops after so many measurements more
  --max-mib=NUMBER       leaves out points whose x is larger
  --working-set-mib=NUMBER
                         goes round in so much of x, that no launch finds its data in a cache
  --list                 prints every compiled schedule and stops
  --kokkos-...           flags of Kokkos

The table is used with KOKKOSSOFTMAX_TUNING=FILE; see docs/tuning.md.
)";
}

}  // namespace KokkosSoftmaxTune
