// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxTune_Record.hpp>
#include <iomanip>
#include <optional>
#include <stdexcept>

namespace KokkosSoftmaxTune {
namespace {

std::optional<Measurement::Status> status_named(const std::string& name) {
  using enum Measurement::Status;
  for (const auto status : {right, wrong, failed})
    if (to_string(status) == name) return status;
  return std::nullopt;
}

}  // namespace

Record::Record(const std::filesystem::path& path, const std::string& machine, bool resume) {
  if (resume) read(path, machine);
  // The file is rewritten, because the last line of an interrupted search may be incomplete.
  m_file.open(path);
  m_file << "# " << machine << "\noperation,type,axis,rows,columns,schedule,seconds,result\n";
  for (const auto& [key, measurement] : m_measurements) write(key, measurement);
  if (!m_file) throw std::runtime_error(path.string() + " can't be written");
}

void Record::read(const std::filesystem::path& path, const std::string& machine) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line)) return;
  if (line != "# " + machine)
    throw std::invalid_argument(path.string() + " can't be resumed (it begins with \"" + line +
                                "\" and this is \"" + machine + "\"): give another --output");
  while (std::getline(file, line)) {
    const std::size_t quote = line.rfind("\",");
    const std::size_t comma = line.rfind(',');
    if (quote == std::string::npos || comma <= quote + 2 || file.eof()) continue;
    const auto status = status_named(line.substr(comma + 1));
    if (status)
      m_measurements[line.substr(0, quote + 1)] = {*status, std::stod(line.substr(quote + 2))};
  }
}

const Measurement* Record::find(const Job& job) const {
  const auto found = m_measurements.find(job.key());
  return found == m_measurements.end() ? nullptr : &found->second;
}

void Record::add(const Job& job, const Measurement& measurement) {
  const std::string key = job.key();
  m_measurements[key] = measurement;
  write(key, measurement);
  if (!m_file.flush()) throw std::runtime_error("the record can't be written");
}

void Record::write(const std::string& key, const Measurement& measurement) {
  m_file << key << "," << std::setprecision(9) << measurement.seconds << ","
         << to_string(measurement.status) << "\n";
}

}  // namespace KokkosSoftmaxTune
