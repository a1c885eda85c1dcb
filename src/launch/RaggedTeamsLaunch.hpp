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
    find_windows(vector_windows);
    launch_for_list<OfVectors>(RaggedStep::rows, vector_windows,
                               RaggedVectorsKernel<Exec, Op, Shape>(m_arguments));
    const std::int64_t longest = m_arguments.problem.entries;
    if (longest > Shape::longest_of_vector)
      launch_for_list<OfTeams>(RaggedStep::teams, 2 * m_windows,
                               RaggedTeamsKernel<Exec, Op, Shape>(m_arguments));
    if constexpr (Op::reduces)
      if (longest > Shape::longest_of_team) finish_long_rows();
  }

 private:
  void find_windows(std::int64_t vector_windows) const {
    using Bytes = Kokkos::View<unsigned char*, typename Exec::memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
    zero_fill(m_exec, Bytes(reinterpret_cast<unsigned char*>(m_arguments.work.count),
                            sizeof(*m_arguments.work.count)));
    using Kernel = RaggedWindowsKernel<Exec, Op, Shape>;
    using Policy = typename Shape::OfVectors;
    constexpr std::int64_t most_teams =
        (std::int64_t(1) << 30) / (is_cuda<Exec> ? 1 : Policy::threads * Policy::lanes);
    const std::int64_t teams = divide_up(vector_windows, std::int64_t(Kernel::windows_per_team));
    Kernel kernel(m_arguments, vector_windows);
    for (; kernel.first_team < teams; kernel.first_team += most_teams)
      launch_kernel<Policy>(RaggedStep::windows, std::min(most_teams, teams - kernel.first_team),
                            kernel);
  }

  void finish_long_rows() const {
    launch_for_list<OfTeams>(RaggedStep::merge, m_windows,
                             RaggedMergeKernel<Exec, Op, Shape>(m_arguments));
    if constexpr (Op::writes_entries)
      launch_for_list<OfTeams>(RaggedStep::write, 2 * m_windows,
                               RaggedWriteKernel<Exec, Op, Shape>(m_arguments));
  }

  /// Launches a kernel whose teams share a list of up to `most` elements: some teams more than are
  /// resident at one time, so that it doesn't matter if some of them take longer.
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
