// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGATHERED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTGATHERED_HPP

/// \file
/// Rows with any strides that are copied to a buffer for Options::reproducible, so that they have
/// the bits of contiguous rows.

#include <algorithm>
#include <schedules/HostJobs.hpp>
#include <schedules/HostTeams.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// The copy of one row, or of several rows of at most one span in all.
template <class Op>
class HostGatheredRows {
 public:
  using X = typename HostJobs<Op>::X;
  using Y = typename HostJobs<Op>::Y;
  using T = typename HostJobs<Op>::T;
  using Panels = typename HostJobs<Op>::Panels;
  using Kernels = typename HostKernelsOf<Op>::Kernels;

  /// The number of rows that are copied together.
  static std::int64_t most_rows(std::int64_t columns) {
    return std::clamp<std::int64_t>(span_columns / columns, 1, HostJobs<Op>::line);
  }

  /// `job`: as for panels, except that neighbouring rows can have any distance
  HostGatheredRows(const Kernels& kernels, const Panels& job, std::int64_t x_row_stride)
      : m_kernels(kernels), m_job(job), m_x_row_stride(x_row_stride), m_spans(job.columns) {
    static_cast<HostJob<X, Y, T>&>(m_gathered) = job;
    m_gathered.streams = false;
    m_gathered.buffer = host_thread_buffer<T>();
    m_result = reinterpret_cast<Y*>(m_gathered.buffer + 2 * host_buffer_row);
    if constexpr (std::is_same_v<X, Y>)
      m_copy = m_result;
    else
      m_copy = host_thread_buffer<X, host_buffer_row>();
    m_gathered.x = m_copy;
    m_gathered.x_stride = job.columns;
    m_gathered.y = Op::writes_entries ? m_result : job.y;
    m_gathered.y_stride = Op::writes_entries ? job.columns : job.y_stride;
    m_gathered.rows = job.rows;
    m_gathered.columns = job.columns;
  }

  void compute() const {
    if (m_job.columns > span_columns) return compute_in_parts(*this);
    gather(0, m_job.columns);
    m_kernels.rows(m_gathered);
    scatter(0, m_job.columns);
  }

  // The spans of a row, see compute_in_parts().
  using State = HostState<T>;
  std::int64_t count() const { return m_spans.count(); }
  void reduce(std::int64_t s, State& state) const {
    gather(m_spans.begin(s), m_spans.end(s));
    state = m_kernels.reduce(m_gathered, 0, 0, m_spans.size(s));
  }
  void merge(State& into, const State& from) const { m_kernels.merge(into, from); }
  void finish(const State& row) const { m_kernels.finish(m_gathered, 0, row); }
  void write(std::int64_t first, std::int64_t last, const State& row) const {
    for (std::int64_t s = last - 1; Op::writes_entries && s >= first; --s) {
      gather(m_spans.begin(s), m_spans.end(s));
      m_kernels.write(m_gathered, 0, 0, m_spans.size(s), row);
      scatter(m_spans.begin(s), m_spans.end(s));
    }
  }

 private:
  void gather(std::int64_t first, std::int64_t last) const {
    for (std::int64_t c = first; c < last; ++c)
      for (std::int64_t r = 0; r < m_job.rows; ++r)
        m_copy[r * m_job.columns + c - first] =
            m_job.x[c * m_job.x_column_stride + r * m_x_row_stride];
  }
  void scatter(std::int64_t first, std::int64_t last) const {
    if constexpr (Op::writes_entries)
      for (std::int64_t c = first; c < last; ++c)
        for (std::int64_t r = 0; r < m_job.rows; ++r)
          m_job.y[c * m_job.y_column_stride + r * m_job.y_stride] =
              m_result[r * m_job.columns + c - first];
  }

  const Kernels& m_kernels;
  Panels m_job;
  std::int64_t m_x_row_stride;
  HostSpans m_spans;
  HostRowsJob<X, Y, T> m_gathered;
  X* m_copy;
  Y* m_result;
};

/// Each thread copies and computes a block of rows.
template <class Op>
struct HostGatheredBlocks {
  RowArgs<typename Op::Types> arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const HostJobs<Op> jobs(arguments, blocks);
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    const std::int64_t rows = arguments.problem.rows;
    const std::int64_t most = HostGatheredRows<Op>::most_rows(arguments.problem.columns);
    for_each_group(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks),
                   jobs.neighbours(), [&](std::int64_t first, std::int64_t count) {
                     for (std::int64_t r = 0; r < count; r += most)
                       HostGatheredRows<Op>(kernels,
                                            jobs.panels(first + r, std::min(most, count - r)),
                                            jobs.x_row_stride())
                           .compute();
                   });
  }
};

/// All threads of a team copy and compute each row.
template <class Exec, class Op>
struct HostGatheredInSpans {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  RowArgs<typename Op::Types> arguments;

  void operator()(const Member& member) const {
    const HostJobs<Op> jobs(arguments, threads_of(member));
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    compute_in_parts(member, HostGatheredRows<Op>(kernels, jobs.panels(member.league_rank(), 1),
                                                  jobs.x_row_stride()));
  }
};

/// Rows with any strides, with the bits of contiguous rows.
template <class Exec, class Op>
void host_gathered_rows(const Exec& exec, const std::string& label,
                        const RowArgs<typename Op::Types>& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t threads = exec.concurrency();
  if (share_rows(problem.rows, problem.columns, threads))
    launch_host_teams<typename HostGatheredRows<Op>::State>(
        exec, label, problem.rows, HostGatheredInSpans<Exec, Op>{arguments},
        HostSpans(problem.columns).count());
  else
    launch_host_blocks(exec, label,
                       HostGatheredBlocks<Op>{arguments, std::min(problem.rows, threads)});
}

}  // namespace KokkosSoftmax::Impl

#endif
