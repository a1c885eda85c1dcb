// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDTEAMSLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDTEAMSLAUNCH_HPP

/// \file
/// Launches the kernels of ragged rows for GPUs.

#include <algorithm>
#include <backend/Device.hpp>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <backend/ZeroFill.hpp>
#include <launch/QueueMemory.hpp>
#include <launch/RaggedLabels.hpp>
#include <launch/TeamLimits.hpp>
#include <schedules/ragged/Kernels.hpp>
#include <schedules/ragged/PartsOfVectorsKernel.hpp>
#include <schedules/ragged/RowsKernel.hpp>
#include <schedules/ragged/WindowsKernel.hpp>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl {

/// Kernels of one shape for one operation.
template <class Exec, class Op, class Shape>
class RaggedTeamsLaunch {
 public:
  using State = typename Op::State;
  using Arguments = typename Op::Arguments;
  using OfVectors = typename Shape::OfVectors;
  using OfTeams = typename Shape::OfTeams;

  RaggedTeamsLaunch(const Exec& exec, RaggedOperation operation, const Arguments& arguments)
      : m_exec(exec),
        m_operation(operation),
        m_arguments(arguments),
        m_windows(RaggedWindows::count(arguments.problem.rows, arguments.problem.entries,
                                       Shape::window)) {}

  void launch() {
    using Work = RaggedWork<State>;
    const std::int64_t vector_windows = m_windows * Shape::vector_windows;
    std::size_t bytes = 0;
    Work::in(nullptr, vector_windows, m_windows, bytes);
    const auto memory = QueueMemory<Exec>::singleton().lease(m_exec, bytes);
    m_arguments.work = Work::in(memory.data(), vector_windows, m_windows, bytes);
    clear_lists();
    std::int64_t longest_done = launch_without_windows();
    if (longest_done == 0) {
      find_windows(vector_windows);
      launch_for_list<OfVectors>(RaggedStep::rows, vector_windows,
                                 RaggedVectorsKernel<Exec, Op, Shape>(m_arguments));
      longest_done = Shape::longest_of_vector;
    }
    const std::int64_t longest = m_arguments.problem.entries;
    if (longest > longest_done)
      launch_for_list<OfTeams>(RaggedStep::teams, std::max(vector_windows, 2 * m_windows),
                               RaggedTeamsKernel<Exec, Op, Shape>(m_arguments));
    if constexpr (Op::reduces)
      if (longest > Shape::longest_of_team) finish_long_rows();
  }

 private:
  using Sizes = typename Shape::Sizes;

  void clear_lists() const {
    zero_fill(m_exec, m_arguments.work.count, sizeof(*m_arguments.work.count));
  }

  /// Gives each row a team or a part of a vector if the mean length of rows is worth it. Returns
  /// the length of the longest rows that are computed then, and 0 otherwise.
  std::int64_t launch_without_windows() const {
    const std::int64_t mean = m_arguments.problem.entries / m_arguments.problem.rows;
    std::int64_t longest = 0;
    const auto launch_if_worth = [&]<class RowShape>(std::type_identity<RowShape>) {
      const bool is_worth = RowShape::least_mean <= mean && mean <= RowShape::longest_of_team;
      if (longest != 0 || !is_worth) return;
      launch_without_windows<RowShape>();
      longest = RowShape::longest_of_team;
    };
    const auto launch = [&]<int... vectors>(std::integer_sequence<int, vectors...>) {
      (launch_if_worth(std::type_identity<typename RaggedRowShapeOf<Shape, vectors>::type>{}), ...);
    };
    launch(typename Op::RowTeams{});
    return longest;
  }
  template <class RowShape>
  void launch_without_windows() const {
    using Policy = typename RowShape::OfTeams;
    using Kernel = std::conditional_t<RowShape::has_parts,
                                      RaggedPartsOfVectorsKernel<Exec, Op, RowShape, Sizes>,
                                      RaggedRowsKernel<Exec, Op, RowShape, Sizes>>;
    constexpr std::int64_t rows_per_team = Kernel::rows_per_team;
    constexpr std::int64_t most = max_league_size<Exec, Policy>;
    const std::int64_t rows = m_arguments.problem.rows;
    Kernel kernel(m_arguments);
    for (; kernel.first_row < rows; kernel.first_row += most * rows_per_team) {
      const std::int64_t teams = divide_up(rows - kernel.first_row, rows_per_team);
      launch_kernel<Policy>(RaggedStep::rows, std::min(most, teams), kernel);
    }
  }

  void find_windows(std::int64_t vector_windows) const {
    using Kernel = RaggedWindowsKernel<Exec, Sizes>;
    constexpr std::int64_t most = max_league_size<Exec, OfVectors>;
    const std::int64_t teams = divide_up(vector_windows, std::int64_t(Kernel::windows_per_team));
    Kernel kernel(m_arguments.problem.offset, m_arguments.problem.rows, vector_windows,
                  m_arguments.work);
    for (; kernel.first_team < teams; kernel.first_team += most)
      launch_kernel<OfVectors>(RaggedStep::windows, std::min(most, teams - kernel.first_team),
                               kernel);
  }

  void finish_long_rows() const {
    using Finish = typename Op::Finish;
    using Merge =
        RaggedMergeKernel<Exec, typename Op::T, State, Finish, OfTeams::threads, OfTeams::lanes>;
    launch_for_list<OfTeams>(RaggedStep::merge, m_windows,
                             Merge(m_arguments.work, Finish(m_arguments)));
    if constexpr (Op::writes_entries)
      launch_for_list<OfTeams>(RaggedStep::write, 2 * m_windows,
                               RaggedWriteKernel<Exec, Op, Shape>(m_arguments));
  }

  /// Launches a kernel whose teams share lists of up to `most` elements each: some teams more than
  /// are resident at one time, so that it doesn't matter if some of them take longer.
  template <class Policy, class Kernel>
  void launch_for_list(RaggedStep step, std::int64_t most, const Kernel& kernel) const {
    constexpr std::int64_t per_resident_team =
        is_host_space<Exec> ? 1 : Kernel::teams_per_resident_team;
    const std::int64_t resident =
        std::int64_t(multiprocessors(m_exec)) * std::max(1, Policy::min_teams);
    launch_kernel<Policy>(step, std::min(most, per_resident_team * resident), kernel);
  }

  template <class Policy, class Kernel>
  void launch_kernel(RaggedStep step, std::int64_t teams, const Kernel& kernel) const {
    PolicyOf<Exec, Policy, Kernel> policy(m_exec, static_cast<int>(teams), Policy::threads,
                                          Policy::lanes);
    policy.set_scratch_size(0, Kokkos::PerTeam(static_cast<int>(Kernel::scratch_bytes())));
    Kokkos::parallel_for(ragged_label(m_operation, step), policy, kernel);
  }

  const Exec& m_exec;
  RaggedOperation m_operation;
  Arguments m_arguments;
  std::int64_t m_windows;
};

}  // namespace KokkosSoftmax::Impl

#endif
