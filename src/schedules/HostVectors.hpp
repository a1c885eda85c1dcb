// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP

/// \file
/// The host schedule with the vector kernels of host/: for the operations and the types that these
/// are compiled for.

#include <algorithm>
#include <schedules/HostGathered.hpp>
#include <schedules/HostJobs.hpp>
#include <schedules/HostPanels.hpp>
#include <schedules/HostTeams.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// The longest rows of which two stay in the caches of each of `threads` threads.
template <class T>
std::int64_t host_cached_columns(std::int64_t threads) {
  // One row of this size stays in the second-level cache. The last-level cache holds x and y, too.
  constexpr std::int64_t least_bytes = std::int64_t{1} << 20;
  constexpr std::int64_t share = 4;
  const std::int64_t bytes = last_level_cache_bytes(threads) / (share * threads);
  return std::max(least_bytes, bytes) / static_cast<std::int64_t>(sizeof(T));
}

/// Each thread works on a block of contiguous rows.
template <class Op>
struct HostRowsBlocks {
  using T = typename HostJobs<Op>::T;

  RowArgs<typename Op::Types> arguments;
  std::int64_t blocks;
  bool reproducible;

  void operator()(std::int64_t b) const {
    const HostJobs<Op> jobs(arguments, blocks);
    const std::int64_t rows = arguments.problem.rows;
    for_each_group(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks),
                   jobs.neighbours(), [&](std::int64_t first, std::int64_t count) {
                     const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
                     auto job = jobs.rows(first, count);
                     job.cached_columns = host_cached_columns<T>(blocks);
                     job.reproducible = reproducible;
                     const std::int64_t size = kernels.buffer_size(job);
                     job.buffer = size <= host_buffer_size ? host_thread_buffer<T>()
                                                           : host_long_thread_buffer<T>(size);
                     kernels.rows(job);
                   });
  }
};

/// A contiguous row in spans, see compute_in_parts().
template <class Op>
class HostRowSpans {
 public:
  using State = HostState<typename HostJobs<Op>::T>;
  using Job = typename HostJobs<Op>::Rows;
  using Kernels = typename HostKernelsOf<Op>::Kernels;

  HostRowSpans(const Kernels& kernels, const Job& job)
      : m_kernels(kernels), m_job(job), m_spans(job.columns) {}

  std::int64_t count() const { return m_spans.count(); }
  void reduce(std::int64_t s, State& state) const {
    state = m_kernels.reduce(m_job, 0, m_spans.begin(s), m_spans.end(s));
  }
  void merge(State& into, const State& from) const { m_kernels.merge(into, from); }
  void finish(const State& row) const { m_kernels.finish(m_job, 0, row); }
  void write(std::int64_t first, std::int64_t last, const State& row) const {
    for (std::int64_t s = last - 1; s >= first; --s)
      m_kernels.write(m_job, 0, m_spans.begin(s), m_spans.end(s), row);
  }

 private:
  const Kernels& m_kernels;
  Job m_job;
  HostSpans m_spans;
};

/// All threads of a team work on each row.
template <class Exec, class Op>
struct HostRowInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  RowArgs<typename Op::Types> arguments;

  void operator()(const Member& member) const {
    const HostJobs<Op> jobs(arguments, threads_of(member));
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    compute_in_parts(member, HostRowSpans<Op>(kernels, jobs.rows(member.league_rank(), 1)));
  }
};

/// The columns of a panel in parts, see compute_in_parts().
template <class Op>
class HostPanelParts {
 public:
  using State = HostPanelStates<typename HostJobs<Op>::T>;
  using Job = typename HostJobs<Op>::Panels;
  using Kernels = typename HostKernelsOf<Op>::Kernels;

  HostPanelParts(const Kernels& kernels, const Job& job)
      : m_kernels(kernels), m_job(job), m_parts(job.columns) {}

  std::int64_t count() const { return m_parts.count(); }
  void reduce(std::int64_t p, State& state) const {
    m_kernels.reduce_panel(m_job, 0, m_job.rows, m_parts.begin(p), m_parts.begin(p + 1), state);
  }
  void merge(State& into, const State& from) const {
    m_kernels.merge_panel(into, from, m_job.rows);
  }
  void finish(const State& rows) const { m_kernels.finish_panel(m_job, 0, m_job.rows, rows); }
  void write(std::int64_t first, std::int64_t last, const State& rows) const {
    m_kernels.write_panel(m_job, 0, m_job.rows, m_parts.begin(first), m_parts.begin(last), rows);
  }

 private:
  const Kernels& m_kernels;
  Job m_job;
  HostColumnParts m_parts;
};

/// The rows that lie side by side, see HostPanels.hpp.
template <class Op>
class HostVectorPanels {
 public:
  using Arguments = RowArgs<typename Op::Types>;
  using T = typename HostJobs<Op>::T;
  static constexpr std::int64_t line = HostJobs<Op>::line;

  HostVectorPanels(const Arguments& arguments, std::int64_t threads) : m_jobs(arguments, threads) {}

  std::int64_t neighbours() const { return m_jobs.neighbours(); }
  void compute(std::int64_t first, std::int64_t count) const {
    auto job = m_jobs.panels(first, count);
    job.buffer = host_thread_buffer<T, host_panel_buffer_size<T>>();
    kernels().panels(job);
  }

  class Parts : public HostPanelParts<Op> {
   public:
    Parts(const HostVectorPanels& panels, std::int64_t first, std::int64_t rows)
        : HostPanelParts<Op>(panels.kernels(), panels.m_jobs.panels(first, rows)) {}
  };

 private:
  const auto& kernels() const { return HostKernelsOf<Op>::get(m_jobs.function()); }

  HostJobs<Op> m_jobs;
};

/// Contiguous rows. Those of one span have the same bits in a block and in spans. So have longer
/// rows if the call is reproducible.
template <class Exec, class Op>
void host_vector_rows(const Exec& exec, const std::string& label,
                      const RowArgs<typename Op::Types>& arguments, bool reproducible) {
  const auto& problem = arguments.problem;
  const std::int64_t threads = exec.concurrency();
  if (share_rows(problem.rows, problem.columns, threads))
    launch_host_teams<typename HostRowSpans<Op>::State>(exec, label, problem.rows,
                                                        HostRowInSpans<Exec, Op>{arguments},
                                                        HostSpans(problem.columns).count());
  else
    launch_host_blocks(
        exec, label, HostRowsBlocks<Op>{arguments, std::min(problem.rows, threads), reproducible});
}

/// Computes the rows, and returns true, if vectors serve them: rows that are contiguous or lie side
/// by side, and with Options::reproducible all rows, so that their bits don't depend on the
/// strides.
template <class Exec, class Op>
bool host_vectors(const Exec& exec, const std::string& label,
                  const RowArgs<typename Op::Types>& arguments, bool reproducible) {
  const HostJobs<Op> jobs(arguments);
  if (jobs.has_rows())
    host_vector_rows<Exec, Op>(exec, label, arguments, reproducible);
  else if (reproducible && arguments.problem.columns > 0)
    host_gathered_rows<Exec, Op>(exec, label, arguments);
  else if (jobs.has_panels())
    host_panels<Exec, HostVectorPanels<Op>>(exec, label, arguments);
  else
    return false;
  return true;
}

}  // namespace KokkosSoftmax::Impl

#endif
