// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_KERNELREGISTRY_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_KERNELREGISTRY_HPP

/// \file
/// Every schedule that is compiled for an execution space, value types and an operation, as values
/// that can be listed, asked whether they serve a call, and launched.

#include <algorithm>
#include <array>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <dispatch/Shapes.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <launch/SplitWorkspaces.hpp>
#include <schedules/Column.hpp>
#include <schedules/FusedRegisters.hpp>
#include <schedules/FusedScratch.hpp>
#include <schedules/HostColumns.hpp>
#include <schedules/HostRows.hpp>
#include <schedules/Online.hpp>
#include <schedules/Packed.hpp>
#include <schedules/Subgroup.hpp>
#include <schedules/split/Planning.hpp>
#include <schedules/split/Split.hpp>
#include <schedules/split/SplitColumn.hpp>
#include <span>
#include <type_traits>
#if defined(KOKKOS_ENABLE_CUDA)
#include <launch/ClusterLaunch.hpp>
#include <schedules/cluster/ClusterKernel.hpp>
#endif

namespace KokkosSoftmax::Impl {

/// What the rule takes a candidate for; tuning tables and searches take all.
enum class Regime { any_rows, few_rows, many_rows, none };

/// A compiled schedule.
template <class Exec, class V>
struct KernelVariant {
  Schedule schedule;
  Regime regime;
  bool (*fits_device)(const LaunchContext<Exec, V>&);
  void (*prepare)(const Exec&);  ///< makes what a launch needs beside the kernel
  void (*launch)(const LaunchContext<Exec, V>&);

  bool serves(const LaunchContext<Exec, V>& context) const {
    return context.access_serves(schedule) && holds(schedule, context.problem().columns) &&
           fits_device(context);
  }
};

/// The second bound means teams per multiprocessor on CUDA alone.
template <class Exec, class Shape>
using PolicyOf = Kokkos::TeamPolicy<
    Exec, Kokkos::LaunchBounds<Shape::threads * Shape::lanes,
                               is_cuda<Exec> && Shape::min_teams != 0 ? Shape::min_teams : 1>>;

/// What a device has room for.
struct TeamLimits {
  bool team_fits = false;
  std::size_t scratch = 0;  // bytes a team

  /// Asked once for a kernel and a device, as it takes longer than a launch.
  template <class Shape, class Exec, class Kernel>
  static TeamLimits of(const Exec& exec, const Kernel& kernel, std::size_t least_scratch) {
    using Policy = PolicyOf<Exec, Shape>;
    if (Shape::lanes > Policy::vector_length_max()) return {};
    Policy policy(exec, 1, 1, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(least_scratch));
    const int most = policy.team_size_max(kernel, Kokkos::ParallelForTag());
    if (Shape::threads > most) return {};
    const Policy whole(exec, 1, Shape::threads, Shape::lanes);
    return {true, scratch_per_team(exec, Shape::min_teams, whole.scratch_size_max(0))};
  }
};

/// How a kernel with the constants of a Shape is launched, one team policy for all of them.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, Operation operation, class V>
struct TeamLaunch {
  static bool fits_device(const LaunchContext<Exec, V>& context) {
    if constexpr (requires { Kernel::max_columns; })
      if (context.problem().columns > Kernel::max_columns) return false;
    static PerDevice<TeamLimits> of_device;
    const TeamLimits& limits = of_device.of(context.exec, [&] {
      return TeamLimits::of<Shape>(context.exec, Kernel{context.arguments},
                                   Kernel::scratch_bytes(1));
    });
    return limits.team_fits && Kernel::scratch_bytes(context.problem().columns) <= limits.scratch;
  }

  static void prepare(const Exec&) {}

  /// One launch, or several where there are more teams than a league can have.
  static void launch(const LaunchContext<Exec, V>& context) {
    // CUDA counts the teams of a launch in 31 bits, others the threads.
    constexpr std::int64_t max_teams =
        (std::int64_t(1) << 30) / (is_cuda<Exec> ? 1 : Shape::threads * Shape::lanes);
    constexpr std::int64_t rows_per_team = Kernel::rows_per_team;
    Kernel kernel{context.arguments};
    for (; kernel.arguments.first_row < context.problem().rows;
         kernel.arguments.first_row += max_teams * rows_per_team) {
      const std::int64_t rows = context.problem().rows - kernel.arguments.first_row;
      const std::int64_t teams = std::min(divide_up(rows, rows_per_team), max_teams);
      PolicyOf<Exec, Shape> policy(context.exec, static_cast<int>(teams), Shape::threads,
                                   Shape::lanes);
      policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(context.problem().columns)));
      Kokkos::parallel_for(kernel_label<operation>(algorithm), policy, kernel);
    }
  }
};

/// The same for the kernels that split rows over teams.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, Operation operation, class V>
struct SplitLaunch {
  using Workspaces = SplitWorkspaces<Exec>;

  static bool fits_device(const LaunchContext<Exec, V>& context) {
    if (!graphs_own_memory<Exec> && is_capturing(context.exec)) return false;
    const TeamLimits& limits = device_limits(context);
    // the bits depend on the number of rows
    if (!limits.team_fits || limits.scratch < Kernel::scratch_bytes({}) ||
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

  static void prepare(const Exec& exec) {
    Workspaces::singleton().template prepare<Kernel::most_rows>(exec);
  }

  static void launch(const LaunchContext<Exec, V>& context) {
    const SplitPlan plan = make_plan(context);
    PolicyOf<Exec, Shape> policy(context.exec, plan.groups * plan.teams_per_row, Shape::threads,
                                 Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(plan)));
    const auto lease = Workspaces::singleton().template lease<Kernel::most_rows>(context.exec);
    Kokkos::parallel_for(kernel_label<operation>(algorithm), policy,
                         Kernel{context.arguments, lease.workspace(), plan});
  }

 private:
  static constexpr Schedule schedule = make_schedule<Shape>(algorithm);

  static const TeamLimits& device_limits(const LaunchContext<Exec, V>& context) {
    static PerDevice<TeamLimits> of_device;
    return of_device.of(context.exec, [&] {
      return TeamLimits::of<Shape>(context.exec, Kernel{context.arguments, {}, {}},
                                   Kernel::scratch_bytes({}));
    });
  }

  static SplitProblem split_problem(const LaunchContext<Exec, V>& context) {
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
            .most_chunks = Kernel::most_chunks(device_limits(context).scratch),
            .max_teams = max_teams,
            .max_members = Kernel::max_members,
            .cache_bytes = last_cache_bytes(context.exec)};
  }

  static SplitPlan make_plan(const LaunchContext<Exec, V>& context) {
    const SplitProblem p = split_problem(context);
    if constexpr (Kernel::one_row_per_group)
      return make_split_plan<Exec>(p, fewest_members(p));
    else if constexpr (Kernel::holds_shares)
      return plan_split_in_one_read<Exec>(p);
    else
      // Panels are taken where there are few of them: all at one time, by measurements on an H200.
      return plan_split_online<Exec>(
          p, operation != Operation::logsumexp && algorithm != Algorithm::split_column);
  }
};

template <class Exec, class V, Operation operation>
struct HostLaunch {
  static bool fits_device(const LaunchContext<Exec, V>&) { return true; }
  static void prepare(const Exec&) {}

  static void launch(const LaunchContext<Exec, V>& context) {
    const std::string& label = kernel_label<operation>(Algorithm::host);
    if (context.x_contiguous())
      host_rows<Exec, V, operation>(context.exec, label, context.arguments,
                                    context.options.reproducible);
    else
      host_columns<Exec, V, operation>(context.exec, label, context.arguments);
  }
};

/// Makes the candidates of one execution space, pair of value types and operation.
template <class Exec, class V, Operation operation>
class KernelRegistry {
 public:
  static constexpr auto all() {
    using S = ShapesOf<Exec, V>;
    using enum Algorithm;
    return joined(
        of_few<subgroup, SubgroupKernel>(typename S::SubgroupFew{}),
        of_few<fused_registers, FusedRegistersKernel>(typename S::FusedRegistersFew{}),
        of<packed, PackedKernel, MoreTeams, FewerTeams>(typename S::Packed{}),
        of<subgroup, SubgroupKernel, MoreRows, MoreThreads, MoreTeams>(
            OneOf<typename S::Subgroup, typename S::ReducedSubgroup>{}),
        of<fused_registers, FusedRegistersKernel, FewerTeams, MoreTeams>(
            typename S::FusedRegisters{}),
        of<fused_scratch, FusedScratchKernel, MoreThreads, FewerItems, MoreItems, MoreTeams>(
            typename S::FusedScratch{}),
        of<online, OnlineKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            OneOf<typename S::Online, typename S::ReducedOnline>{}),
        of_held<split, SplitLaunch, SplitOnceKernel>(typename S::SplitOnce{}),
        of_held<split, SplitLaunch, SplitHeldKernel>(typename S::Split{}),
        of_split<split_online, SplitOnlineKernel, FewerItems, FewerTeams>(
            OneOf<typename S::SplitOnline, typename S::ReducedSplitOnline>{}),
        of_clusters(typename S::Cluster{}), of_many_columns(),
        of_held<column, TeamLaunch, ColumnHeldKernel>(typename S::ColumnHeld{}),
        of<column, ColumnKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            OneOf<typename S::LongColumn, typename S::ReducedColumn>{}),
        of_split<split_column, SplitColumnKernel, FewerItems, MoreItems, FewerTeams>(
            typename S::SplitColumn{}),
        of_host());
  }

 private:
  using Entry = KernelVariant<Exec, V>;

  /// The shapes for rows that are written, or those for rows that are only reduced.
  template <class Written, class Reduced>
  using OneOf = std::conditional_t<operation == Operation::logsumexp, Reduced, Written>;

  template <class Launch>
  static constexpr Entry entry(const Schedule& schedule) {
    return {schedule, Regime::any_rows, &Launch::fits_device, &Launch::prepare, &Launch::launch};
  }

  template <Algorithm algorithm,
            template <Algorithm, class, class, class, Operation, class> class Launch,
            template <class, class, Operation, class> class Kernel, class... Shape>
  static constexpr auto compiled(ShapeList<Shape...>) {
    return std::array<Entry, sizeof...(Shape)>{
        entry<Launch<algorithm, Exec, Shape, Kernel<Exec, V, operation, Shape>, operation, V>>(
            make_schedule<Shape>(algorithm))...};
  }

  template <Algorithm algorithm,
            template <Algorithm, class, class, class, Operation, class> class Launch,
            template <class, class, Operation, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto launched_by(ShapeList<InRule...> list) {
    auto entries = compiled<algorithm, Launch, Kernel>(with_changes<Change...>(list));
    for (int i = sizeof...(InRule); i < static_cast<int>(entries.size()); ++i)
      entries[i].regime = Regime::none;
    return entries;
  }

  template <Algorithm algorithm, template <class, class, Operation, class> class Kernel,
            class... Shape>
  static constexpr auto of_few(ShapeList<Shape...> list) {
    auto entries = compiled<algorithm, TeamLaunch, Kernel>(list);
    for (Entry& e : entries) e.regime = Regime::few_rows;
    return entries;
  }

  static constexpr auto of_many_columns() {
    using S = ShapesOf<Exec, V>;
    constexpr auto column = Algorithm::column;
    auto entries =
        joined(of_held<column, TeamLaunch, ColumnHeldKernel>(typename S::ManyColumnsHeld{}),
               of<column, ColumnKernel, MoreThreads, FewerTeams, MoreTeams>(
                   OneOf<typename S::ManyLongColumns, typename S::ManyReducedColumns>{}));
    for (Entry& e : entries)
      if (e.regime == Regime::any_rows) e.regime = Regime::many_rows;
    return entries;
  }

  /// An algorithm: its kernel, what to vary for searches, the shapes of the rule.
  template <Algorithm algorithm, template <class, class, Operation, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto of(ShapeList<InRule...> list) {
    return launched_by<algorithm, TeamLaunch, Kernel, Change...>(list);
  }

  /// A row is read once for logsumexp in any case: it needn't be held.
  template <Algorithm algorithm,
            template <Algorithm, class, class, class, Operation, class> class Launch,
            template <class, class, Operation, class> class Kernel, class... InRule>
  static constexpr auto of_held(ShapeList<InRule...> list) {
    if constexpr (operation == Operation::logsumexp)
      return std::array<Entry, 0>{};
    else
      return launched_by<algorithm, Launch, Kernel>(list);
  }

  template <Algorithm algorithm, template <class, class, Operation, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto of_split(ShapeList<InRule...> list) {
    return launched_by<algorithm, SplitLaunch, Kernel, Change...>(list);
  }

  /// What Kokkos has no policy for.
  template <class... InRule>
  static constexpr auto of_clusters([[maybe_unused]] ShapeList<InRule...> list) {
#if defined(KOKKOS_ENABLE_CUDA)
    return of_held<Algorithm::cluster, ClusterLaunch, ClusterKernel>(list);
#else
    return std::array<Entry, 0>{};
#endif
  }

  static constexpr auto of_host() {
    if constexpr (is_host_space<Exec>)
      return std::array<Entry, 1>{
          entry<HostLaunch<Exec, V, operation>>({.algorithm = Algorithm::host})};
    else
      return std::array<Entry, 0>{};
  }

  template <std::size_t... sizes>
  static constexpr auto joined(const std::array<Entry, sizes>&... parts) {
    std::array<Entry, (sizes + ...)> all{};
    auto end = all.begin();
    ((end = std::copy(parts.begin(), parts.end(), end)), ...);
    return all;
  }
};

template <class Exec, class V, Operation operation>
inline constexpr auto kernel_variants = KernelRegistry<Exec, V, operation>::all();

/// A Schedule stands for one kernel.
template <class List>
constexpr bool are_distinct(const List& list) {
  for (std::size_t a = 0; a < list.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (list[a].schedule == list[b].schedule) return false;
  return true;
}

/// Which candidates of a list have an algorithm, in their order: a call asks for several
/// algorithms, and the whole list takes longer to look through than the launch of a small kernel.
template <std::size_t size>
class VariantsByAlgorithm {
 public:
  template <class List>
  explicit constexpr VariantsByAlgorithm(const List& list) {
    for (int algorithm = 0, count = 0; algorithm < algorithms; ++algorithm) {
      for (int c = 0; c < static_cast<int>(size); ++c)
        if (static_cast<int>(list[c].schedule.algorithm) == algorithm) m_number[count++] = c;
      m_end[algorithm] = count;
    }
  }

  constexpr std::span<const int> of(Algorithm algorithm) const {
    const auto a = static_cast<std::size_t>(algorithm);
    const std::size_t begin = a == 0 ? 0 : static_cast<std::size_t>(m_end[a - 1]);
    return {m_number.data() + begin, static_cast<std::size_t>(m_end[a]) - begin};
  }

 private:
  static constexpr int algorithms = static_cast<int>(last_algorithm) + 1;

  std::array<int, size> m_number{};
  std::array<int, algorithms> m_end{};
};

}  // namespace KokkosSoftmax::Impl

#endif
