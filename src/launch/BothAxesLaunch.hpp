// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP

/// \file
/// Launches the log-sum-exps along both axes of a matrix: on GPUs a kernel that reads the matrix
/// and one that merges the states that it has written, or two calls of logsumexp.

#include <backend/FirstLaunch.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Hardware.hpp>
#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/TeamLimits.hpp>
#include <row/Chunk.hpp>
#include <schedules/both_axes/Merge.hpp>
#include <schedules/both_axes/Panels.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// The labels of the kernels, made once because a call allocates no memory.
struct BothAxesLabels {
  std::string panels = "KokkosSoftmax::logsumexp_both_axes[panels]";
  std::string merge = "KokkosSoftmax::logsumexp_both_axes[merge]";

  static const BothAxesLabels& get() {
    static const BothAxesLabels labels;
    return labels;
  }
};

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

/// The number of teams fits an int: those of panels are resident, and a team of the other kernel
/// has 32 rows or columns, or one of more than 512 states.
template <class Exec, class Kernel>
void launch_both_axes_kernel(const Exec& exec, const std::string& label, std::int64_t teams,
                             const Kernel& kernel) {
  using Shape = typename Kernel::Shape;
  PolicyOf<Exec, Shape, Kernel> policy(exec, static_cast<int>(teams), Shape::threads, Shape::lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()));
  Kokkos::parallel_for(label, policy, kernel);
}

/// Requires a row and a column.
template <class Exec, class V, class PanelsShape>
void launch_both_axes_in_panels(const Exec& exec, const BothAxesProblem<typename V::X>& problem,
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

/// The problem of the rows alone, for logsumexp.
template <class X>
auto problem_of_rows(const BothAxesProblem<X>& both) {
  RowProblem<X, typename BothAxesProblem<X>::T> problem;
  problem.x = both.x;
  problem.y = both.of_rows;
  problem.rows = both.rows;
  problem.columns = both.columns;
  problem.x_column_stride = both.column_stride;
  problem.y_column_stride = 0;
  problem.outer[0] = {both.rows, both.columns == 0 ? 0 : both.row_stride, both.of_rows_stride};
  return problem;
}

/// Two calls of logsumexp.
template <class Exec, class X>
void launch_one_axis_after_the_other(const Exec& exec, BothAxesProblem<X> problem, double scale) {
  for (int axis = 0; axis < 2; ++axis) {
    if (problem.rows > 0)
      launch<Operation::logsumexp>(exec, problem_of_rows(problem), Options{.scale = scale});
    problem.transpose();
  }
}

/// Whether the columns are contiguous and every row consists of aligned chunks.
template <class X>
bool has_chunks(const BothAxesProblem<X>& problem) {
  constexpr std::int64_t width = widest<X>;
  return problem.column_stride == 1 && problem.columns % width == 0 &&
         problem.row_stride % width == 0 &&
         reinterpret_cast<std::uintptr_t>(problem.x) % (width * sizeof(X)) == 0;
}

template <class Exec, class X>
void launch_both_axes(const Exec& exec, const BothAxesProblem<X>& problem, double scale) {
  prepare_first_launch(exec);
  if constexpr (is_host_space<Exec>) {
    launch_one_axis_after_the_other(exec, problem, scale);
  } else {
    using V = ValueTypes<X>;
    using Chunks = typename BothAxesShape<V, true>::type;
    using Entries = typename BothAxesShape<V, false>::type;
    // With fewer columns, most lanes have none. With fewer rows, the states take as many bytes as
    // the entries: with 8 rows of 16 million floats, two calls took 0.63 of the time.
    constexpr std::int64_t fewest_rows = 32;
    constexpr std::int64_t fewest_columns = Entries::lanes * Entries::items / 2;
    const bool fill_lanes = problem.columns >= fewest_columns;
    const bool fill_runs = problem.rows >= fewest_rows;
    const bool has_memory = graphs_own_memory<Exec> || !is_capturing(exec);
    if (!fill_lanes || !fill_runs || !has_memory)
      launch_one_axis_after_the_other(exec, problem, scale);
    else if (has_chunks(problem))
      launch_both_axes_in_panels<Exec, V, Chunks>(exec, problem, scale);
    else
      launch_both_axes_in_panels<Exec, V, Entries>(exec, problem, scale);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
