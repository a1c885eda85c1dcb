// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_REPORT_HPP
#define KOKKOSSOFTMAXSWEEP_REPORT_HPP

#include <KokkosSoftmaxSweep_Point.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <algorithm>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// The result of a point.
struct Result {
  enum class Status {
    measured,
    skipped,  ///< the algorithm doesn't support the shape
    failed    ///< the result is wrong, or the run ended in an exception
  };

  Point point;
  Status status = Status::failed;
  std::string message = {};  ///< if not measured
  double seconds = 0;        ///< of one launch: time_of() its batches
  double scatter = 1;        ///< of these batches
  std::string copy = {};     ///< the fastest way to copy the same bytes
  double copy_seconds = 0;   ///< its time
  double copy_scatter = 1;   ///< of its batches
  std::string copies = {};   ///< the rates of all ways to copy, for human readers
  double error = 0;          ///< largest relative error of the sampled rows

  double gigabytes_per_second() const { return 1e-9 * point.bytes() / seconds; }
  double copy_gigabytes_per_second() const { return 1e-9 * point.bytes() / copy_seconds; }
  double copy_ratio() const { return copy_seconds / seconds; }

  /// Something disturbed the measurement, so that neither the time nor the ratio is reliable.
  bool scatters() const { return std::max(scatter, copy_scatter) > most_scatter; }
};

/// For example "12.3 us    1234.5 GB/s  0.97 of copy", with a * if it scatters; or the reason why
/// there is no time.
std::string summary(const Result& result);

/// One line per result. If some of them scatter, a line below says so.
void print_table(std::ostream& out, const std::vector<Result>& results);
void print_csv(std::ostream& out, const std::vector<Result>& results);

/// Writes the table next to the JSON, as .txt and .csv. Returns their paths.
std::vector<std::filesystem::path> write_tables(const std::filesystem::path& json,
                                                const std::vector<Result>& results);

}  // namespace KokkosSoftmaxSweep

#endif
