// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Machine.hpp>
#include <KokkosSoftmaxTune_Record.hpp>
#include <KokkosSoftmaxTune_Search.hpp>
#include <KokkosSoftmaxTune_Table.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <cstdio>
#include <dispatch/Compiled.hpp>
#include <iostream>
#include <string_view>

namespace KokkosSoftmaxTune {
namespace {

void print_list() {
  for (const auto& part : KokkosSoftmax::Impl::compiled())
    for (const Schedule& schedule : part.schedules())
      std::cout << part.space << " " << to_string(part.operation) << " " << part.types << " "
                << schedule << "\n";
}

std::string machine_text() {
  const auto machine = KokkosSoftmaxSweep::this_machine();
  return "kokkossoftmax_tune " KOKKOSSOFTMAX_TUNE_VERSION ", " + machine.backend + " on " +
         machine.device + ", Kokkos " + machine.kokkos_version;
}

std::string duration_text(double seconds) {
  char text[64];
  const int whole = static_cast<int>(seconds);
  std::snprintf(text, sizeof(text), "%d:%02d:%02d", whole / 3600, whole / 60 % 60, whole % 60);
  return text;
}

/// "[12/340, 0:01:30 left] ", estimated from the time that the jobs of this run have taken.
class Progress {
 public:
  explicit Progress(std::size_t count) : m_count(count) {}

  std::string next() {
    std::ostringstream text;
    text << "[" << m_done + 1 << "/" << m_count << ", ";
    if (m_done == 0)
      text << "?";
    else
      text << duration_text(m_timer.seconds() / static_cast<double>(m_done) *
                            static_cast<double>(m_count - m_done));
    ++m_done;
    text << " left] ";
    return text.str();
  }

 private:
  std::size_t m_count, m_done = 0;
  Kokkos::Timer m_timer;
};

/// Measures what the record doesn't have. Returns how many measurements remain.
std::size_t measure_all(Search& search, const std::vector<Job>& jobs, Record& record,
                        std::size_t stop_after) {
  std::vector<Job> to_do;
  std::copy_if(jobs.begin(), jobs.end(), std::back_inserter(to_do),
               [&](const Job& job) { return record.find(job) == nullptr; });
  std::cout << jobs.size() << " measurements, " << jobs.size() - to_do.size() << " made before\n"
            << std::flush;
  const std::size_t count = stop_after == 0 ? to_do.size() : std::min(stop_after, to_do.size());
  Progress progress(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::cerr << progress.next() << to_do[i].key() << " " << std::flush;
    const Measurement measurement = search.measure(to_do[i]);
    record.add(to_do[i], measurement);
    if (measurement.status == Measurement::Status::right)
      std::cerr << 1e6 * measurement.seconds << " us\n";
    else
      std::cerr << to_string(measurement.status) << "\n";
  }
  return to_do.size() - count;
}

void save_table(const Flags& flags, const std::vector<Job>& jobs, const Record& record) {
  std::ofstream file(flags.output);
  file << "# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception\n# " << machine_text()
       << "\n# operation  type  columns  rows  schedule\n";
  write_table(file, jobs, record, flags.margin);
  if (!file.flush()) throw std::runtime_error(flags.output.string() + " can't be written");
  std::cout << "table:        " << flags.output.string() << "\n";
}

/// The number of results that were not right.
std::ptrdiff_t count_bad(const std::vector<Job>& jobs, const Record& record) {
  return std::count_if(jobs.begin(), jobs.end(), [&](const Job& job) {
    const Measurement* m = record.find(job);
    return m != nullptr && m->status != Measurement::Status::right;
  });
}

int tune(int argc, char** argv) {
  const Flags flags = parse_flags(argc, argv, KokkosSoftmaxSweep::this_machine().on_host);
  if (flags.list) {
    print_list();
    return 0;
  }
  if (flags.output.has_parent_path())
    std::filesystem::create_directories(flags.output.parent_path());
  std::cout << machine_text() << "\n" << std::flush;
  Record record(flags.record(), machine_text(), flags.resume);
  Search search(flags);
  const std::vector<Job> jobs = search.jobs();
  const std::size_t left = measure_all(search, jobs, record, flags.stop_after);
  std::cout << "measurements: " << flags.record().string() << "\n";
  const std::ptrdiff_t bad = count_bad(jobs, record);
  if (bad > 0) std::cout << bad << " schedules gave a WRONG result or failed\n";
  if (left > 0)
    std::cout << left << " measurements are left: go on with --resume\n";
  else
    save_table(flags, jobs, record);
  return bad > 0 ? 1 : 0;
}

}  // namespace
}  // namespace KokkosSoftmaxTune

int main(int argc, char** argv) {
  // Before Kokkos, which would print its own help and continue.
  if (std::any_of(argv, argv + argc, [](std::string_view text) { return text == "--help"; })) {
    std::cout << KokkosSoftmaxTune::help_text();
    return 0;
  }
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return KokkosSoftmaxTune::tune(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}
