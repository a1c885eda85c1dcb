// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_CANDIDATES_HPP
#define KOKKOSSOFTMAX_SRC_CANDIDATES_HPP

/// \file
/// Every schedule that is compiled for an execution space, a value type and an operation, as values
/// that can be listed, asked whether they serve a call, and launched.

#include <Call.hpp>
#include <Shapes.hpp>
#include <algorithm>
#include <array>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <schedules/Column.hpp>
#include <schedules/FusedRegisters.hpp>
#include <schedules/FusedScratch.hpp>
#include <schedules/HostColumns.hpp>
#include <schedules/HostRows.hpp>
#include <schedules/Online.hpp>
#include <schedules/Subgroup.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec>
inline constexpr bool is_cuda = std::is_same_v<Exec, Kokkos::Cuda>;
#else
template <class Exec>
inline constexpr bool is_cuda = false;
#endif

/// "KokkosSoftmax::softmax[online]"; made once, as a call makes no allocation.
template <Operation operation>
const std::string& kernel_label(Algorithm algorithm) {
  static const auto labels = [] {
    std::array<std::string, static_cast<int>(last_algorithm) + 1> names;
    for (int a = 0; a < static_cast<int>(names.size()); ++a)
      names[a] = std::string("KokkosSoftmax::") + to_string(operation) + "[" +
                 std::string(to_string(static_cast<Algorithm>(a))) + "]";
    return names;
  }();
  return labels[static_cast<int>(algorithm)];
}

/// A compiled schedule.
template <class Exec, class T>
struct Candidate {
  Schedule schedule;
  bool in_rule;  ///< else only tuning tables and searches take it
  bool (*fits_device)(const Call<Exec, T>&);
  void (*launch)(const Call<Exec, T>&);

  bool serves(const Call<Exec, T>& call) const {
    return call.fill_serves(schedule) && holds(schedule, call.problem().columns) &&
           fits_device(call);
  }
};

/// How a kernel with the constants of a Shape is launched, one team policy for all of them.
template <Algorithm algorithm, class Exec, class Shape, class Kernel, Operation operation, class T>
struct TeamLaunch {
  /// The second bound means teams per multiprocessor on CUDA alone.
  using Policy = Kokkos::TeamPolicy<
      Exec, Kokkos::LaunchBounds<Shape::threads * Shape::lanes,
                                 is_cuda<Exec> && Shape::min_teams != 0 ? Shape::min_teams : 1>>;

  static bool fits_device(const Call<Exec, T>& call) {
    // Asked once, as it takes longer than a launch; the devices of a process are taken to be alike.
    static const Limits limits = limits_of(call);
    return limits.team_fits && Kernel::scratch_bytes(call.problem().columns) <= limits.scratch;
  }

  /// One launch, or several where there are more teams than a league can have.
  static void launch(const Call<Exec, T>& call) {
    // CUDA counts the teams of a launch in 31 bits, others the threads.
    constexpr std::int64_t max_teams =
        (std::int64_t(1) << 30) / (is_cuda<Exec> ? 1 : Shape::threads * Shape::lanes);
    constexpr std::int64_t rows_per_team = Kernel::rows_per_team;
    Kernel kernel{call.arguments};
    for (; kernel.arguments.first_row < call.problem().rows;
         kernel.arguments.first_row += max_teams * rows_per_team) {
      const std::int64_t rows = call.problem().rows - kernel.arguments.first_row;
      const std::int64_t teams = std::min((rows + rows_per_team - 1) / rows_per_team, max_teams);
      Policy policy(call.exec, static_cast<int>(teams), Shape::threads, Shape::lanes);
      policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(call.problem().columns)));
      Kokkos::parallel_for(kernel_label<operation>(algorithm), policy, kernel);
    }
  }

 private:
  struct Limits {
    bool team_fits;
    std::size_t scratch;
  };

  static Limits limits_of(const Call<Exec, T>& call) {
    if (Shape::lanes > Policy::vector_length_max()) return {false, 0};
    Policy policy(call.exec, 1, 1, Shape::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::scratch_bytes(1)));
    const int most = policy.team_size_max(Kernel{call.arguments}, Kokkos::ParallelForTag());
    if (Shape::threads > most) return {false, 0};
    const Policy whole(call.exec, 1, Shape::threads, Shape::lanes);
    return {true, static_cast<std::size_t>(whole.scratch_size_max(0))};
  }
};

template <class Exec, class T, Operation operation>
struct HostLaunch {
  static bool fits_device(const Call<Exec, T>&) { return true; }

  static void launch(const Call<Exec, T>& call) {
    const std::string& label = kernel_label<operation>(Algorithm::host);
    if (call.x_contiguous())
      host_rows<Exec, T, operation>(call.exec, label, call.arguments, call.options.reproducible);
    else
      host_columns<Exec, T, operation>(call.exec, label, call.arguments);
  }
};

/// Makes the candidates of one execution space, value type and operation.
template <class Exec, class T, Operation operation>
class CandidateLists {
 public:
  static constexpr auto all() {
    using S = std::conditional_t<is_host_space<Exec>, HostShapes<T>, Shapes<Exec, T>>;
    using enum Algorithm;
    return joined(
        of<subgroup, SubgroupKernel, MoreRows, MoreThreads, MoreTeams>(typename S::Subgroup{}),
        of<fused_registers, FusedRegistersKernel, FewerTeams, MoreTeams>(
            typename S::FusedRegisters{}),
        of<fused_scratch, FusedScratchKernel, MoreThreads, FewerItems, MoreItems, MoreTeams>(
            typename S::FusedScratch{}),
        of<online, OnlineKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            typename S::Online{}),
        of<column, ColumnKernel, MoreThreads, FewerItems, MoreItems, FewerTeams, MoreTeams>(
            typename S::Column{}),
        of_host());
  }

 private:
  using Entry = Candidate<Exec, T>;

  template <class Launch>
  static constexpr Entry entry(const Schedule& schedule) {
    return {schedule, true, &Launch::fits_device, &Launch::launch};
  }

  template <Algorithm algorithm, template <class, class, Operation, class> class Kernel,
            class... Shape>
  static constexpr auto compiled(ShapeList<Shape...>) {
    return std::array<Entry, sizeof...(Shape)>{
        entry<TeamLaunch<algorithm, Exec, Shape, Kernel<Exec, T, operation, Shape>, operation, T>>(
            make_schedule<Shape>(algorithm))...};
  }

  /// An algorithm: its kernel, what to vary for searches, the shapes of the rule.
  template <Algorithm algorithm, template <class, class, Operation, class> class Kernel,
            template <class> class... Change, class... InRule>
  static constexpr auto of(ShapeList<InRule...> list) {
    auto entries = compiled<algorithm, Kernel>(with_changes<Change...>(list));
    for (std::size_t i = sizeof...(InRule); i < entries.size(); ++i) entries[i].in_rule = false;
    return entries;
  }

  static constexpr auto of_host() {
    if constexpr (is_host_space<Exec>)
      return std::array<Entry, 1>{
          entry<HostLaunch<Exec, T, operation>>({.algorithm = Algorithm::host})};
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

template <class Exec, class T, Operation operation>
inline constexpr auto candidates = CandidateLists<Exec, T, operation>::all();

}  // namespace KokkosSoftmax::Impl

#endif
