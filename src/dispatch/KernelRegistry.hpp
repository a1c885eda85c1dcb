// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_KERNELREGISTRY_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_KERNELREGISTRY_HPP

/// \file
/// The schedules that are compiled for an execution space and an operation on a pair of value
/// types. They are values that can be listed, asked whether they serve a call, and launched.

#include <algorithm>
#include <array>
#include <dispatch/ColumnsInOrder.hpp>
#include <dispatch/Shapes.hpp>
#include <dispatch/SharedKernels.hpp>
#include <launch/ClusterLaunch.hpp>
#include <launch/LimitedLaunch.hpp>
#include <launch/SplitLaunch.hpp>
#include <launch/TeamLaunch.hpp>
#include <launch/TwoPassLaunch.hpp>
#include <row/GeneralSource.hpp>
#include <row/LimitedSource.hpp>
#include <schedules/Column.hpp>
#include <schedules/FusedRegisters.hpp>
#include <schedules/FusedScratch.hpp>
#include <schedules/Online.hpp>
#include <schedules/Packed.hpp>
#include <schedules/PackedPairs.hpp>
#include <schedules/Subgroup.hpp>
#include <schedules/cluster/ClusterColumnKernel.hpp>
#include <schedules/cluster/ClusterKernel.hpp>
#include <schedules/split/Split.hpp>
#include <schedules/split/SplitColumn.hpp>
#include <schedules/two_pass/Kernels.hpp>
#include <span>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Launches the schedules of hosts. Units of host spaces include launch/HostLaunch.hpp, which
/// defines it. Other units don't, so that a change of the code of hosts doesn't compile the kernels
/// of GPUs again.
template <class Exec, class Op, class Source>
struct HostLaunch;

/// For which calls the rule takes a variant: for any, for few rows, for rows that lie side by side
/// with few threads per row (most often many rows), or for many of which columns begin inside of
/// sectors (SectorPanel). Tuning tables and searches can take all variants.
enum class Regime { any_rows, few_rows, many_rows, many_rows_off_sectors, none };

/// A variant: a compiled schedule. `Arguments`: see LaunchContext.
template <class Exec, class V, class Arguments = RowArgs<V>>
struct KernelVariant {
  using Context = LaunchContext<Exec, V, Arguments>;

  Schedule schedule;
  Regime regime;
  ColumnRange in_order;  ///< rows that it adds up in ReductionOrder
  bool (*fits_device)(const Context&);
  void (*prepare)(const Context&);  ///< allocates what a launch needs besides the kernel
  void (*launch)(const Context&);
  bool is_limited = false;  ///< a kernel of LimitedSource

  bool serves(const Context& context) const {
    return context.access_serves(schedule) && holds(schedule, context.problem().columns) &&
           fits_device(context);
  }
};

/// The shapes of `fused_registers` for rows that are only read: those of written rows, unless a
/// source has others.
template <class S>
struct ReducedTeams {
  using type = typename S::FusedRegisters;
};
template <class S>
requires requires { typename S::ReducedFusedRegisters; }
struct ReducedTeams<S> {
  using type = typename S::ReducedFusedRegisters;
};

/// Makes the variants of one execution space, for an operation's output with the number `function`,
/// of a source.
template <class Exec, RowOp Op, int function, RowSource Source>
class KernelRegistry {
  using V = typename Op::Types;

 public:
  static constexpr auto all() {
    using S = ShapesOf<Exec, Source>;
    using enum Algorithm;
    return joined(
        of_limited_rows(), of_few<subgroup, SubgroupKernel>(typename S::SubgroupFew{}),
        of_few<fused_registers, FusedRegistersKernel>(typename S::FusedRegistersFew{}),
        of<packed, PackedKernel, MoreTeams, FewerTeams>(typename S::Packed{}),
        of_held<packed, TeamLaunch, PackedPairsKernel>(typename S::PackedPairs{}),
        of<subgroup, SubgroupKernel, MoreRows, MoreThreads, MoreTeams>(
            OneOf<typename S::Subgroup, typename S::ReducedSubgroup>{}),
        of<fused_registers, FusedRegistersKernel, FewerTeams, MoreTeams>(
            OneOf<typename S::FusedRegisters, typename ReducedTeams<S>::type>{}),
        of<fused_scratch, FusedScratchKernel, MoreThreads, FewerItems, MoreItems, MoreTeams>(
            typename S::FusedScratch{}),
        of<online, OnlineKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            OneOf<typename S::Online, typename S::ReducedOnline>{}),
        of_held<split, SplitLaunch, SplitOnceKernel>(typename S::SplitOnce{}),
        of_held<split, SplitLaunch, SplitHeldKernel>(typename S::Split{}),
        of_split<split_online, SplitOnlineKernel, FewerItems, FewerTeams>(
            OneOf<typename S::SplitOnline, typename S::ReducedSplitOnline>{}),
        of_clusters<cluster, ClusterKernel>(typename S::Cluster{}), of_many_columns(),
        of_held<column, TeamLaunch, ColumnHeldKernel>(typename S::ColumnHeld{}),
        of<column, ColumnKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            OneOf<typename S::LongColumn, typename S::ReducedColumn>{}),
        of_split<split_column, SplitColumnKernel, FewerItems, MoreItems, FewerTeams>(
            typename S::SplitColumn{}),
        launched_by<two_pass_column, TwoPassLaunch, TwoPassColumnKernels>(
            OneOf<typename S::TwoPassColumn, typename S::ReducedTwoPassColumn>{}),
        of_cluster_columns(), of_host());
  }

 private:
  using Entry = KernelVariant<Exec, V, ArgumentsOf<Source>>;

  /// The shapes for operations that write rows, or the shapes for operations that only reduce rows.
  template <class Written, class Reduced>
  using OneOf = std::conditional_t<Op::writes_entries, Written, Reduced>;

  template <class Launch>
  static constexpr Entry entry(const Schedule& schedule, const ColumnRange& in_order = {}) {
    return {schedule,         Regime::any_rows, in_order, &Launch::fits_device,
            &Launch::prepare, &Launch::launch};
  }

  template <Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class... Shape>
  static constexpr auto compiled(ShapeList<Shape...>) {
    return std::array<Entry, sizeof...(Shape)>{
        entry<Launch<algorithm, Exec, Shape,
                     Kernel<Exec, KernelOp<Op, function, algorithm, Source, Shape>, Source, Shape>,
                     Op, V>>(make_schedule<Shape>(algorithm),
                             columns_in_order<algorithm, Op, function, Source, Shape>())...};
  }

  template <Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, template <class> class... Change,
            class... InRule>
  static constexpr auto launched_by(ShapeList<InRule...> list) {
    auto entries = compiled<algorithm, Launch, Kernel>(with_changes<Change...>(list));
    for (int i = sizeof...(InRule); i < static_cast<int>(entries.size()); ++i)
      entries[i].regime = Regime::none;
    return entries;
  }

  template <Algorithm algorithm, template <class, class, class, class> class Kernel, class... Shape>
  static constexpr auto of_few(ShapeList<Shape...> list) {
    auto entries = compiled<algorithm, TeamLaunch, Kernel>(list);
    for (Entry& e : entries) e.regime = Regime::few_rows;
    return entries;
  }

  static constexpr auto of_many_columns() {
    using S = ShapesOf<Exec, Source>;
    constexpr auto column = Algorithm::column;
    return joined(
        with(Regime::many_rows_off_sectors, joined(of_held<column, TeamLaunch, ColumnHeldKernel>(
                                                       typename S::ManyColumnsOffSectors{}),
                                                   of_held<column, TeamLaunch, ColumnKernel>(
                                                       typename S::ManyLongColumnsOffSectors{}))),
        with(Regime::many_rows,
             joined(of_held<column, TeamLaunch, ColumnHeldKernel>(typename S::ManyColumnsHeld{}),
                    of<column, ColumnKernel, MoreThreads, FewerTeams, MoreTeams>(
                        OneOf<typename S::ManyLongColumns, typename S::ManyReducedColumns>{}))));
  }

  static constexpr auto of_cluster_columns() {
    using S = ShapesOf<Exec, Source>;
    constexpr auto cluster_column = Algorithm::cluster_column;
    return joined(
        with(Regime::many_rows_off_sectors, of_clusters<cluster_column, ClusterColumnKernel>(
                                                typename S::ClusterColumnOffSectors{})),
        with(Regime::many_rows,
             of_clusters<cluster_column, ClusterColumnKernel>(typename S::ClusterColumnInPairs{})),
        of_clusters<cluster_column, ClusterColumnKernel>(typename S::ClusterColumn{}));
  }

  /// Replaces the regime of the variants in the rule.
  template <std::size_t size>
  static constexpr auto with(Regime regime, std::array<Entry, size> entries) {
    for (Entry& e : entries)
      if (e.regime == Regime::any_rows) e.regime = regime;
    return entries;
  }

  /// The variants of an algorithm, given its kernel, the changes for searches and the shapes of the
  /// rule.
  template <Algorithm algorithm, template <class, class, class, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto of(ShapeList<InRule...> list) {
    return launched_by<algorithm, TeamLaunch, Kernel, Change...>(list);
  }

  /// No variants for operations that only reduce rows. They read a row once in any case, so that
  /// the row need not be held.
  template <Algorithm algorithm,
            template <Algorithm, class, class, class, class, class> class Launch,
            template <class, class, class, class> class Kernel, class... InRule>
  static constexpr auto of_held(ShapeList<InRule...> list) {
    if constexpr (Op::writes_entries)
      return launched_by<algorithm, Launch, Kernel>(list);
    else
      return std::array<Entry, 0>{};
  }

  template <Algorithm algorithm, template <class, class, class, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto of_split(ShapeList<InRule...> list) {
    return launched_by<algorithm, SplitLaunch, Kernel, Change...>(list);
  }

  /// Variants that are launched in clusters, for which Kokkos has no policy.
  template <Algorithm algorithm, template <class, class, class, class> class Kernel,
            class... InRule>
  static constexpr auto of_clusters([[maybe_unused]] ShapeList<InRule...> list) {
    if constexpr (is_cuda<Exec>)
      return of_held<algorithm, ClusterLaunch, Kernel>(list);
    else
      return std::array<Entry, 0>{};
  }

  template <Algorithm algorithm, class E, class Shape, class Kernel, class O, class Types>
  using LimitedTeamLaunch = LimitedLaunch<TeamLaunch<algorithm, E, Shape, Kernel, O, Types>, Types>;
  template <Algorithm algorithm, class E, class Shape, class Kernel, class O, class Types>
  using LimitedClusterLaunch =
      LimitedLaunch<ClusterLaunch<algorithm, E, Shape, Kernel, O, Types>, Types>;
  template <Algorithm algorithm, class E, class Shape, class Kernel, class O, class Types>
  using LimitedClusterColumnLaunch =
      LimitedLaunchInSectors<ClusterLaunch<algorithm, E, Shape, Kernel, O, Types>, Types,
                             Shape::access>;
  /// GeneralSource has kernels for shorter columns, which have fewer slots without an entry.
  template <Algorithm algorithm, class E, class Shape, class Kernel, class O, class Types>
  using LimitedColumnLaunch = LimitedLaunch<TeamLaunch<algorithm, E, Shape, Kernel, O, Types>,
                                            Types, std::max(32, Kernel::Tiles::chunks / 2)>;
  template <Algorithm algorithm, class E, class Shape, class Kernel, class O, class Types>
  using LimitedReducedColumnLaunch =
      LimitedLaunch<TeamLaunch<algorithm, E, Shape, Kernel, O, Types>, Types, 0>;
  template <Algorithm algorithm, class E, class Shape, class Kernels, class O, class Types>
  using LimitedTwoPassLaunch =
      LimitedLaunch<TwoPassLaunch<algorithm, E, Shape, Kernels, O, Types>, Types>;
  template <class E, class O, class, class Shape>
  using LimitedSubgroupKernel = SubgroupKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedOnlineKernel = OnlineKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedClusterKernel = ClusterKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedColumnHeldKernel = ColumnHeldKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedColumnKernel = ColumnKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedClusterColumnKernel = ClusterColumnKernel<E, O, LimitedSource<V>, Shape>;
  template <class E, class O, class, class Shape>
  using LimitedTwoPassKernels = TwoPassColumnKernels<E, O, LimitedSource<V>, Shape>;

  /// Variants for calls whose only operands are lengths and a causal limit.
  static constexpr auto of_limited_rows() {
    using enum Algorithm;
    using S = LimitedShapes<V>;
    if constexpr (is_host_space<Exec> || !std::is_same_v<Source, GeneralSource<V>>) {
      return std::array<Entry, 0>{};
    } else if constexpr (!Op::writes_entries) {
      return limited(joined(
          compiled<subgroup, LimitedTeamLaunch, LimitedSubgroupKernel>(
              typename S::ReducedSubgroup{}),
          compiled<online, LimitedTeamLaunch, LimitedOnlineKernel>(typename S::ReducedOnline{}),
          with(Regime::many_rows, compiled<column, LimitedReducedColumnLaunch, LimitedColumnKernel>(
                                      typename S::ManyReducedColumns{})),
          compiled<column, LimitedReducedColumnLaunch, LimitedColumnKernel>(
              typename S::ReducedColumn{})));
    } else {
      constexpr auto columns = joined(
          compiled<column, LimitedColumnLaunch, LimitedColumnHeldKernel>(typename S::ColumnHeld{}),
          compiled<column, LimitedColumnLaunch, LimitedColumnKernel>(typename S::LongColumn{}),
          compiled<two_pass_column, LimitedTwoPassLaunch, LimitedTwoPassKernels>(
              typename S::TwoPassColumn{}));
      if constexpr (is_cuda<Exec>)
        return limited(joined(
            compiled<cluster, LimitedClusterLaunch, LimitedClusterKernel>(typename S::Cluster{}),
            with(Regime::many_rows_off_sectors,
                 compiled<cluster_column, LimitedClusterColumnLaunch, LimitedClusterColumnKernel>(
                     typename S::ClusterColumnOffSectors{})),
            compiled<cluster_column, LimitedClusterColumnLaunch, LimitedClusterColumnKernel>(
                typename S::ClusterColumn{}),
            columns));
      else
        return limited(columns);
    }
  }
  template <std::size_t size>
  static constexpr auto limited(std::array<Entry, size> entries) {
    for (Entry& e : entries) e.is_limited = true;
    return entries;
  }

  static constexpr auto of_host() {
    if constexpr (is_host_space<Exec>)
      return std::array<Entry, 1>{
          entry<HostLaunch<Exec, Op, Source>>({.algorithm = Algorithm::host})};
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

template <class Exec, RowOp Op, int function, RowSource Source = PlainSource<typename Op::Types>>
inline constexpr auto kernel_variants = KernelRegistry<Exec, Op, function, Source>::all();

/// Whether each Schedule identifies one kernel of each source.
template <class List>
constexpr bool are_distinct(const List& list) {
  for (std::size_t a = 0; a < list.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      if (list[a].schedule == list[b].schedule && list[a].is_limited == list[b].is_limited)
        return false;
  return true;
}

/// The variants of each algorithm, in the order of the list. A call looks for several algorithms,
/// and a search through the whole list takes longer than the launch of a small kernel.
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
