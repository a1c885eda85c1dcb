// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTBACKWARD_HPP

/// \file
/// The host schedule of the backward passes, with the kernels of host/Backward.hpp.

#include <row/BackwardSource.hpp>
#include <schedules/HostVectors.hpp>

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

  /// Calls f(job) for jobs of rows [first, last). The rows of a job have the same indices along all
  /// outer axes except the fastest.
  template <class F>
  void for_each_job(std::int64_t first, std::int64_t last, const F& f) const {
    const std::int64_t neighbours = fastest().extent;
    while (first < last) {
      const std::int64_t end = std::min(last, (first / neighbours + 1) * neighbours);
      f(job(first, end - first));
      first = end;
    }
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

/// Each thread works on a block of rows.
template <class V, bool by_row>
struct HostBackwardBlocks {
  using Jobs = HostBackwardJobs<V>;

  BackwardArgs<V> arguments;
  std::int64_t blocks;
  /// Blocks begin at multiples of so many rows.
  std::int64_t unit;

  void operator()(std::int64_t b) const {
    const std::int64_t rows = arguments.problem.rows;
    const std::int64_t units = divide_up(rows, unit);
    const auto first_row = [&](std::int64_t part) {
      return std::min(rows, begin_of_part(units, part, blocks) * unit);
    };
    Jobs(arguments, blocks)
        .for_each_job(first_row(b), first_row(b + 1), [](const typename Jobs::Job& job) {
          if constexpr (by_row)
            Jobs::kernels().rows(job);
          else
            Jobs::kernels().panels(job);
        });
  }
};

/// All threads of a team work on each row, as in HostRowInSpans.
template <class Exec, class V>
struct HostBackwardInSpans {
  using Jobs = HostBackwardJobs<V>;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  BackwardArgs<V> arguments;

  std::int64_t spans() const { return divide_up(arguments.problem.columns, span_columns); }

  void operator()(const Member& member) const {
    const auto& kernels = Jobs::kernels();
    const auto job = Jobs(arguments, threads_of(member)).job(member.league_rank(), 1);
    double* const sums = team_array<double>(member, spans());
    const std::int64_t first = begin_of_part(spans(), member.team_rank(), member.team_size());
    const std::int64_t last = begin_of_part(spans(), member.team_rank() + 1, member.team_size());
    const auto end_of = [&](std::int64_t s) {
      return std::min(job.columns, (s + 1) * span_columns);
    };
    for (std::int64_t s = first; s < last; ++s)
      sums[s] = kernels.sum(job, 0, s * span_columns, end_of(s));
    member.team_barrier();
    double all = 0;
    for (std::int64_t s = 0; s < spans(); ++s) all += sums[s];
    for (std::int64_t s = last - 1; s >= first; --s)
      kernels.write(job, 0, s * span_columns, end_of(s), all);
    member.team_barrier();  // the next row of this team uses the scratch memory again
  }
};

/// Launches the kernels. With `reproducible`, all rows are computed in the way that serves any
/// strides.
template <class Exec, class V>
void host_backward(const Exec& exec, const std::string& label, const BackwardArgs<V>& arguments,
                   bool reproducible) {
  const std::int64_t rows = arguments.problem.rows;
  const std::int64_t threads = exec.concurrency();
  if (reproducible || !HostBackwardJobs<V>(arguments).has_rows()) {
    constexpr std::int64_t line = 64 / sizeof(typename V::X);
    return launch_host_blocks(
        exec, label,
        HostBackwardBlocks<V, false>{arguments, std::min(divide_up(rows, line), threads), line});
  }
  if (rows >= threads || arguments.problem.columns <= span_columns)
    return launch_host_blocks(exec, label,
                              HostBackwardBlocks<V, true>{arguments, std::min(rows, threads), 1});
  using Kernel = HostBackwardInSpans<Exec, V>;
  const Kernel kernel{arguments};
  launch_host_teams(exec, label, rows, kernel, team_array_bytes<double>(kernel.spans()));
}

}  // namespace KokkosSoftmax::Impl

#endif
