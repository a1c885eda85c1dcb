// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTPANELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTPANELS_HPP

/// \file
/// How the threads of a host divide rows that lie side by side. Several schedules have such rows,
/// and each has a class `Panels`:
///
/// - Arguments, and a constructor from the arguments and the number of threads
/// - line: the number of rows whose entries in one column fill a cache line
/// - neighbours(): the number of rows that lie side by side, of which groups consist
/// - compute(first row, number of rows): computes rows of one group
/// - Parts: the columns of up to host_panel_rows such rows in parts, see compute_in_parts(); with a
///   constructor from the Panels, the first row and the number of rows

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <host/Jobs.hpp>
#include <schedules/HostTeams.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// Each thread works on a block of rows that lie side by side. The blocks are whole cache lines.
template <class Panels>
struct HostPanelsBlocks {
  typename Panels::Arguments arguments;
  std::int64_t blocks;

  static std::int64_t lines(std::int64_t neighbours) { return divide_up(neighbours, Panels::line); }

  void operator()(std::int64_t b) const {
    const Panels panels(arguments, blocks);
    const std::int64_t neighbours = panels.neighbours();
    const std::int64_t per_group = lines(neighbours);
    const std::int64_t all = per_group * (arguments.problem.rows / neighbours);
    const auto first_row = [&](std::int64_t l) {
      return l / per_group * neighbours + std::min(l % per_group * Panels::line, neighbours);
    };
    for_each_group(first_row(begin_of_part(all, b, blocks)),
                   first_row(begin_of_part(all, b + 1, blocks)), neighbours,
                   [&](std::int64_t first, std::int64_t count) { panels.compute(first, count); });
  }
};

/// All threads of a team work on each panel.
template <class Exec, class Panels>
struct HostPanelInParts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  typename Panels::Arguments arguments;

  std::int64_t panels_per_group() const {
    return divide_up(Panels(arguments, 1).neighbours(), host_panel_rows);
  }

  void operator()(const Member& member) const {
    const Panels panels(arguments, threads_of(member));
    const std::int64_t group = member.league_rank() / panels_per_group();
    const std::int64_t first = member.league_rank() % panels_per_group() * host_panel_rows;
    const std::int64_t rows = std::min(host_panel_rows, panels.neighbours() - first);
    compute_in_parts(member,
                     typename Panels::Parts(panels, group * panels.neighbours() + first, rows));
  }
};

template <class Exec, class Panels>
void host_panels(const Exec& exec, const std::string& label,
                 const typename Panels::Arguments& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t neighbours = Panels(arguments, 1).neighbours();
  const std::int64_t groups = problem.rows / neighbours;
  const std::int64_t threads = std::max(1, exec.concurrency());
  const std::int64_t lines = groups * HostPanelsBlocks<Panels>::lines(neighbours);
  if (!share_panels(groups, lines, problem.columns, threads))
    return launch_host_blocks(exec, label,
                              HostPanelsBlocks<Panels>{arguments, std::min(lines, threads)});
  const HostPanelInParts<Exec, Panels> kernel{arguments};
  launch_host_teams<typename Panels::Parts::State>(exec, label, groups * kernel.panels_per_group(),
                                                   kernel,
                                                   HostColumnParts(problem.columns).count());
}

}  // namespace KokkosSoftmax::Impl

#endif
