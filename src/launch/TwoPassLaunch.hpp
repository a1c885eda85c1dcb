// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_TWOPASSLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_TWOPASSLAUNCH_HPP

#include <backend/DivideUp.hpp>
#include <backend/GraphCapture.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/TeamLimits.hpp>
#include <limits>
#include <schedules/two_pass/Plan.hpp>

namespace KokkosSoftmax::Impl {

/// Launches the kernels of `two_pass_column`. `Kernels`: see TwoPassColumnKernels.
template <Algorithm algorithm, class Exec, class Shape, class Kernels, class Op, class V>
struct TwoPassLaunch {
  using Context = ContextOf<Exec, Kernels>;
  using State = typename Kernels::State;
  using Reduce = typename Kernels::Reduce;
  using Merge = typename Kernels::Merge;
  using Write = typename Kernels::Write;

  static bool fits_device(const Context& context) {
    // Not for `reproducible`, because the bits of the results depend on the number of rows.
    return !context.options.reproducible && context.has_runs() &&
           (graphs_own_memory<Exec> || !is_capturing(context.exec)) &&
           fits<Reduce>(context, plan_to_reduce(context).teams()) &&
           fits<Merge>(context, merging_teams(context)) && fits_second_pass(context);
  }

  /// Allocates the memory of the queue. A call that is captured has memory of its graph.
  static void prepare(const Context& context) {
    if (!is_capturing(context.exec)) lease(context, plan_to_reduce(context));
  }

  static void launch(const Context& context) {
    const PassPlan plan = plan_to_reduce(context);
    const auto memory = lease(context, plan);
    auto* const states = reinterpret_cast<State*>(memory.data());
    launch_pass(context, Pass::reduce, plan.teams(), Reduce{context.arguments, plan, states});
    launch_pass(context, Pass::merge, merging_teams(context),
                Merge{context.arguments, plan.parts(), states});
    if constexpr (Kernels::has_second_pass) {
      const PassPlan writes = plan_to_write(context);
      launch_pass(context, Pass::write, writes.teams(),
                  Write{context.arguments, writes, states + plan.parts() * context.problem().rows});
    }
  }

 private:
  template <class Kernel>
  static bool fits(const Context& context, std::int64_t teams) {
    using KernelShape = typename Kernel::Shape;
    const TeamLimits& limits = TeamLimits::of(context.exec);
    return teams <= max_league_size<Exec, KernelShape> && limits.has_room_for_team<KernelShape>() &&
           Kernel::scratch_bytes() <= limits.scratch<KernelShape>(context.exec);
  }

  static bool fits_second_pass([[maybe_unused]] const Context& context) {
    if constexpr (Kernels::has_second_pass)
      return fits<Write>(context, plan_to_write(context).teams());
    else
      return true;
  }

  static std::int64_t merging_teams(const Context& context) {
    return divide_up(context.problem().rows, std::int64_t{Merge::rows_per_team});
  }

  /// Memory for the states of the parts of each row and, after them, the merged ones for the second
  /// pass.
  static auto lease(const Context& context, const PassPlan& plan) {
    const std::int64_t states =
        (plan.parts() + (Kernels::has_second_pass ? 1 : 0)) * context.problem().rows;
    return QueueMemory<Exec>::singleton().lease(context.exec,
                                                static_cast<std::size_t>(states) * sizeof(State));
  }

  template <class Kernel>
  static void launch_pass(const Context& context, Pass pass, std::int64_t teams,
                          const Kernel& kernel) {
    using KernelShape = typename Kernel::Shape;
    PolicyOf<Exec, KernelShape, Kernel> policy(context.exec, static_cast<int>(teams),
                                               KernelShape::team_size, KernelShape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes()));
    Kokkos::parallel_for(pass_label<Op>(pass, context.problem().function), policy, kernel);
  }

  template <class Kernel, class Entry>
  static PassPlan plan_of(const Context& context, const Entry* first, std::int64_t stride,
                          PassLimits limits) {
    limits.panel_rows = Kernel::rows_per_team;
    limits.tile_columns = Kernel::columns_per_tile;
    return PassPlan(PassArray(first, stride), context.problem().rows, context.neighbours(),
                    context.problem().columns, limits);
  }

  /// The numbers below were measured on an H200, and those of few rows on an H100. The more parts
  /// there are, the more states are stored and merged. Few teams merge the parts of few rows.
  /// Without a second pass, few rows therefore have no more teams than are resident at one time.
  static PassPlan plan_to_reduce(const Context& context) {
    constexpr std::int64_t few_rows = 512;
    constexpr int of_many_rows = 16;  // teams per multiprocessor
    const bool is_one_wave =
        !Kernels::has_second_pass && Shape::min_teams > 0 && context.problem().rows <= few_rows;
    const int teams = is_one_wave ? Shape::min_teams : of_many_rows;
    return plan_of<Reduce>(context, context.problem().x, context.problem().x_column_stride,
                           {.columns_of_phase = 256,
                            .columns_of_part = 2 * Reduce::columns_per_tile,
                            .teams = std::int64_t{teams} * multiprocessors(context.exec),
                            .are_teams_at_most = is_one_wave});
  }
  /// Small parts, unless it takes long to make the rows of a source.
  static PassPlan plan_to_write(const Context& context) {
    constexpr int tiles = Kernels::makes_rows_of_source ? 16 : 4;
    return plan_of<Write>(context, context.problem().y, context.problem().y_column_stride,
                          {.columns_of_phase = 2 * Write::columns_per_tile,
                           .columns_of_part = tiles * Write::columns_per_tile,
                           .teams = std::numeric_limits<std::int64_t>::max() / 2});
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
