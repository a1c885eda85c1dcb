// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP

/// \file
/// The host schedule with the vector kernels of host/: for the operations and the types that these
/// are compiled for. The kernels get whole blocks of rows, so the loops over rows are inside.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <host/Isa.hpp>
#include <memory>
#include <op/LogSumExp.hpp>
#include <op/Softmax.hpp>
#include <row/RowArgs.hpp>
#include <row/Source.hpp>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The type in the kernels of host/ for numbers of type X.
template <class X>
struct HostNumberOf {
  using type = X;
};
#if !KOKKOS_HALF_T_IS_FLOAT
template <>
struct HostNumberOf<Kokkos::Experimental::half_t> {
  using type = HostHalf;
};
#endif
#if !KOKKOS_BHALF_T_IS_FLOAT
template <>
struct HostNumberOf<Kokkos::Experimental::bhalf_t> {
  using type = HostBhalf;
};
#endif
template <class X>
using HostNumber = typename HostNumberOf<X>::type;

/// Which kernels an operation has: those of its output with the number `function`.
template <class V>
struct HostTableOf {
  using X = HostNumber<typename V::X>;
  using Y = HostNumber<typename V::Y>;
  using Kernels = HostKernels<X, Y>;
  static_assert(sizeof(X) == sizeof(typename V::X) && sizeof(Y) == sizeof(typename V::Y));

  static constexpr bool exist = true;
  static const HostKernelTable<X, Y>& table() { return host_isa().kernels<X, Y>(); }
};
template <class Op>
struct HostKernelsOf {
  static constexpr bool exist = false;
};
template <class V>
struct HostKernelsOf<SoftmaxOp<V>> : HostTableOf<V> {
  static const typename HostTableOf<V>::Kernels& get(int function) {
    const auto& table = HostTableOf<V>::table();
    return function == 0 ? table.softmax : table.log_softmax;
  }
};
template <class V>
struct HostKernelsOf<LogSumExpOp<V>> : HostTableOf<V> {
  static const typename HostTableOf<V>::Kernels& get(int) {
    return HostTableOf<V>::table().logsumexp;
  }
};

/// A buffer of the calling thread, allocated at its first use.
template <class T, std::int64_t size = host_buffer_size>
T* host_thread_buffer() {
  struct Free {
    void operator()(T* p) const { ::operator delete[](p, std::align_val_t(64)); }
  };
  thread_local const std::unique_ptr<T[], Free> buffer(
      static_cast<T*>(::operator new[](size * sizeof(T), std::align_val_t(64))));
  return buffer.get();
}

/// Makes the jobs of a launch. The rows of a job have the same indices along all outer axes except
/// the fastest. Up to `threads` threads work on them.
template <class Op>
class HostJobs {
 public:
  using V = typename Op::Types;
  using T = typename V::Compute;
  using X = HostNumber<typename V::X>;
  using Y = HostNumber<typename V::Y>;
  using Rows = HostRowsJob<X, Y, T>;
  using Panels = HostPanelsJob<X, Y, T>;

  explicit HostJobs(const RowArgs<V>& arguments, std::int64_t threads = 1)
      : m_arguments(arguments), m_problem(m_arguments.problem), m_threads(threads) {}
  HostJobs(const HostJobs&) = delete;
  HostJobs& operator=(const HostJobs&) = delete;

  /// Whether the rows are contiguous.
  bool has_rows() const {
    return (m_problem.x_column_stride == 1 || m_problem.columns == 1) && m_problem.columns >= 1 &&
           (!Op::writes_entries || m_problem.y_column_stride == 1 || m_problem.columns == 1);
  }
  /// Whether the rows lie side by side.
  bool has_panels() const {
    return !has_rows() && m_problem.columns > 1 && fastest().x_stride == 1 &&
           (!Op::writes_entries || fastest().y_stride == 1);
  }
  /// The number of rows of a job.
  std::int64_t neighbours() const { return fastest().extent; }

  /// `count` rows from row `first` on, which are contiguous.
  Rows rows(std::int64_t first, std::int64_t count) const {
    Rows job = job_at<Rows>(first);
    job.x_stride = fastest().x_stride;
    job.y_stride = fastest().y_stride;
    job.rows = count;
    job.columns = m_problem.columns;
    return job;
  }
  /// The same for rows that lie side by side.
  Panels panels(std::int64_t first, std::int64_t count) const {
    Panels job = job_at<Panels>(first);
    job.x_column_stride = m_problem.x_column_stride;
    job.y_column_stride = m_problem.y_column_stride;
    job.y_stride = fastest().y_stride;
    job.rows = count;
    job.columns = m_problem.columns;
    return job;
  }

  /// Calls f(first row, number of rows) for each job of rows [first, last).
  template <class F>
  void for_each_job(std::int64_t first, std::int64_t last, const F& f) const {
    while (first < last) {
      const std::int64_t end = std::min(last, (first / neighbours() + 1) * neighbours());
      f(first, end - first);
      first = end;
    }
  }

 private:
  const OuterAxis& fastest() const { return m_problem.outer[m_problem.outer_rank - 1]; }

  template <class Job>
  Job job_at(std::int64_t first) const {
    const RowPointers<V> pointers = m_arguments.row(first);
    Job job;
    job.factors = PlainSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
    job.lse = row_values(m_problem.lse, m_problem.lse_stride, first);
    job.max = row_values(m_problem.max, m_problem.max_stride, first);
    job.zero_empty_rows = m_arguments.empty_rows == EmptyRows::zero;
    // y that is also x is in a cache when it is written
    job.streams = Op::writes_entries &&
                  static_cast<const void*>(m_problem.x) != static_cast<const void*>(m_problem.y) &&
                  bytes() > last_level_cache_bytes(m_threads);
    job.y_holds_row_values = m_problem.y_holds_row_values;
    job.buffer = nullptr;
    job.x = reinterpret_cast<const X*>(pointers.x);
    job.y = reinterpret_cast<Y*>(pointers.y);
    return job;
  }

  static HostRowValues<T> row_values(T* data, std::int64_t stride, std::int64_t first) {
    return {data == nullptr ? nullptr : data + first * stride, stride};
  }

  /// The bytes of x and y.
  std::int64_t bytes() const {
    return static_cast<std::int64_t>(sizeof(X) + sizeof(Y)) *
           capped_product(m_problem.rows, m_problem.columns);
  }

  RowArgs<V> m_arguments;
  const typename RowArgs<V>::Problem& m_problem;
  std::int64_t m_threads;
};

/// n * i / parts without overflow: where part i of n items begins.
constexpr std::int64_t begin_of_part(std::int64_t n, std::int64_t i, std::int64_t parts) {
  return n / parts * i + n % parts * i / parts;
}

/// Each thread works on a block of contiguous rows.
template <class Op>
struct HostRowsBlocks {
  using T = typename HostJobs<Op>::T;

  RowArgs<typename Op::Types> arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const HostJobs<Op> jobs(arguments, blocks);
    const std::int64_t rows = arguments.problem.rows;
    jobs.for_each_job(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks),
                      [&](std::int64_t first, std::int64_t count) {
                        auto job = jobs.rows(first, count);
                        job.buffer = host_thread_buffer<T>();
                        HostKernelsOf<Op>::get(arguments.function).rows(job);
                      });
  }
};

/// Each thread works on a block of rows that lie side by side. The blocks are whole cache lines.
template <class Op>
struct HostPanelsBlocks {
  using T = typename HostJobs<Op>::T;
  static constexpr std::int64_t line =
      64 / std::min(sizeof(typename HostJobs<Op>::X), sizeof(typename HostJobs<Op>::Y));

  RowArgs<typename Op::Types> arguments;
  std::int64_t blocks;

  static std::int64_t lines(std::int64_t neighbours) { return divide_up(neighbours, line); }

  void operator()(std::int64_t b) const {
    const HostJobs<Op> jobs(arguments, blocks);
    const std::int64_t neighbours = jobs.neighbours();
    const std::int64_t per_group = lines(neighbours);
    const std::int64_t all = per_group * (arguments.problem.rows / neighbours);
    const auto first_row = [&](std::int64_t l) {
      return l / per_group * neighbours + std::min(l % per_group * line, neighbours);
    };
    jobs.for_each_job(first_row(begin_of_part(all, b, blocks)),
                      first_row(begin_of_part(all, b + 1, blocks)),
                      [&](std::int64_t first, std::int64_t count) {
                        auto job = jobs.panels(first, count);
                        job.buffer = host_thread_buffer<T, host_panel_buffer_size<T>>();
                        HostKernelsOf<Op>::get(arguments.function).panels(job);
                      });
  }
};

/// The same for Options::reproducible: rows are copied to a buffer, so that they have the bits of
/// contiguous rows. (A row that is alone is contiguous, whatever the layout.)
template <class Op>
struct HostGatheredBlocks {
  using X = typename HostJobs<Op>::X;
  using Y = typename HostJobs<Op>::Y;
  using T = typename HostJobs<Op>::T;
  using Panels = typename HostJobs<Op>::Panels;

  RowArgs<typename Op::Types> arguments;
  std::int64_t blocks;

  void operator()(std::int64_t b) const {
    const HostJobs<Op> jobs(arguments, blocks);
    const std::int64_t rows = arguments.problem.rows;
    const std::int64_t most = std::clamp<std::int64_t>(span_columns / arguments.problem.columns, 1,
                                                       HostPanelsBlocks<Op>::line);
    jobs.for_each_job(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks),
                      [&](std::int64_t first, std::int64_t count) {
                        for (std::int64_t r = 0; r < count; r += most)
                          compute(jobs.panels(first + r, std::min(most, count - r)));
                      });
  }

 private:
  /// One row, or several of at most one span in all.
  void compute(const Panels& job) const {
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    HostRowsJob<X, Y, T> gathered;
    static_cast<HostJob<X, Y, T>&>(gathered) = job;
    gathered.streams = false;
    gathered.buffer = host_thread_buffer<T>();
    Y* const result = reinterpret_cast<Y*>(gathered.buffer + 2 * host_buffer_row);
    X* copy;
    if constexpr (std::is_same_v<X, Y>)
      copy = result;
    else
      copy = host_thread_buffer<X, host_buffer_row>();
    gathered.x = copy;
    gathered.x_stride = job.columns;
    gathered.y = Op::writes_entries ? result : job.y;
    gathered.y_stride = Op::writes_entries ? job.columns : job.y_stride;
    gathered.rows = job.rows;
    gathered.columns = job.columns;
    if (job.columns <= span_columns) {
      gather(job, 0, job.columns, copy);
      kernels.rows(gathered);
      scatter(job, 0, job.columns, result);
      return;
    }
    HostState<T> row;
    for (std::int64_t c = 0; c < job.columns; c += span_columns) {
      const std::int64_t size = std::min(span_columns, job.columns - c);
      gather(job, c, size, copy);
      const HostState<T> span = kernels.reduce(gathered, 0, 0, size);
      if (c == 0)
        row = span;
      else
        kernels.merge(row, span);
    }
    kernels.finish(gathered, 0, row);
    for (std::int64_t c = 0; Op::writes_entries && c < job.columns; c += span_columns) {
      const std::int64_t size = std::min(span_columns, job.columns - c);
      gather(job, c, size, copy);
      kernels.write(gathered, 0, 0, size, row);
      scatter(job, c, size, result);
    }
  }

  static void gather(const Panels& job, std::int64_t first, std::int64_t size, X* copy) {
    for (std::int64_t c = 0; c < size; ++c)
      for (std::int64_t r = 0; r < job.rows; ++r)
        copy[r * job.columns + c] = job.x[(first + c) * job.x_column_stride + r];
  }
  static void scatter(const Panels& job, std::int64_t first, std::int64_t size, const Y* result) {
    if constexpr (Op::writes_entries)
      for (std::int64_t c = 0; c < size; ++c)
        for (std::int64_t r = 0; r < job.rows; ++r)
          job.y[(first + c) * job.y_column_stride + r] = result[r * job.columns + c];
  }
};

/// Memory that all threads of a team share, for `count` objects.
template <class S, class Member>
S* team_array(const Member& member, std::int64_t count) {
  const auto bytes = static_cast<std::uintptr_t>(count) * sizeof(S) + alignof(S);
  const auto p = reinterpret_cast<std::uintptr_t>(member.team_scratch(1).get_shmem(bytes));
  return reinterpret_cast<S*>((p + alignof(S) - 1) / alignof(S) * alignof(S));
}
template <class S>
std::size_t team_array_bytes(std::int64_t count) {
  return static_cast<std::size_t>(count) * sizeof(S) + alignof(S) + 64;
}

/// The largest number of threads that work at the same time.
template <class Member>
std::int64_t threads_of(const Member& member) {
  return static_cast<std::int64_t>(member.league_size()) * member.team_size();
}

/// All threads of a team work on each row. The states of its spans are merged in order, so the
/// result doesn't depend on the number of threads.
template <class Exec, class Op>
struct HostRowInSpans {
  using T = typename HostJobs<Op>::T;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = HostState<T>;

  RowArgs<typename Op::Types> arguments;

  std::int64_t spans() const { return divide_up(arguments.problem.columns, span_columns); }

  void operator()(const Member& member) const {
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    const auto job = HostJobs<Op>(arguments, threads_of(member)).rows(member.league_rank(), 1);
    State* const states = team_array<State>(member, spans());
    const std::int64_t first = begin_of_part(spans(), member.team_rank(), member.team_size());
    const std::int64_t last = begin_of_part(spans(), member.team_rank() + 1, member.team_size());
    const auto end_of = [&](std::int64_t s) {
      return std::min(job.columns, (s + 1) * span_columns);
    };
    for (std::int64_t s = first; s < last; ++s)
      states[s] = kernels.reduce(job, 0, s * span_columns, end_of(s));
    member.team_barrier();
    State row = states[0];
    for (std::int64_t s = 1; s < spans(); ++s) kernels.merge(row, states[s]);
    if (member.team_rank() == 0) kernels.finish(job, 0, row);
    // Backwards: a cache still holds the last spans.
    for (std::int64_t s = last - 1; s >= first; --s)
      kernels.write(job, 0, s * span_columns, end_of(s), row);
    member.team_barrier();  // the next row of this team uses the scratch memory again
  }
};

/// All threads of a team work on each panel, each thread on a part of the columns. The number of
/// parts doesn't depend on the number of threads, and the states are merged in order.
template <class Exec, class Op>
struct HostPanelInParts {
  using T = typename HostJobs<Op>::T;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using States = HostPanelStates<T>;
  static constexpr int parts = 64;

  RowArgs<typename Op::Types> arguments;

  std::int64_t panels_per_group() const {
    return divide_up(HostJobs<Op>(arguments).neighbours(), host_panel_rows);
  }

  void operator()(const Member& member) const {
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    const HostJobs<Op> jobs(arguments, threads_of(member));
    const std::int64_t group = member.league_rank() / panels_per_group();
    const std::int64_t first_row = member.league_rank() % panels_per_group() * host_panel_rows;
    const std::int64_t rows = std::min(host_panel_rows, jobs.neighbours() - first_row);
    const auto job = jobs.panels(group * jobs.neighbours() + first_row, rows);
    States* const states = team_array<States>(member, parts + member.team_size());
    const auto begin_of = [&](std::int64_t p) { return begin_of_part(job.columns, p, parts); };
    const std::int64_t first = begin_of_part(parts, member.team_rank(), member.team_size());
    const std::int64_t last = begin_of_part(parts, member.team_rank() + 1, member.team_size());
    for (std::int64_t p = first; p < last; ++p)
      kernels.reduce_panel(job, 0, rows, begin_of(p), begin_of(p + 1), states[p]);
    member.team_barrier();
    States& all = states[parts + member.team_rank()];
    all = states[0];
    for (std::int64_t p = 1; p < parts; ++p) kernels.merge_panel(all, states[p], rows);
    if (member.team_rank() == 0) kernels.finish_panel(job, 0, rows, all);
    kernels.write_panel(job, 0, rows, begin_of(first), begin_of(last), all);
    member.team_barrier();  // the next panel of this team uses the scratch memory again
  }
};

/// Launches `kernel` with a league of teams. Each team has as many threads as it can have.
template <class Exec, class Kernel>
void launch_host_teams(const Exec& exec, const std::string& label, std::int64_t league,
                       const Kernel& kernel, std::size_t scratch_bytes) {
  Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(league), 1);
  policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes));
  const int team_size = policy.team_size_max(kernel, Kokkos::ParallelForTag());
  policy = Kokkos::TeamPolicy<Exec>(exec, static_cast<int>(league), team_size);
  policy.set_scratch_size(1, Kokkos::PerTeam(scratch_bytes));
  Kokkos::parallel_for(label, policy, kernel);
}

template <class Exec, class Kernel>
void launch_host_blocks(const Exec& exec, const std::string& label, const Kernel& kernel) {
  Kokkos::parallel_for(
      label, Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, kernel.blocks),
      kernel);
}

/// Contiguous rows.
template <class Exec, class Op>
void host_vector_rows(const Exec& exec, const std::string& label,
                      const RowArgs<typename Op::Types>& arguments) {
  const std::int64_t rows = arguments.problem.rows;
  const std::int64_t threads = exec.concurrency();
  // Rows of one span have the same bits in a block and in spans, and so have all longer rows.
  if (rows >= threads || arguments.problem.columns <= span_columns)
    return launch_host_blocks(exec, label, HostRowsBlocks<Op>{arguments, std::min(rows, threads)});
  using Kernel = HostRowInSpans<Exec, Op>;
  const Kernel kernel{arguments};
  launch_host_teams(exec, label, rows, kernel,
                    team_array_bytes<typename Kernel::State>(kernel.spans()));
}

/// Whether all threads share each panel, in place of dividing the rows among them.
/// \param groups  of rows that lie side by side
/// \param lines   the number of cache lines of a column of all groups
inline bool share_panels(std::int64_t groups, std::int64_t lines, std::int64_t columns,
                         std::int64_t threads) {
  // Fewer columns take less time than the threads of a team need to synchronize.
  constexpr std::int64_t min_columns_to_share = 4096;
  if (threads == 1 || columns < min_columns_to_share) return false;
  if (lines < 2 * threads) return true;
  // Threads with less than a page of each column read and write slowly. With fewer columns per
  // thread, they would merge the states of the parts in a tenth of the time or more.
  constexpr std::int64_t lines_of_page = 64;
  constexpr std::int64_t min_columns_per_thread = 1024;
  return groups < threads && lines < lines_of_page * threads && columns > min_columns_to_share &&
         columns >= min_columns_per_thread * threads;
}

/// Rows that lie side by side.
template <class Exec, class Op>
void host_vector_panels(const Exec& exec, const std::string& label,
                        const RowArgs<typename Op::Types>& arguments, bool reproducible) {
  const std::int64_t neighbours = HostJobs<Op>(arguments).neighbours();
  const std::int64_t groups = arguments.problem.rows / neighbours;
  const std::int64_t threads = exec.concurrency();
  const std::int64_t lines = groups * HostPanelsBlocks<Op>::lines(neighbours);
  if (reproducible)
    return launch_host_blocks(
        exec, label, HostGatheredBlocks<Op>{arguments, std::min(arguments.problem.rows, threads)});
  if (!share_panels(groups, lines, arguments.problem.columns, threads))
    return launch_host_blocks(exec, label,
                              HostPanelsBlocks<Op>{arguments, std::min(lines, threads)});
  using Kernel = HostPanelInParts<Exec, Op>;
  const Kernel kernel{arguments};
  launch_host_teams(exec, label, groups * kernel.panels_per_group(), kernel,
                    team_array_bytes<typename Kernel::States>(Kernel::parts + threads));
}

}  // namespace KokkosSoftmax::Impl

#endif
