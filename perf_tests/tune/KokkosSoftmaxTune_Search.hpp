// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXTUNE_SEARCH_HPP
#define KOKKOSSOFTMAXTUNE_SEARCH_HPP

#include <KokkosSoftmaxSweep_Workbench.hpp>
#include <KokkosSoftmaxTune_Flags.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <map>
#include <string>

namespace KokkosSoftmaxTune {

/// Measures schedules on Kokkos' default execution space.
class Search {
 public:
  using Exec = Kokkos::DefaultExecutionSpace;

  explicit Search(const Flags& flags);

  /// Every point with every compiled schedule that can run it.
  std::vector<Job> jobs();

  /// Runs a schedule, checks its result and, if that is right, times it.
  Measurement measure(const Job& job);

 private:
  // V: ValueTypes
  template <class V>
  using Problem = KokkosSoftmax::Impl::RowProblem<typename V::X, typename V::Y>;

  bool is_asked_for(const Schedule& schedule) const;

  /// The jobs of a point that --next selects.
  std::vector<Job> selected(std::vector<Job> jobs) const;

  template <Operation operation, class V>
  std::vector<Job> jobs_of(const Point& point);
  template <Operation operation, class V>
  Measurement measured(const Job& job);
  template <Operation operation, class V>
  bool is_right(const Point& point);

  template <class Launch>
  double timed(const Point& point, const Launch& launch);

  /// The memory of entries of type T.
  template <class T>
  KokkosSoftmaxSweep::Workbench<Exec, T>& bench();
  template <class T>
  std::int64_t most_elements() const;

  /// The problem of a point, in part number `slot` of the memory.
  template <Operation operation, class V>
  Problem<V> problem(const Point& point, std::int64_t slot);
  std::int64_t slots(const Point& point) const;

  Exec m_exec;
  Flags m_flags;
  std::vector<Point> m_points;
  std::map<std::string, double> m_best;  ///< seconds, by Point::name
  KokkosSoftmaxSweep::Workbenches<Exec> m_workbenches;
};

}  // namespace KokkosSoftmaxTune

#endif
