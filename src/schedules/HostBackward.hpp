// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBACKWARD_HPP

/// \file
/// The host schedule of the backward passes, with the kernels of host/Backward.hpp.

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <row/BackwardSource.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>

namespace KokkosSoftmax::Impl {

/// Makes the jobs of a launch.
template <class V>
class HostBackwardJobs {
 public:
  using T = typename V::Compute;
  using X = HostNumber<typename V::X>;
  using Job = HostBackwardJob<X, T>;

  explicit HostBackwardJobs(const BackwardArgs<V>& arguments, std::int64_t threads = 1)
      : m_arguments(arguments), m_threads(threads) {}

  static const HostBackwardKernels<X>& kernels() { return host_isa().kernels<X, X>().backward; }

  /// Whether the rows are contiguous in all arrays.
  bool has_rows() const {
    return problem().columns == 1 ||
           (problem().x_column_stride == 1 && problem().y_column_stride == 1 &&
            m_arguments.dy_column_stride == 1);
  }

  /// Calls f(job) for jobs of rows [first, last), of at most `most` rows each. The rows of a job
  /// have the same indices along all outer axes except the fastest.
  template <class F>
  void for_each_job(std::int64_t first, std::int64_t last, std::int64_t most, const F& f) const {
    const std::int64_t neighbours = fastest().extent;
    while (first < last) {
      const std::int64_t end = std::min(last, (first / neighbours + 1) * neighbours);
      const std::int64_t count = std::min(end - first, most);
      f(job(first, count));
      first += count;
    }
  }

  /// The number of groups of such rows, and of panels, of which each group has its own.
  std::int64_t groups() const { return problem().rows / fastest().extent; }
  std::int64_t panels() const { return groups() * panels_per_group(); }
  Job panel(std::int64_t i) const {
    const std::int64_t neighbours = fastest().extent;
    const std::int64_t first = i % panels_per_group() * host_backward_panel_rows;
    return job(i / panels_per_group() * neighbours + first,
               std::min(host_backward_panel_rows, neighbours - first));
  }

  /// `count` rows from row `first` on.
  Job job(std::int64_t first, std::int64_t count) const {
    const auto pointers = m_arguments.row(first);
    const int d = problem().outer_rank - 1;
    return {.y = reinterpret_cast<const X*>(pointers.x),
            .dy = reinterpret_cast<const X*>(m_arguments.dy_row(first)),
            .dx = reinterpret_cast<X*>(pointers.y),
            .y_stride = fastest().x_stride,
            .dy_stride = m_arguments.dy_outer_stride[d],
            .dx_stride = fastest().y_stride,
            .y_column_stride = problem().x_column_stride,
            .dy_column_stride = m_arguments.dy_column_stride,
            .dx_column_stride = problem().y_column_stride,
            .rows = count,
            .columns = problem().columns,
            .scale = m_arguments.scale,
            .is_log = m_arguments.is_log(),
            .streams = streams()};
  }

 private:
  const auto& problem() const { return m_arguments.problem; }
  const OuterAxis& fastest() const { return problem().outer[problem().outer_rank - 1]; }
  std::int64_t panels_per_group() const {
    return divide_up(fastest().extent, host_backward_panel_rows);
  }

  /// Whether dx is neither of the inputs, which are in a cache when it is written, and all three
  /// exceed the caches.
  bool streams() const {
    const std::int64_t bytes = 3 * static_cast<std::int64_t>(sizeof(X)) *
                               capped_product(problem().rows, problem().columns);
    return problem().x != problem().y && m_arguments.dy != problem().y &&
           bytes > last_level_cache_bytes(m_threads);
  }

  BackwardArgs<V> m_arguments;
  std::int64_t m_threads;
};

/// A contiguous row in spans, see compute_in_parts().
template <class V>
class HostBackwardSpans {
 public:
  using State = CompensatedSum<double>;
  using Jobs = HostBackwardJobs<V>;
  explicit HostBackwardSpans(const typename Jobs::Job& job) : m_job(job), m_spans(job.columns) {}

  std::int64_t count() const { return m_spans.count(); }
  void reduce(std::int64_t s, State& sum) const {
    sum = {};
    sum.add(Jobs::kernels().sum(m_job, 0, m_spans.begin(s), m_spans.end(s)));
  }
  void merge(State& into, const State& from) const { into.add(from.value()); }
  void finish(const State&) const {}
  void write(std::int64_t first, std::int64_t last, const State& sum) const {
    for (std::int64_t s = last - 1; s >= first; --s)
      Jobs::kernels().write(m_job, 0, m_spans.begin(s), m_spans.end(s), sum.value());
  }

 private:
  typename Jobs::Job m_job;
  HostSpans m_spans;
};

/// A panel of rows of any strides in parts, see compute_in_parts().
template <class V>
class HostBackwardPanel {
 public:
  using State = HostBackwardSums;
  using Jobs = HostBackwardJobs<V>;
  explicit HostBackwardPanel(const typename Jobs::Job& job) : m_job(job), m_parts(job.columns) {}

  std::int64_t count() const { return m_parts.count(); }
  void reduce(std::int64_t p, State& sums) const {
    Jobs::kernels().sum_panel(m_job, m_parts.begin(p), m_parts.begin(p + 1), sums);
  }
  void merge(State& into, const State& from) const {
    Jobs::kernels().merge_panels(into, from, m_job.rows);
  }
  void finish(const State&) const {}
  void write(std::int64_t first, std::int64_t last, const State& sums) const {
    Jobs::kernels().write_panel(m_job, m_parts.begin(first), m_parts.begin(last), sums);
  }

 private:
  typename Jobs::Job m_job;
  HostColumnParts m_parts;
};

/// Each thread works on a block of contiguous rows.
template <class V>
struct HostBackwardRowsBlocks {
  using Jobs = HostBackwardJobs<V>;

  BackwardArgs<V> arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const std::int64_t rows = arguments.problem.rows;
    Jobs(arguments, blocks)
        .for_each_job(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks), rows,
                      [](const typename Jobs::Job& job) { Jobs::kernels().rows(job); });
  }
};

/// All threads of a team work on each row.
template <class Exec, class V>
struct HostBackwardInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  BackwardArgs<V> arguments;

  void operator()(const Member& member) const {
    const HostBackwardJobs<V> jobs(arguments, threads_of(member));
    compute_in_parts(member, HostBackwardSpans<V>(jobs.job(member.league_rank(), 1)));
  }
};

/// Each thread works on a block of rows of any strides.
template <class V>
struct HostBackwardPanelsBlocks {
  using Jobs = HostBackwardJobs<V>;
  /// Blocks begin at multiples of so many rows: a cache line, if they lie side by side.
  static constexpr std::int64_t line = 64 / sizeof(typename V::X);

  BackwardArgs<V> arguments;
  std::int64_t blocks;

  static std::int64_t lines(std::int64_t rows) { return divide_up(rows, line); }

  void operator()(std::int64_t b) const {
    const std::int64_t rows = arguments.problem.rows;
    const auto first_row = [&](std::int64_t part) {
      return std::min(rows, begin_of_part(lines(rows), part, blocks) * line);
    };
    Jobs(arguments, blocks)
        .for_each_job(
            first_row(b), first_row(b + 1), host_backward_panel_rows,
            [](const typename Jobs::Job& job) { compute_in_parts(HostBackwardPanel<V>(job)); });
  }
};

/// All threads of a team work on each panel.
template <class Exec, class V>
struct HostBackwardPanelInParts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  BackwardArgs<V> arguments;

  void operator()(const Member& member) const {
    const HostBackwardJobs<V> jobs(arguments, threads_of(member));
    compute_in_parts(member, HostBackwardPanel<V>(jobs.panel(member.league_rank())));
  }
};

/// Contiguous rows.
template <class Exec, class V>
void host_backward_rows(const Exec& exec, const std::string& label,
                        const BackwardArgs<V>& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t threads = exec.concurrency();
  if (share_rows(problem.rows, problem.columns, threads))
    launch_host_teams<CompensatedSum<double>>(exec, label, problem.rows,
                                              HostBackwardInSpans<Exec, V>{arguments},
                                              HostSpans(problem.columns).count());
  else
    launch_host_blocks(exec, label,
                       HostBackwardRowsBlocks<V>{arguments, std::min(problem.rows, threads)});
}

/// Rows of any strides.
template <class Exec, class V>
void host_backward_panels(const Exec& exec, const std::string& label,
                          const BackwardArgs<V>& arguments) {
  using Blocks = HostBackwardPanelsBlocks<V>;
  const auto& problem = arguments.problem;
  const HostBackwardJobs<V> jobs(arguments);
  const std::int64_t threads = exec.concurrency();
  const std::int64_t lines = Blocks::lines(problem.rows);
  if (share_panels(jobs.groups(), lines, problem.columns, threads))
    launch_host_teams<HostBackwardSums>(exec, label, jobs.panels(),
                                        HostBackwardPanelInParts<Exec, V>{arguments},
                                        HostColumnParts(problem.columns).count());
  else
    launch_host_blocks(exec, label, Blocks{arguments, std::min(lines, threads)});
}

/// Launches the kernels. With `reproducible`, all rows are computed in the way that serves any
/// strides.
template <class Exec, class V>
void host_backward(const Exec& exec, const std::string& label, const BackwardArgs<V>& arguments,
                   bool reproducible) {
  if (reproducible || !HostBackwardJobs<V>(arguments).has_rows())
    host_backward_panels(exec, label, arguments);
  else
    host_backward_rows(exec, label, arguments);
}

}  // namespace KokkosSoftmax::Impl

#endif
