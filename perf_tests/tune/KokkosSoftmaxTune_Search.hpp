// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_SEARCH_HPP
#define KOKKOSSOFTMAXTUNE_SEARCH_HPP

#include <KokkosSoftmaxSweep_Workbench.hpp>
#include <KokkosSoftmaxTune_Flags.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <map>
#include <memory>
#include <string>

namespace KokkosSoftmaxTune {

/// Measures schedules on Kokkos' default execution space.
class Search {
 public:
  using Exec = Kokkos::DefaultExecutionSpace;

  explicit Search(const Flags& flags);
  ~Search();

  /// Every point with every compiled schedule that serves it.
  std::vector<Job> jobs();

  /// Runs a schedule, checks its result and, where that is right, times it.
  Measurement measure(const Job& job);

 private:
  template <class T>
  using Problem = KokkosSoftmax::Impl::RowProblem<T, T>;
  template <class T>
  using Bench = KokkosSoftmaxSweep::Workbench<Exec, T>;

  template <Operation operation, class T>
  std::vector<Job> jobs_of(const Point& point);
  template <Operation operation, class T>
  Measurement measured(const Job& job);
  template <Operation operation, class T>
  bool is_right(const Point& point);

  template <class Launch>
  double timed(const Point& point, const Launch& launch);

  template <class T>
  Bench<T>& bench();

  /// The problem of a point in the part number `slot` of the memory.
  template <Operation operation, class T>
  Problem<T> problem(const Point& point, std::int64_t slot);
  std::int64_t slots(const Point& point) const;
  std::int64_t most_elements(DType dtype) const;

  Exec m_exec;
  Flags m_flags;
  std::vector<Point> m_points;
  std::map<std::string, double> m_best;  ///< seconds, by Point::name
  std::unique_ptr<Bench<float>> m_float;
  std::unique_ptr<Bench<double>> m_double;
};

}  // namespace KokkosSoftmaxTune

#endif
