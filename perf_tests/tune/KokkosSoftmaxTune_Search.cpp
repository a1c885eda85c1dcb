// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <KokkosSoftmaxSweep_Reference.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <KokkosSoftmaxTune_Search.hpp>
#include <algorithm>
#include <cmath>
#include <dispatch/Compiled.hpp>
#include <dispatch/KernelTypes.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <iostream>
#include <limits>
#include <utility>

namespace KokkosSoftmaxTune {
namespace {

using KokkosSoftmax::Options;
using KokkosSoftmaxSweep::Shape;
namespace Impl = KokkosSoftmax::Impl;

/// The parts of the memory begin at multiples of this, a multiple of any alignment.
std::int64_t padded_elements(const Point& point) { return (point.elements() + 63) / 64 * 64; }

Shape shape_of_x(const Point& point) {
  return {point.axis == 1 ? std::vector{point.rows, point.columns}
                          : std::vector{point.columns, point.rows},
          point.axis, KokkosSoftmaxSweep::Layout::right};
}

/// In tables, some algorithms are for strided rows, and all others for contiguous rows.
bool is_eligible(const Schedule& schedule, const Point& point) {
  return KokkosSoftmax::Impl::has_row_in_each_lane(schedule.algorithm) == (point.axis == 0);
}

/// A row in the type of the computation, which the host supports better than half types.
template <class T, class From>
std::vector<T> as(const std::vector<From>& row) {
  return std::vector<T>(row.begin(), row.end());
}

template <class T>
double smallest_normal() {
  return std::ldexp(1.0, Kokkos::Experimental::min_exponent_v<T> - 1);
}
template <class T>
double epsilon() {
  return std::ldexp(1.0, 1 - Kokkos::Experimental::digits_v<T>);
}

/// The error of a row of y of type Y.
template <Operation operation, class Y, class T>
double error_of(const std::vector<T>& x, const std::vector<T>& y) {
  if constexpr (operation == Operation::softmax)
    return KokkosSoftmaxSweep::softmax_error(x, y, smallest_normal<Y>());
  else if constexpr (operation == Operation::log_softmax)
    return KokkosSoftmaxSweep::log_softmax_error(x, y);
  else if constexpr (operation == Operation::logsumexp)
    return KokkosSoftmaxSweep::logsumexp_error(x, y[0]);
}

/// The error that is permitted: that of the computation, and one rounding to y.
template <class V>
double error_bound(std::int64_t columns) {
  return KokkosSoftmaxSweep::error_bound<typename V::Compute>(columns) + epsilon<typename V::Y>();
}

/// function(operation, ValueTypes) of a point.
template <class Function>
void with_operation_and_types(const Point& point, const Function& function) {
  with_operation(point.operation, [&](auto operation) {
    with_types(point.types, [&](auto types) { function(operation, types); });
  });
}

}  // namespace

Search::Search(const Flags& flags) : m_flags(flags), m_points(choose_points(flags)) {}

std::vector<Job> Search::jobs() {
  std::vector<Job> all;
  for (const Point& point : m_points)
    with_operation_and_types(point, [&](auto operation, auto types) {
      const std::vector<Job> more = jobs_of<operation.value, decltype(types)>(point);
      all.insert(all.end(), more.begin(), more.end());
    });
  return all;
}

Measurement Search::measure(const Job& job) {
  Measurement measurement;
  try {
    with_operation_and_types(job.point, [&](auto operation, auto types) {
      measurement = measured<operation.value, decltype(types)>(job);
    });
  } catch (const std::exception& error) {
    std::cerr << "FAILED: " << error.what() << "\n";
  }
  return measurement;
}

template <Operation operation, class V>
std::vector<Job> Search::jobs_of(const Point& point) {
  std::vector<Job> jobs;
  if (!std::is_same_v<Impl::KernelTypes<operation, V>, V>)
    return jobs;  // tables have no lines for V
  const auto schedules = Impl::compiled_schedules<operation, Exec, V>();
  const auto rows = problem<operation, V>(point, 0);
  const int taken = Impl::choose<operation>(m_exec, rows, Options{}).variant;
  for (int c = 0; c < static_cast<int>(schedules.size()); ++c)
    if ((m_flags.next > 0 || is_eligible(schedules[c], point)) && is_asked_for(schedules[c]) &&
        Impl::serves<operation>(m_exec, rows, Options{}, {.variant = c}))
      jobs.push_back({point, c, schedules[c], c == taken});
  return selected(std::move(jobs));
}

std::vector<Job> Search::selected(std::vector<Job> jobs) const {
  if (m_flags.next == 0) return jobs;
  const auto taken =
      std::find_if(jobs.begin(), jobs.end(), [](const Job& j) { return j.is_taken; });
  const auto count =
      std::min<std::ptrdiff_t>(jobs.end() - taken, static_cast<std::ptrdiff_t>(m_flags.next));
  return {taken, taken + count};
}

bool Search::is_asked_for(const Schedule& schedule) const {
  const auto& asked = m_flags.algorithms;
  return asked.empty() || std::find(asked.begin(), asked.end(), schedule.algorithm) != asked.end();
}

template <Operation operation, class V>
Measurement Search::measured(const Job& job) {
  const Impl::Choice choice{.variant = job.variant};
  const Options options;
  bench<typename V::Y>().poison_y(job.point.elements());
  Impl::launch<operation>(m_exec, problem<operation, V>(job.point, 0), options, choice);
  m_exec.fence();
  if (!is_right<operation, V>(job.point)) return {Measurement::Status::wrong};
  std::int64_t slot = 0;
  const double seconds = timed(job.point, [&] {
    slot = (slot + 1) % slots(job.point);
    Impl::launch<operation>(m_exec, problem<operation, V>(job.point, slot), options, choice);
  });
  return {Measurement::Status::right, seconds};
}

template <class Launch>
double Search::timed(const Point& point, const Launch& launch) {
  constexpr double hopeless = 8;  // a schedule so many times slower than the best one is timed once
  double& best =
      m_best.try_emplace(point.name(), std::numeric_limits<double>::infinity()).first->second;
  const double once = KokkosSoftmaxSweep::seconds_of(m_exec, launch, 1);
  const double seconds =
      once > hopeless * best ? once : KokkosSoftmaxSweep::median_seconds(m_exec, launch);
  best = std::min(best, seconds);
  return seconds;
}

template <Operation operation, class V>
bool Search::is_right(const Point& point) {
  const Shape x = shape_of_x(point);
  const Shape y = one_value_per_row(operation) ? KokkosSoftmaxSweep::rows_of({point.rows, 1}) : x;
  using T = typename V::Compute;
  using Y = typename V::Y;
  for (const std::int64_t row : KokkosSoftmaxSweep::sampled_rows(point.rows)) {
    const auto x_row = as<T>(bench<typename V::X>().row_of_x(x, row));
    const auto y_row = as<T>(bench<Y>().row_of_y(y, row));
    if (!(error_of<operation, Y>(x_row, y_row) <= error_bound<V>(point.columns))) return false;
  }
  return true;
}

template <class T>
KokkosSoftmaxSweep::Workbench<Search::Exec, T>& Search::bench() {
  return m_workbenches.of<T>(m_exec, [&] { return most_elements<T>(); });
}

template <class T>
std::int64_t Search::most_elements() const {
  std::int64_t most = 0;
  for (const Point& point : m_points)
    with_types(point.types, [&]<class V>(V) {
      if (std::is_same_v<typename V::X, T> || std::is_same_v<typename V::Y, T>)
        most = std::max(most, slots(point) * padded_elements(point));
    });
  return most;
}

template <Operation operation, class V>
Search::Problem<V> Search::problem(const Point& point, std::int64_t slot) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using X = typename V::X;
  using Y = typename V::Y;
  using Matrix = Kokkos::View<const X**, Kokkos::LayoutRight, Exec, Unmanaged>;
  using Output = std::conditional_t<one_value_per_row(operation), Kokkos::View<Y*, Exec, Unmanaged>,
                                    Kokkos::View<Y**, Kokkos::LayoutRight, Exec, Unmanaged>>;
  const std::int64_t offset = slot * padded_elements(point);
  const auto extents = shape_of_x(point).extents;
  const Matrix x(bench<X>().x() + offset, extents[0], extents[1]);
  if constexpr (one_value_per_row(operation))
    return Impl::make_row_problem(Impl::strided_array(x),
                                  Impl::strided_array(Output(bench<Y>().y() + offset, point.rows)),
                                  point.axis);
  else
    return Impl::make_row_problem(
        Impl::strided_array(x),
        Impl::strided_array(Output(bench<Y>().y() + offset, extents[0], extents[1])), point.axis);
}

std::int64_t Search::slots(const Point& point) const {
  const double bytes = static_cast<double>(padded_elements(point) * size_of_x(point.types));
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(m_flags.working_set_mib * (1 << 20) / bytes));
}

}  // namespace KokkosSoftmaxTune
