// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_RECORD_HPP
#define KOKKOSSOFTMAXTUNE_RECORD_HPP

#include <KokkosSoftmaxTune_Point.hpp>
#include <filesystem>
#include <fstream>
#include <map>

namespace KokkosSoftmaxTune {

/// Every measurement, in a CSV file to which each is appended once it is made.
class Record {
 public:
  /// Begins a file, or with `resume` goes on with the one that is there. `machine` is its first
  /// line; throws std::invalid_argument where it was made on another.
  Record(const std::filesystem::path& path, const std::string& machine, bool resume);

  /// Null where it hasn't been measured.
  const Measurement* find(const Job& job) const;

  void add(const Job& job, const Measurement& measurement);

 private:
  void read(const std::filesystem::path& path, const std::string& machine);
  void write(const std::string& key, const Measurement& measurement);

  std::map<std::string, Measurement> m_measurements;  ///< by Job::key
  std::ofstream m_file;
};

}  // namespace KokkosSoftmaxTune

#endif
