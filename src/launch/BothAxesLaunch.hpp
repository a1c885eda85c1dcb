// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP

/// \file
/// Launches logsumexp along both axes: a kernel that reads the matrix, and one that merges the
/// states that it has written.

#include <backend/Hardware.hpp>
#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/TeamLimits.hpp>
#include <row/Chunk.hpp>
#include <schedules/HostBothAxes.hpp>
#include <schedules/both_axes/Merge.hpp>
#include <schedules/both_axes/Panels.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// The labels of the kernels, made once because a call allocates no memory.
struct BothAxesLabels {
  std::string panels = "KokkosSoftmax::logsumexp_both_axes[panels]";
  std::string merge = "KokkosSoftmax::logsumexp_both_axes[merge]";
  std::string empty = "KokkosSoftmax::logsumexp_both_axes[empty]";

  static const BothAxesLabels& get() {
    static const BothAxesLabels labels;
    return labels;
  }
};

/// The result of lines without entries.
template <class T>
struct BothAxesEmptyKernel {
  T* to;
  std::int64_t stride;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t i) const {
    to[i * stride] = -Kokkos::Experimental::infinity_v<T>;
  }
};

template <class Exec, class X>
void launch_both_axes_empty(const Exec& exec, const BothAxesProblem<X>& problem) {
  using Kernel = BothAxesEmptyKernel<typename BothAxesProblem<X>::T>;
  const bool has_rows = problem.rows > 0;
  Kokkos::parallel_for(BothAxesLabels::get().empty,
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(
                           exec, 0, has_rows ? problem.rows : problem.columns),
                       Kernel{has_rows ? problem.of_rows : problem.of_columns,
                              has_rows ? problem.of_rows_stride : problem.of_columns_stride});
}

template <class Exec, class V>
void launch_both_axes_on_host(const Exec& exec, const BothAxesProblem<typename V::X>& problem,
                              double scale) {
  const HostBothAxesPlan plan(problem.rows, problem.columns);
  const auto lease = QueueMemory<Exec>::singleton().lease(
      exec, HostBothAxesStates<typename V::Compute>::bytes(plan));
  const HostBothAxes<V> work(problem, scale, plan, lease.data());
  launch_host_blocks(exec, BothAxesLabels::get().panels, HostBothAxesParts<V>(work));
  launch_host_blocks(exec, BothAxesLabels::get().merge, HostBothAxesMerge<V>(work));
}

/// The shapes of the kernels: 8 columns per lane. Doubles have registers for one row that is loaded
/// while another one is computed.
template <class V, bool in_chunks>
struct BothAxesShape {
  static constexpr int columns = 8;
  static constexpr int width = in_chunks ? widest<typename V::X> : 1;
  static constexpr int rows = sizeof(typename V::Compute) == 8 ? 1 : 2;
  using type = Shape<8, 32, columns / width, width, AccessMode::guarded_vectors, 2, rows>;
};
template <class PanelsShape>
using BothAxesMergeShape =
    Shape<PanelsShape::threads, PanelsShape::lanes, 1, 1, AccessMode::scalar>;

template <class Exec, class Kernel>
void launch_both_axes_kernel(const Exec& exec, const std::string& label, std::int64_t teams,
                             const Kernel& kernel) {
  using Shape = typename Kernel::Shape;
  PolicyOf<Exec, Shape, Kernel> policy(exec, static_cast<int>(teams), Shape::threads, Shape::lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()));
  Kokkos::parallel_for(label, policy, kernel);
}

template <class Exec, class V, class PanelsShape>
void launch_both_axes_as(const Exec& exec, const BothAxesProblem<typename V::X>& problem,
                         double scale) {
  using States = BothAxesStates<typename V::Compute>;
  using Panels = BothAxesPanelsKernel<Exec, V, PanelsShape>;
  using Merge = BothAxesMergeKernel<Exec, V, BothAxesMergeShape<PanelsShape>>;
  constexpr int threads = PanelsShape::threads;
  const BothAxesPlan plan(problem.rows, problem.columns, Panels::panel_columns, threads,
                          std::int64_t{multiprocessors(exec)} * PanelsShape::min_teams);
  const auto lease = QueueMemory<Exec>::singleton().lease(exec, States::bytes(plan));
  const States states(lease.data(), plan);
  launch_both_axes_kernel(exec, BothAxesLabels::get().panels,
                          divide_up(plan.runs, threads / plan.across),
                          Panels(problem, scale, plan, states));
  const Merge merge(problem, plan, states, Panels::panel_columns);
  launch_both_axes_kernel(exec, BothAxesLabels::get().merge, merge.teams(), merge);
}

/// Whether the columns are contiguous and every row consists of aligned chunks.
template <class X>
bool has_chunks(const BothAxesProblem<X>& problem) {
  constexpr std::int64_t width = widest<X>;
  return problem.column_stride == 1 && problem.columns % width == 0 &&
         (problem.row_stride % width == 0 || problem.rows == 1) &&
         reinterpret_cast<std::uintptr_t>(problem.x) % (width * sizeof(X)) == 0;
}

/// Whether the axes change their roles. The columns are those along the axis with the smaller
/// stride, except if these are so few that most lanes would have none: then those along the other
/// axis read the same cache lines one after the other.
template <class X>
bool is_mirrored(const BothAxesProblem<X>& given) {
  if (given.rows == 1 || given.columns == 1) return given.columns == 1;
  constexpr std::int64_t few = 64 / sizeof(X);
  const bool rows_are_near = given.row_stride < given.column_stride;
  const std::int64_t near = rows_are_near ? given.rows : given.columns;
  const std::int64_t far = rows_are_near ? given.columns : given.rows;
  return rows_are_near != (near <= few && far > near);
}

/// Two calls of logsumexp, which need no memory.
template <class Exec, class X>
void launch_one_axis_after_the_other(const Exec& exec, BothAxesProblem<X> both, double scale) {
  for (int axis = 0; axis < 2; ++axis) {
    RowProblem<X, typename BothAxesProblem<X>::T> problem;
    problem.x = both.x;
    problem.y = both.of_rows;
    problem.rows = both.rows;
    problem.columns = both.columns;
    problem.x_column_stride = both.column_stride;
    problem.y_column_stride = 0;
    problem.outer[0] = {both.rows, both.row_stride, both.of_rows_stride};
    launch<Operation::logsumexp>(exec, problem, Options{.scale = scale});
    both.transpose();
  }
}

template <class Exec, class X>
void launch_both_axes(const Exec& exec, const BothAxesProblem<X>& given, double scale) {
  using V = ValueTypes<X>;
  if (given.rows == 0 || given.columns == 0) return launch_both_axes_empty(exec, given);
  if constexpr (!is_synchronous<Exec> && !graphs_own_memory<Exec>)
    if (is_capturing(exec)) return launch_one_axis_after_the_other(exec, given, scale);
  BothAxesProblem<X> problem = given;
  if (is_mirrored(given)) problem.transpose();
  if constexpr (is_host_space<Exec>)
    launch_both_axes_on_host<Exec, V>(exec, problem, scale);
  else if (has_chunks(problem))
    launch_both_axes_as<Exec, V, typename BothAxesShape<V, true>::type>(exec, problem, scale);
  else
    launch_both_axes_as<Exec, V, typename BothAxesShape<V, false>::type>(exec, problem, scale);
}

}  // namespace KokkosSoftmax::Impl

#endif
