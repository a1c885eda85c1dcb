// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_BOTHAXESLAUNCH_HPP

/// \file
/// Launches the log-sum-exps along both axes of a matrix.

#include <algorithm>
#include <backend/Device.hpp>
#include <backend/DivideUp.hpp>
#include <backend/GraphCapture.hpp>
#include <backend/Hardware.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/TeamLimits.hpp>
#include <schedules/BothAxes.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

template <class Exec, class Kernel>
void launch_both_axes_kernel(const Exec& exec, const char* label, std::int64_t teams,
                             std::size_t scratch, const Kernel& kernel) {
  using Bounds =
      Kokkos::LaunchBounds<Kernel::threads * Kernel::lanes, is_cuda<Exec> ? Kernel::min_teams : 1>;
  Kokkos::TeamPolicy<Exec, Bounds> policy(exec, static_cast<int>(teams), Kernel::threads,
                                          Kernel::lanes);
  policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(scratch)));
  Kokkos::parallel_for(std::string("KokkosSoftmax::logsumexp_both_axes[") + label + "]", policy,
                       kernel);
}

/// Cuts the matrix into pieces for a kernel, so that there are some pieces per multiprocessor.
template <class Kernel, class Exec, class X>
BothAxesArgs<X> both_axes_pieces(const Exec& exec, const BothAxesProblem<X>& problem,
                                 double scale) {
  using T = typename BothAxesProblem<X>::T;
  constexpr std::int64_t pieces_per_multiprocessor = 16;
  constexpr std::int64_t fewest_rows = 4 * Kernel::rows_of_team;
  BothAxesArgs<X> arguments{};
  arguments.problem = problem;
  arguments.scale = kernel_scale(static_cast<T>(scale));
  arguments.padding = scaled_padding<X>(arguments.scale);
  arguments.panels = divide_up(problem.columns, std::int64_t(Kernel::panel_columns));
  const std::int64_t wanted =
      std::max<std::int64_t>(1, pieces_per_multiprocessor * multiprocessors(exec) /
                                    std::max<std::int64_t>(arguments.panels, 1));
  const std::int64_t rows = std::max(fewest_rows, divide_up(problem.rows, wanted));
  arguments.rows_per_block =
      divide_up(rows, std::int64_t(Kernel::rows_of_team)) * Kernel::rows_of_team;
  arguments.blocks = divide_up(problem.rows, arguments.rows_per_block);
  return arguments;
}

template <class Kernel, class Exec, class X>
void launch_both_axes_in_pieces(const Exec& exec, const BothAxesProblem<X>& problem, double scale) {
  using Rows = BothAxesRowsKernel<Exec, X, 1>;
  using LongRows = BothAxesRowsKernel<Exec, X, 8>;
  using Columns = BothAxesColumnsKernel<Exec, X>;
  using State = typename BothAxesArgs<X>::State;
  BothAxesArgs<X> arguments = both_axes_pieces<Kernel>(exec, problem, scale);
  // The states of the only panel and of the only block aren't stored: they are results.
  const std::int64_t row_parts = arguments.panels == 1 ? 0 : problem.rows * arguments.panels;
  const std::int64_t column_parts = arguments.blocks == 1 ? 0 : problem.columns * arguments.blocks;
  const auto bytes = static_cast<std::size_t>(row_parts + column_parts + 1) * sizeof(State);
  QueueMemory<Exec>::singleton().with(exec, bytes, [&](void* memory) {
    arguments.row_parts = static_cast<State*>(memory);
    arguments.column_parts = arguments.row_parts + row_parts;
    if (arguments.panels * arguments.blocks > 0)
      launch_both_axes_kernel(exec, "pieces", arguments.panels * arguments.blocks,
                              Kernel::scratch_bytes(), Kernel{arguments});
    if (arguments.panels > 4 * Rows::lanes && problem.rows > 0)
      launch_both_axes_kernel(exec, "rows", problem.rows, LongRows::scratch_bytes(),
                              LongRows{arguments});
    else if (arguments.panels != 1 && problem.rows > 0)
      launch_both_axes_kernel(exec, "rows",
                              divide_up(problem.rows, std::int64_t(Rows::rows_per_team)),
                              Rows::scratch_bytes(), Rows{arguments});
    if (arguments.blocks != 1 && problem.columns > 0)
      launch_both_axes_kernel(exec, "columns",
                              divide_up(problem.columns, std::int64_t(Columns::lanes)),
                              Columns::scratch_bytes(), Columns{arguments});
  });
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

/// Whether neighbouring columns can be loaded in chunks of `width`.
template <class X>
bool has_chunks(const BothAxesProblem<X>& problem, std::int64_t width) {
  const auto address = reinterpret_cast<std::uintptr_t>(problem.x);
  return problem.column_stride == 1 && problem.columns % width == 0 &&
         problem.row_stride % width == 0 && address % (sizeof(X) * width) == 0;
}

template <class Exec, class X>
void launch_both_axes(const Exec& exec, const BothAxesProblem<X>& problem, double scale) {
  if constexpr (is_host_space<Exec>) {
    launch_one_axis_after_the_other(exec, problem, scale);
  } else {
    constexpr int threads = 8;
    constexpr int width = widest<X>;
    constexpr int columns_per_lane = sizeof(X) == 8 ? 4 : 8;
    using Chunks = BothAxesPiecesKernel<Exec, X, threads, columns_per_lane / width, width>;
    using Entries = BothAxesPiecesKernel<Exec, X, threads, columns_per_lane, 1>;
    const bool fill_lanes = problem.columns >= Entries::panel_columns;
    const bool fit_league = std::max(problem.rows, problem.columns) <= (std::int64_t(1) << 30);
    const bool has_memory = graphs_own_memory<Exec> || !is_capturing(exec);
    if (!fill_lanes || !fit_league || !has_memory)
      launch_one_axis_after_the_other(exec, problem, scale);
    else if (has_chunks(problem, width))
      launch_both_axes_in_pieces<Chunks>(exec, problem, scale);
    else
      launch_both_axes_in_pieces<Entries>(exec, problem, scale);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
