// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <benchmark/benchmark.h>

#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <KokkosSoftmaxSweep_Flags.hpp>
#include <KokkosSoftmaxSweep_HostThreads.hpp>
#include <KokkosSoftmaxSweep_Machine.hpp>
#include <KokkosSoftmaxSweep_Runner.hpp>
#include <Kokkos_Core.hpp>
#include <algorithm>
#include <iostream>
#include <stdexcept>
#include <string_view>

namespace KokkosSoftmaxSweep {
namespace {

/// Completes the progress line of a point; the table is printed at the end.
class ProgressReporter : public benchmark::BenchmarkReporter {
 public:
  explicit ProgressReporter(const Runner& runner) : m_runner(runner) {}
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    const bool aggregates = !runs.empty() && runs[0].run_type == Run::RT_Aggregate;
    if (!aggregates) std::cerr << summary(m_runner.results().back()) << "\n";
  }

 private:
  const Runner& m_runner;
};

void add_context(const Machine& machine, const Flags& flags) {
  benchmark::AddCustomContext("backend", machine.backend);
  benchmark::AddCustomContext("device", machine.device);
  benchmark::AddCustomContext("kokkos_version", machine.kokkos_version);
  benchmark::AddCustomContext("kokkossoftmax_version", KOKKOSSOFTMAX_SWEEP_VERSION);
  benchmark::AddCustomContext("time", machine.on_host ? "fastest batch" : "median batch");
  benchmark::AddCustomContext("host_threads", host_thread_settings());
  benchmark::AddCustomContext("rest_ms", std::to_string(flags.rest_ms));
}

/// Passes Benchmark its flags. Returns false if Benchmark doesn't know one of them. Benchmark keeps
/// `program` until the end.
bool initialize_benchmark(char* program, const Flags& flags) {
  std::vector<std::string> texts = flags.for_benchmark;
  texts.push_back("--benchmark_out=" + flags.out.string());
  std::vector<char*> arguments = {program};
  for (std::string& text : texts) arguments.push_back(text.data());
  int count = static_cast<int>(arguments.size());
  benchmark::Initialize(&count, arguments.data());
  return !benchmark::ReportUnrecognizedArguments(count, arguments.data());
}

void register_benchmarks(Runner& runner) {
  for (std::size_t number = 0; number < runner.points().size(); ++number)
    benchmark::RegisterBenchmark(
        runner.points()[number].name().c_str(),
        [&runner, number](benchmark::State& state) { runner.run(state, number); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond);
}

std::string choice_text(const Point& point) {
  return with_type(point.dtype, [&](auto zero) {
    try {
      return choice<Kokkos::DefaultExecutionSpace, decltype(zero)>(point.algorithm, {},
                                                                   point.shape);
    } catch (const std::invalid_argument& reason) {
      return "skipped: " + std::string(reason.what());
    }
  });
}

void print_list(const std::vector<Point>& points) {
  for (const Point& point : points)
    std::cout << point.name() << "  " << point.bytes() << " bytes  " << choice_text(point) << "\n";
  std::cout << points.size() << " points\n";
}

void print_start(const Machine& machine, const Flags& flags, std::size_t points) {
  std::cout << "KokkosSoftmax sweep, " << points << " points, " << machine.backend << " on "
            << machine.device << ", Kokkos " << machine.kokkos_version << "\n";
  if (flags.points == PointSet::host && flags.shapes.empty())
    std::cout << "Fewer points than the full tables (--points=full has them all).\n";
  if (machine.on_host) {
    const std::string settings = host_thread_settings();
    std::cout << "Times are those of the fastest batch" << (settings.empty() ? "" : "; ")
              << settings << ".\n";
  }
  std::cout << std::flush;
}

int report(const Flags& flags, const std::vector<Result>& results) {
  std::cout << "\n";
  print_table(std::cout, results);
  const auto paths = write_tables(flags.out, results);
  std::cout << "\nresults: " << flags.out.string();
  for (const auto& path : paths) std::cout << "\ntable:   " << path.string();
  const auto failed = std::count_if(results.begin(), results.end(), [](const Result& result) {
    return result.status == Result::Status::failed;
  });
  if (failed > 0) std::cout << "\n" << failed << " points FAILED, see the table";
  std::cout << std::endl;
  return failed > 0 ? 1 : 0;
}

int sweep(int argc, char** argv) {
  const Machine machine = this_machine();
  const Flags flags = parse_flags(argc, argv, machine.on_host);
  Runner runner(choose_points(flags), std::chrono::duration<double, std::milli>(flags.rest_ms));
  if (flags.list) {
    print_list(runner.points());
    return 0;
  }
  if (runner.points().empty())
    throw std::invalid_argument("no points are left: --list shows what flags choose");
  if (flags.out.has_parent_path()) std::filesystem::create_directories(flags.out.parent_path());
  if (!initialize_benchmark(argv[0], flags)) return 2;
  add_context(machine, flags);
  print_start(machine, flags, runner.points().size());
  register_benchmarks(runner);
  ProgressReporter reporter(runner);
  benchmark::RunSpecifiedBenchmarks(&reporter);
  const int status = report(flags, runner.results());
  benchmark::Shutdown();
  return status;
}

}  // namespace
}  // namespace KokkosSoftmaxSweep

int main(int argc, char** argv) {
  // Before Kokkos, which would print its own help and continue.
  if (std::any_of(argv, argv + argc, [](std::string_view text) { return text == "--help"; })) {
    std::cout << KokkosSoftmaxSweep::help_text();
    return 0;
  }
  KokkosSoftmaxSweep::set_up_host_threads(argv);
  const Kokkos::ScopeGuard kokkos(argc, argv);
  try {
    return KokkosSoftmaxSweep::sweep(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << argv[0] << ": " << error.what() << "\n";
    return 2;
  }
}
