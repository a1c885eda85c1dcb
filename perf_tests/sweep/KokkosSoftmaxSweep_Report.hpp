// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_REPORT_HPP
#define KOKKOSSOFTMAXSWEEP_REPORT_HPP

#include <KokkosSoftmaxSweep_Point.hpp>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// What came of a point.
struct Result {
  enum class Status {
    measured,
    skipped,  ///< the algorithm does not serve the shape
    failed    ///< the result is wrong, or the run ended in an exception
  };

  Point point;
  Status status = Status::failed;
  std::string message = {};  ///< where not measured
  double seconds = 0;        ///< of one launch, in the median batch
  double copy_seconds = 0;   ///< to copy the same bytes
  double error = 0;          ///< largest relative error of the sampled rows

  double gigabytes_per_second() const { return 1e-9 * point.bytes() / seconds; }
  double copy_gigabytes_per_second() const { return 1e-9 * point.bytes() / copy_seconds; }
  double copy_ratio() const { return copy_seconds / seconds; }
};

/// For example "12.3 us    1234.5 GB/s  0.97 of copy", or why there is none.
std::string summary(const Result& result);

void print_table(std::ostream& out, const std::vector<Result>& results);
void print_csv(std::ostream& out, const std::vector<Result>& results);

/// Writes the table beside the JSON, as .txt and .csv; returns their paths.
std::vector<std::filesystem::path> write_tables(const std::filesystem::path& json,
                                                const std::vector<Result>& results);

}  // namespace KokkosSoftmaxSweep

#endif
