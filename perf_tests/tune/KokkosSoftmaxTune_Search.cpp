// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <Compiled.hpp>
#include <KokkosSoftmaxSweep_Reference.hpp>
#include <KokkosSoftmaxSweep_Timing.hpp>
#include <KokkosSoftmaxTune_Search.hpp>
#include <algorithm>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <iostream>
#include <limits>

namespace KokkosSoftmaxTune {
namespace {

using KokkosSoftmax::Algorithm;
using KokkosSoftmax::Options;
using KokkosSoftmaxSweep::Shape;
namespace Impl = KokkosSoftmax::Impl;

constexpr bool one_value_a_row(Operation operation) { return operation == Operation::logsumexp; }

/// The distance of the parts of the memory; a multiple of any alignment.
std::int64_t padded_elements(const Point& point) { return (point.elements() + 63) / 64 * 64; }

Shape shape_of_x(const Point& point) {
  return {point.axis == 1 ? std::vector{point.rows, point.columns}
                          : std::vector{point.columns, point.rows},
          point.axis, KokkosSoftmaxSweep::Layout::right};
}

/// Tables hold some algorithms for strided rows and everything else for contiguous ones.
bool is_eligible(const Schedule& schedule, const Point& point) {
  return KokkosSoftmax::Impl::has_row_in_each_lane(schedule.algorithm) == (point.axis == 0);
}

template <Operation operation, class T>
double error_of(const std::vector<T>& x, const std::vector<T>& y) {
  if constexpr (operation == Operation::softmax)
    return KokkosSoftmaxSweep::softmax_error(x, y);
  else if constexpr (operation == Operation::log_softmax)
    return KokkosSoftmaxSweep::log_softmax_error(x, y);
  else
    return KokkosSoftmaxSweep::logsumexp_error(x, y[0]);
}

/// function(operation, T()) of a point.
template <class Function>
auto with_types(const Point& point, const Function& function) {
  return with_operation(point.operation, [&](auto operation) {
    return KokkosSoftmaxSweep::with_type(point.dtype,
                                         [&](auto zero) { return function(operation, zero); });
  });
}

}  // namespace

Search::Search(const Flags& flags) : m_flags(flags), m_points(choose_points(flags)) {}

Search::~Search() = default;

std::vector<Job> Search::jobs() {
  std::vector<Job> all;
  for (const Point& point : m_points) {
    const std::vector<Job> more = with_types(point, [&](auto operation, auto zero) {
      return jobs_of<operation.value, decltype(zero)>(point);
    });
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

Measurement Search::measure(const Job& job) {
  return with_types(job.point, [&](auto operation, auto zero) {
    try {
      return measured<operation.value, decltype(zero)>(job);
    } catch (const std::exception& error) {
      std::cerr << "FAILED: " << error.what() << "\n";
      return Measurement{};
    }
  });
}

template <Operation operation, class T>
std::vector<Job> Search::jobs_of(const Point& point) {
  std::vector<Job> jobs;
  const auto schedules = Impl::compiled_schedules<operation, Exec, Impl::ValueTypes<T>>();
  const auto rows = problem<operation, T>(point, 0);
  const int taken = Impl::choose<operation>(m_exec, rows, Options{}).candidate;
  for (int c = 0; c < static_cast<int>(schedules.size()); ++c)
    if (is_eligible(schedules[c], point) &&
        Impl::serves<operation>(m_exec, rows, Options{}, {.candidate = c}))
      jobs.push_back({point, c, schedules[c], c == taken});
  return jobs;
}

template <Operation operation, class T>
Measurement Search::measured(const Job& job) {
  const Impl::Choice choice{.candidate = job.candidate};
  const Options options;
  bench<T>().poison_y(job.point.elements());
  Impl::launch<operation>(m_exec, problem<operation, T>(job.point, 0), options, choice);
  m_exec.fence();
  if (!is_right<operation, T>(job.point)) return {Measurement::Status::wrong};
  std::int64_t slot = 0;
  const double seconds = timed(job.point, [&] {
    slot = (slot + 1) % slots(job.point);
    Impl::launch<operation>(m_exec, problem<operation, T>(job.point, slot), options, choice);
  });
  return {Measurement::Status::right, seconds};
}

template <class Launch>
double Search::timed(const Point& point, const Launch& launch) {
  constexpr double hopeless = 8;  // times slower than the best: once is enough
  double& best =
      m_best.try_emplace(point.name(), std::numeric_limits<double>::infinity()).first->second;
  const double once = KokkosSoftmaxSweep::seconds_of(m_exec, launch, 1);
  const double seconds =
      once > hopeless * best ? once : KokkosSoftmaxSweep::median_seconds(m_exec, launch);
  best = std::min(best, seconds);
  return seconds;
}

template <Operation operation, class T>
bool Search::is_right(const Point& point) {
  const Shape x = shape_of_x(point);
  const Shape y = one_value_a_row(operation) ? KokkosSoftmaxSweep::rows_of({point.rows, 1}) : x;
  for (const std::int64_t row : KokkosSoftmaxSweep::sampled_rows(point.rows)) {
    const double error =
        error_of<operation>(bench<T>().row_of_x(x, row), bench<T>().row_of_y(y, row));
    if (!(error <= KokkosSoftmaxSweep::error_bound<T>(point.columns))) return false;
  }
  return true;
}

template <class T>
Search::Bench<T>& Search::bench() {
  if constexpr (std::is_same_v<T, float>) {
    if (!m_float) m_float = std::make_unique<Bench<T>>(m_exec, most_elements(DType::float32));
    return *m_float;
  } else {
    if (!m_double) m_double = std::make_unique<Bench<T>>(m_exec, most_elements(DType::float64));
    return *m_double;
  }
}

template <Operation operation, class T>
Search::Problem<T> Search::problem(const Point& point, std::int64_t slot) {
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using Matrix = Kokkos::View<const T**, Kokkos::LayoutRight, Exec, Unmanaged>;
  using Output = std::conditional_t<one_value_a_row(operation), Kokkos::View<T*, Exec, Unmanaged>,
                                    Kokkos::View<T**, Kokkos::LayoutRight, Exec, Unmanaged>>;
  const std::int64_t offset = slot * padded_elements(point);
  const auto extents = shape_of_x(point).extents;
  const Matrix x(bench<T>().x() + offset, extents[0], extents[1]);
  if constexpr (one_value_a_row(operation))
    return Impl::make_row_problem(Impl::strided_array(x),
                                  Impl::strided_array(Output(bench<T>().y() + offset, point.rows)),
                                  point.axis);
  else
    return Impl::make_row_problem(
        Impl::strided_array(x),
        Impl::strided_array(Output(bench<T>().y() + offset, extents[0], extents[1])), point.axis);
}

std::int64_t Search::slots(const Point& point) const {
  const double bytes = static_cast<double>(padded_elements(point) * size_of(point.dtype));
  return std::max<std::int64_t>(
      1, static_cast<std::int64_t>(m_flags.working_set_mib * (1 << 20) / bytes));
}

std::int64_t Search::most_elements(DType dtype) const {
  std::int64_t most = 0;
  for (const Point& point : m_points)
    if (point.dtype == dtype) most = std::max(most, slots(point) * padded_elements(point));
  return most;
}

}  // namespace KokkosSoftmaxTune
