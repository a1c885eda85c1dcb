// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <benchmark/benchmark.h>

#include <KokkosSoftmaxSweep_Reference.hpp>
#include <KokkosSoftmaxSweep_Runner.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace KokkosSoftmaxSweep {
namespace {

void set_counters(benchmark::State& state, const Result& result) {
  state.counters["M"] = static_cast<double>(result.point.shape.rows());
  state.counters["N"] = static_cast<double>(result.point.shape.columns());
  state.counters["bytes"] = static_cast<double>(result.point.bytes());
  state.counters["GB_per_s"] = result.gigabytes_per_second();
  state.counters["copy_GB_per_s"] = result.copy_gigabytes_per_second();
  state.counters["copy_ratio"] = result.copy_ratio();
  state.counters["max_rel_error"] = result.error;
  state.counters["scatter"] = result.scatter;
  state.counters["copy_scatter"] = result.copy_scatter;
  state.SetLabel(result.copies);
}

}  // namespace

Runner::Runner(std::vector<Point> points, Rest rest)
    : m_rest(rest), m_points(std::move(points)), m_workbenches(rest) {}

Runner::~Runner() = default;

void Runner::run(benchmark::State& state, std::size_t number) {
  // Benchmark calls this function several times per point, to find the number of repetitions.
  if (number == m_results.size()) begin(number);
  Result& result = m_results.back();
  if (result.status == Result::Status::measured)
    with_type(result.point.dtype, [&](auto zero) { time_and_compare<decltype(zero)>(state); });
  if (result.status != Result::Status::measured) state.SkipWithError(summary(result).c_str());
}

void Runner::begin(std::size_t number) {
  m_launch = nullptr;  // frees what the previous point has allocated
  m_results.push_back({.point = m_points[number]});
  Result& result = m_results.back();
  std::cerr << "[" << number + 1 << "/" << m_points.size() << ", " << m_points.size() - number - 1
            << " left] " << result.point.name() << " " << std::flush;
  try {
    with_type(result.point.dtype, [&](auto zero) { prepare_and_check<decltype(zero)>(); });
  } catch (const std::invalid_argument& reason) {
    result.status = Result::Status::skipped;
    result.message = reason.what();
  } catch (const std::exception& reason) {
    result.status = Result::Status::failed;
    result.message = reason.what();
  }
}

template <class T>
Workbench<Runner::Exec, T>& Runner::workbench() {
  const DType dtype = std::is_same_v<T, float> ? DType::float32 : DType::float64;
  return m_workbenches.of<T>(m_exec, [&] { return most_elements(dtype); });
}

std::int64_t Runner::most_elements(DType dtype) const {
  std::int64_t most = 0;
  for (const Point& point : m_points)
    if (point.dtype == dtype) most = std::max(most, point.shape.elements());
  return most;
}

template <class T>
void Runner::prepare_and_check() {
  Result& result = m_results.back();
  const Shape& shape = result.point.shape;
  Workbench<Exec, T>& bench = workbench<T>();
  take_copies(bench.copy_times(shape.elements()));
  bench.poison_y(shape.elements());
  m_launch = prepare(result.point.algorithm, m_exec, shape, bench.x(), bench.y());
  m_launch();
  m_exec.fence();
  check<T>(bench);
  if (result.status != Result::Status::measured) return;
  m_checksum = bench.checksum_of_y(shape.elements());
  m_batch = batch_size(m_exec, m_launch);
  m_batches.clear();
  m_most_iterations = 0;
}

template <class T>
void Runner::check(const Workbench<Exec, T>& bench) {
  Result& result = m_results.back();
  const Shape& shape = result.point.shape;
  const double bound = error_bound<T>(shape.columns());
  for (const std::int64_t row : sampled_rows(shape.rows())) {
    const double error = softmax_error(bench.row_of_x(shape, row), bench.row_of_y(shape, row));
    result.error = std::max(result.error, error);
    if (error <= bound) continue;
    char text[128];
    std::snprintf(text, sizeof(text), "row %lld has a relative error of %.2e (bound %.2e)",
                  static_cast<long long>(row), error, bound);
    return fail(text);
  }
  result.status = Result::Status::measured;
}

void Runner::fail(const std::string& message) {
  m_results.back().status = Result::Status::failed;
  m_results.back().message = message;
}

template <class T>
void Runner::time_and_compare(benchmark::State& state) {
  Result& result = m_results.back();
  const std::int64_t elements = result.point.shape.elements();
  Workbench<Exec, T>& bench = workbench<T>();
  bench.poison_y(elements);
  time_batches(state);
  result.seconds = time_of<Exec>(m_batches);
  result.scatter = scatter(m_batches);
  const double difference = std::abs(bench.checksum_of_y(elements) / m_checksum - 1);
  if (!(difference <= error_bound<T>(result.point.shape.columns())))  // also if it is NaN
    return fail("what was timed isn't what was checked: the checksum of y differs");
  if (result.copy_ratio() > 1) take_copies(bench.copy_times_again(elements));
  set_counters(state, result);
}

/// Benchmark asks for more and more iterations until they take long enough. If repetitions are
/// wanted, it then asks for the same number again, as often as that. On a host all batches count,
/// except those of other repetitions.
void Runner::time_batches(benchmark::State& state) {
  if (!is_host<Exec> || state.max_iterations <= m_most_iterations) m_batches.clear();
  m_most_iterations = state.max_iterations;
  while (state.KeepRunningBatch(m_batch)) {
    const double seconds = time_batch();
    state.SetIterationTime(seconds * m_batch);
    m_batches.push_back(seconds);
  }
  double total = 0;
  for (const double seconds : m_batches) total += seconds * m_batch;
  while (wants_more<Exec>(m_batches.size(), total)) {
    m_batches.push_back(time_batch());
    total += m_batches.back() * m_batch;
  }
}

double Runner::time_batch() {
  rest_before(m_exec, m_launch, m_rest);
  return seconds_of(m_exec, m_launch, m_batch) / m_batch;
}

void Runner::take_copies(const std::vector<CopyTime>& copies) {
  Result& result = m_results.back();
  result.copy = copies.front().name;
  result.copy_seconds = copies.front().seconds;
  result.copy_scatter = copies.front().scatter;
  result.copies = "copies:";
  for (const CopyTime& copy : copies) {
    char text[64];
    std::snprintf(text, sizeof(text), " %s %.4g GB/s;", copy.name.c_str(),
                  1e-9 * result.point.bytes() / copy.seconds);
    result.copies += text;
  }
  result.copies.pop_back();
}

}  // namespace KokkosSoftmaxSweep
