// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Report.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <ostream>
#include <stdexcept>

namespace KokkosSoftmaxSweep {
namespace {

template <class... Arguments>
std::string formatted(const char* format, Arguments... arguments) {
  char text[512];
  std::snprintf(text, sizeof(text), format, arguments...);
  return text;
}

/// "4096x256", with layout and axis if they are not the usual ones.
std::string shape_text(const Shape& shape) {
  std::string text = shape.extents_text();
  if (shape.layout == Layout::left) text += " left";
  if (shape.axis != shape.rank() - 1) text += " axis " + std::to_string(shape.axis);
  return text;
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return formatted("%9.2f us", 1e6 * seconds);
  if (seconds < 1) return formatted("%9.2f ms", 1e3 * seconds);
  return formatted("%9.2f s ", seconds);
}

/// Prints nothing if no result scatters.
void print_scatter(std::ostream& out, const std::vector<Result>& results) {
  const auto count = std::count_if(results.begin(), results.end(), [](const Result& result) {
    return result.status == Result::Status::measured && result.scatters();
  });
  if (count == 0) return;
  const int percent = static_cast<int>(std::lround(100 * (most_scatter - 1)));
  out << "\n* " << count << " of " << results.size() << " times scatter by more than " << percent
      << " %: the median batch of the call or of its copy took that much longer than the fastest\n"
      << "  one (other programs ran, or the clock changed). Measure these points again on an idle "
         "machine.\n";
}

}  // namespace

std::string summary(const Result& result) {
  switch (result.status) {
    case Result::Status::measured:
      return time_text(result.seconds) +
             formatted(" %9.4g GB/s %6.3f of copy", result.gigabytes_per_second(),
                       result.copy_ratio()) +
             (result.scatters() ? " *" : "");
    case Result::Status::skipped:
      return "skipped: " + result.message;
    case Result::Status::failed:
      return "FAILED: " + result.message;
  }
  return "";
}

void print_table(std::ostream& out, const std::vector<Result>& results) {
  out << formatted("%-15s %-7s %-25s %-20s %12s %14s %14s\n", "table", "dtype", "algorithm",
                   "shape", "time", "bandwidth", "ratio");
  for (const Result& result : results)
    out << formatted("%-15s %-7s %-25s %-20s ", result.point.table.c_str(),
                     to_string(result.point.dtype), result.point.algorithm.c_str(),
                     shape_text(result.point.shape).c_str())
        << summary(result) << "\n";
  print_scatter(out, results);
}

void print_csv(std::ostream& out, const std::vector<Result>& results) {
  out << "table,dtype,algorithm,shape,layout,axis,rows,columns,bytes,seconds,GB_per_s,"
         "copy_GB_per_s,copy_ratio,max_rel_error,copy,scatter,copy_scatter\n";
  for (const Result& result : results) {
    if (result.status != Result::Status::measured) continue;
    const Shape& shape = result.point.shape;
    out << result.point.table << "," << to_string(result.point.dtype) << ","
        << result.point.algorithm << "," << shape.extents_text() << ","
        << (shape.layout == Layout::right ? "right" : "left") << "," << shape.axis << ","
        << shape.rows() << "," << shape.columns() << "," << result.point.bytes() << ","
        << formatted("%.6e,%.6g,%.6g,%.4f,%.2e,", result.seconds, result.gigabytes_per_second(),
                     result.copy_gigabytes_per_second(), result.copy_ratio(), result.error)
        << result.copy << formatted(",%.3f,%.3f\n", result.scatter, result.copy_scatter);
  }
}

std::vector<std::filesystem::path> write_tables(const std::filesystem::path& json,
                                                const std::vector<Result>& results) {
  std::filesystem::path text = json, csv = json;
  text.replace_extension(".txt");
  csv.replace_extension(".csv");
  std::ofstream text_file(text), csv_file(csv);
  print_table(text_file, results);
  print_csv(csv_file, results);
  text_file.close();
  csv_file.close();
  if (!text_file || !csv_file)
    throw std::runtime_error("the tables " + text.string() + " and " + csv.string() +
                             " could not be written");
  return {text, csv};
}

}  // namespace KokkosSoftmaxSweep
