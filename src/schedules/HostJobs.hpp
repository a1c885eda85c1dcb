// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTJOBS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTJOBS_HPP

/// \file
/// What the vector kernels of host/ are called with: the kernels of an operation, and jobs, which
/// are blocks of rows. So the loops over rows are inside the kernels.

#include <algorithm>
#include <host/Isa.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <row/HostBlock.hpp>
#include <row/RowArgs.hpp>
#include <row/Source.hpp>
#include <schedules/HostBuffers.hpp>
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

/// Whether y is written past the caches of `threads` threads: x and y are larger than these. If y
/// is x, it is in a cache when it is written.
template <class X, class Y>
bool exceeds_caches(const RowProblem<X, Y>& problem, std::int64_t threads) {
  const std::int64_t bytes = static_cast<std::int64_t>(sizeof(X) + sizeof(Y)) *
                             capped_product(problem.rows, problem.columns);
  return static_cast<const void*>(problem.x) != static_cast<const void*>(problem.y) &&
         bytes > last_level_cache_bytes(threads);
}

/// What jobs on numbers have in common that are values already, and are in a buffer.
template <class T>
HostJob<T, T, T> job_of_values() {
  HostJob<T, T, T> job;
  job.factors = {T(1), T(1), true, false};
  job.lse = {nullptr, 0};
  job.max = {nullptr, 0};
  job.zero_empty_rows = false;
  job.streams = false;
  job.y_holds_row_values = false;
  job.buffer = nullptr;
  return job;
}

/// A job of rows that stand one after the other in `values`, and are replaced by their results.
template <class T>
HostRowsJob<T, T, T> rows_in_buffer(T* values, std::int64_t rows, std::int64_t columns) {
  HostRowsJob<T, T, T> job;
  static_cast<HostJob<T, T, T>&>(job) = job_of_values<T>();
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
  /// The rows side by side whose entries in one column fill a cache line.
  static constexpr std::int64_t line = 64 / std::min(sizeof(X), sizeof(Y));

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
  int function() const { return m_arguments.function; }
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

 private:
  const OuterAxis& fastest() const { return fastest_axis(m_problem); }

  template <class Job>
  Job job_at(std::int64_t first) const {
    const RowPointers<V> pointers = m_arguments.row(first);
    Job job;
    job.factors = PlainSource<V>(m_arguments).on_host().template factors<HostFactors<T>>();
    job.lse = row_values(m_problem.lse, m_problem.lse_stride, first);
    job.max = row_values(m_problem.max, m_problem.max_stride, first);
    job.zero_empty_rows = m_arguments.empty_rows == EmptyRows::zero;
    job.streams = Op::writes_entries && exceeds_caches(m_problem, m_threads);
    job.y_holds_row_values = m_problem.y_holds_row_values;
    job.buffer = nullptr;
    job.x = reinterpret_cast<const X*>(pointers.x);
    job.y = reinterpret_cast<Y*>(pointers.y);
    return job;
  }

  static HostRowValues<T> row_values(T* data, std::int64_t stride, std::int64_t first) {
    return {data == nullptr ? nullptr : data + first * stride, stride};
  }

  RowArgs<V> m_arguments;
  const typename RowArgs<V>::Problem& m_problem;
  std::int64_t m_threads;
};

}  // namespace KokkosSoftmax::Impl

#endif
