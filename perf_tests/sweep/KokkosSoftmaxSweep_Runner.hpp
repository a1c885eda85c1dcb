// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_RUNNER_HPP
#define KOKKOSSOFTMAXSWEEP_RUNNER_HPP

#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <KokkosSoftmaxSweep_Report.hpp>
#include <KokkosSoftmaxSweep_Workbench.hpp>
#include <vector>

namespace benchmark {
class State;
}

namespace KokkosSoftmaxSweep {

/// Runs points one after the other in Benchmark's loops. It prepares each point and checks it
/// against a reference once, times it as often as Benchmark asks, compares what the timed launches
/// wrote with the checked result, and keeps the result.
class Runner {
 public:
  Runner(std::vector<Point> points, Rest rest);
  ~Runner();

  /// The body of the benchmark of point `number`.
  void run(benchmark::State& state, std::size_t number);

  const std::vector<Point>& points() const { return m_points; }
  const std::vector<Result>& results() const { return m_results; }

 private:
  using Exec = Kokkos::DefaultExecutionSpace;

  template <class T>
  Workbench<Exec, T>& workbench();
  std::int64_t most_elements(DType dtype) const;

  void begin(std::size_t number);
  template <class T>
  void prepare_and_check();
  template <class T>
  void check(const Workbench<Exec, T>& bench);
  template <class T>
  void time_and_compare(benchmark::State& state);
  void time_batches(benchmark::State& state);
  double time_batch();
  void take_copies(const std::vector<CopyTime>& copies);
  void fail(const std::string& message);

  Exec m_exec;
  Rest m_rest;
  std::vector<Point> m_points;
  std::vector<Result> m_results;  ///< of the points begun so far

  // of the point that runs now, the last of m_results
  Launch m_launch;
  int m_batch = 1;
  double m_checksum = 0;               ///< of the result that was checked
  std::vector<double> m_batches;       ///< seconds of one launch in each
  std::int64_t m_most_iterations = 0;  ///< the number that Benchmark asked for when they were timed

  Workbenches<Exec> m_workbenches;
};

}  // namespace KokkosSoftmaxSweep

#endif
