// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_SPLITLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_SPLITLAUNCH_HPP

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/SplitWorkspaces.hpp>
#include <launch/TeamLimits.hpp>
#include <schedules/split/Planning.hpp>

namespace KokkosSoftmax::Impl {

/// Launches a kernel that divides rows over groups of teams.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, class Op, class V>
struct SplitLaunch {
  using Workspaces = SplitWorkspaces<Exec>;

  static bool fits_device(const ContextOf<Exec, Kernel>& context) {
    if (!graphs_own_memory<Exec> && is_capturing(context.exec)) return false;
    // Not for `reproducible`, because the bits of the results depend on the number of rows.
    const TeamLimits& limits = TeamLimits::of(context.exec);
    if (!limits.has_room_for_team<Shape>() || scratch(context) < Kernel::scratch_bytes({}) ||
        context.problem().rows > max_split_rows || context.options.reproducible)
      return false;
    if (!Kernel::holds_shares) return true;
    if (algorithm == Algorithm::split && context.problem().outer_rank != 1) return false;
    const SplitProblem p = split_problem(context);
    return p.most_chunks >= line_chunks(p) &&
           fewest_members(p) <= std::min(p.max_members, p.max_teams) &&
           (!Kernel::one_row_per_group ||
            context.problem().rows <= p.max_teams / fewest_members(p));
  }

  static void prepare(const ContextOf<Exec, Kernel>& context) {
    Workspaces::singleton().template prepare<Kernel::most_rows>(context.exec);
  }

  static void launch(const ContextOf<Exec, Kernel>& context) {
    const SplitPlan plan = make_plan(context);
    PolicyOf<Exec, Shape, Kernel> policy(context.exec, plan.groups * plan.teams_per_row,
                                         Shape::threads, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(plan)));
    const auto lease = Workspaces::singleton().template lease<Kernel::most_rows>(context.exec);
    Kokkos::parallel_for(kernel_label<Op>(algorithm, context.problem().function), policy,
                         Kernel{context.arguments, lease.workspace(), plan});
  }

 private:
  static constexpr Schedule schedule = make_schedule<Shape>(algorithm);

  static std::size_t scratch(const ContextOf<Exec, Kernel>& context) {
    const TeamLimits& limits = TeamLimits::of(context.exec);
    return limits.scratch<Shape>(context.exec);
  }

  static SplitProblem split_problem(const ContextOf<Exec, Kernel>& context) {
    constexpr int teams = is_host_space<Exec> ? 1 : std::max(1, Shape::min_teams);
    const int max_teams = std::min(max_split_teams<Kernel::most_rows>(context.exec),
                                   multiprocessors(context.exec) * teams);
    const Panel panel =
        make_panel({.neighbours = context.neighbours(),
                    .contiguous = context.problem().x_column_stride == context.neighbours(),
                    .entry_bytes = sizeof(typename V::X),
                    .most_rows = Kernel::most_rows,
                    .slots = Shape::rows_per_thread * Shape::threads * Shape::lanes,
                    .max_teams = max_teams});
    return {.rows = divide_up(context.problem().rows, panel.rows),
            .panel = panel,
            .row_chunks = divide_up(context.problem().columns, Shape::width),
            .chunk_bytes = panel.rows * Shape::width * static_cast<int>(sizeof(typename V::X)),
            .tile_chunks = register_capacity(schedule) / Shape::width / panel.rows,
            .most_chunks = Kernel::most_chunks(scratch(context)),
            .max_teams = max_teams,
            .max_members = Kernel::max_members,
            .cache_bytes = last_cache_bytes(context.exec)};
  }

  static SplitPlan make_plan(const ContextOf<Exec, Kernel>& context) {
    const SplitProblem p = split_problem(context);
    if constexpr (Kernel::one_row_per_group)
      return make_split_plan<Exec>(p, fewest_members(p));
    else if constexpr (Kernel::holds_shares)
      return plan_split_in_one_read<Exec>(p);
    else
      // Panels are used if there are few of them. Then all are processed at one time, whether or
      // not they fit the cache (measured on an H200).
      return plan_split_online<Exec>(p, Op::writes_entries && algorithm != Algorithm::split_column);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
