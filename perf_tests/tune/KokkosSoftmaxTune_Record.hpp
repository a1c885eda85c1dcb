// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_RECORD_HPP
#define KOKKOSSOFTMAXTUNE_RECORD_HPP

#include <KokkosSoftmaxTune_Point.hpp>
#include <filesystem>
#include <fstream>
#include <map>

namespace KokkosSoftmaxTune {

/// All measurements, in a CSV file. Each is appended when it has been made.
class Record {
 public:
  /// Begins a file, or, with `resume`, continues the existing one. `machine` is its first line.
  /// Throws std::invalid_argument if the file is of another machine.
  Record(const std::filesystem::path& path, const std::string& machine, bool resume);

  /// Null if it hasn't been measured.
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
