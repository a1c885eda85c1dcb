// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTVECTORS_HPP

/// \file
/// The host schedule with the vector kernels of host/: for the operations and the types that these
/// are compiled for. The kernels get whole blocks of rows, so the loops over rows are inside.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <host/Isa.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <memory>
#include <row/RowArgs.hpp>
#include <row/Source.hpp>
#include <schedules/HostTeams.hpp>
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

/// A job of rows that stand one after the other in `values`, and are replaced by their results.
template <class T>
HostRowsJob<T, T, T> rows_in_buffer(T* values, std::int64_t rows, std::int64_t columns) {
  HostRowsJob<T, T, T> job;
  job.factors = {T(1), T(1), true, false};
  job.lse = {nullptr, 0};
  job.max = {nullptr, 0};
  job.zero_empty_rows = false;
  job.streams = false;
  job.y_holds_row_values = false;
  job.x = values;
  job.x_stride = columns;
  job.y = values;
  job.y_stride = columns;
  job.rows = rows;
  job.columns = columns;
  job.buffer = host_thread_buffer<T>();
  return job;
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
  /// The distance of these rows in x.
  std::int64_t x_row_stride() const { return fastest().x_stride; }

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

/// Rows with any strides that are copied to a buffer for Options::reproducible, so that they have
/// the bits of contiguous rows. One row, or several of at most one span in all.
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
    return std::clamp<std::int64_t>(span_columns / columns, 1, HostPanelsBlocks<Op>::line);
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
    jobs.for_each_job(begin_of_part(rows, b, blocks), begin_of_part(rows, b + 1, blocks),
                      [&](std::int64_t first, std::int64_t count) {
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

/// All threads of a team work on each panel.
template <class Exec, class Op>
struct HostPanelInParts {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  RowArgs<typename Op::Types> arguments;

  std::int64_t panels_per_group() const {
    return divide_up(HostJobs<Op>(arguments).neighbours(), host_panel_rows);
  }

  void operator()(const Member& member) const {
    const HostJobs<Op> jobs(arguments, threads_of(member));
    const auto& kernels = HostKernelsOf<Op>::get(arguments.function);
    const std::int64_t group = member.league_rank() / panels_per_group();
    const std::int64_t first_row = member.league_rank() % panels_per_group() * host_panel_rows;
    const std::int64_t rows = std::min(host_panel_rows, jobs.neighbours() - first_row);
    compute_in_parts(
        member,
        HostPanelParts<Op>(kernels, jobs.panels(group * jobs.neighbours() + first_row, rows)));
  }
};

/// Contiguous rows. Those of one span have the same bits in a block and in spans, and so have all
/// longer rows.
template <class Exec, class Op>
void host_vector_rows(const Exec& exec, const std::string& label,
                      const RowArgs<typename Op::Types>& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t threads = exec.concurrency();
  if (share_rows(problem.rows, problem.columns, threads))
    launch_host_teams<typename HostRowSpans<Op>::State>(exec, label, problem.rows,
                                                        HostRowInSpans<Exec, Op>{arguments},
                                                        HostSpans(problem.columns).count());
  else
    launch_host_blocks(exec, label, HostRowsBlocks<Op>{arguments, std::min(problem.rows, threads)});
}

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

/// Rows that lie side by side.
template <class Exec, class Op>
void host_vector_panels(const Exec& exec, const std::string& label,
                        const RowArgs<typename Op::Types>& arguments) {
  const auto& problem = arguments.problem;
  const std::int64_t neighbours = HostJobs<Op>(arguments).neighbours();
  const std::int64_t groups = problem.rows / neighbours;
  const std::int64_t threads = exec.concurrency();
  const std::int64_t lines = groups * HostPanelsBlocks<Op>::lines(neighbours);
  if (!share_panels(groups, lines, problem.columns, threads))
    return launch_host_blocks(exec, label,
                              HostPanelsBlocks<Op>{arguments, std::min(lines, threads)});
  const HostPanelInParts<Exec, Op> kernel{arguments};
  launch_host_teams<typename HostPanelParts<Op>::State>(exec, label,
                                                        groups * kernel.panels_per_group(), kernel,
                                                        HostColumnParts(problem.columns).count());
}

/// Computes the rows, and returns true, if vectors serve them: rows that are contiguous or lie side
/// by side, and with Options::reproducible all rows, so that their bits don't depend on the
/// strides.
template <class Exec, class Op>
bool host_vectors(const Exec& exec, const std::string& label,
                  const RowArgs<typename Op::Types>& arguments, bool reproducible) {
  const HostJobs<Op> jobs(arguments);
  if (jobs.has_rows())
    host_vector_rows<Exec, Op>(exec, label, arguments);
  else if (reproducible && arguments.problem.columns > 0)
    host_gathered_rows<Exec, Op>(exec, label, arguments);
  else if (jobs.has_panels())
    host_vector_panels<Exec, Op>(exec, label, arguments);
  else
    return false;
  return true;
}

}  // namespace KokkosSoftmax::Impl

#endif
