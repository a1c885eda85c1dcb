// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_KERNELTABLE_HPP
#define KOKKOSSOFTMAX_SRC_HOST_KERNELTABLE_HPP

/// \file
/// Instantiates the kernels for an instruction set. Included by one unit per instruction set and
/// pair of types (generate/host_kernels.cpp.in).

#include <host/BackToBackRows.hpp>
#include <host/Backward.hpp>
#include <host/Gradient.hpp>
#include <host/Kernels.hpp>
#include <host/LongRows.hpp>
#include <host/PipelinedRows.hpp>
#include <host/PipelinedSpans.hpp>
#include <host/ShortColumns.hpp>
#include <host/ShortRows.hpp>
#include <host/Weighted.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class Op, class X, class Y>
struct KernelsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using Job = HostRowsJob<X, Y, T>;

  static void rows(const Job& job) {
    const std::int64_t done = with_values(job, [&](auto values) {
      return back_to_back_rows<Op, typename decltype(values)::type, L>(job);
    });
    other_rows(done == 0 ? job : rows_from(job, done));
  }
  static void other_rows(const Job& job) {
    if (job.rows == 0) return;
    if (are_pipelined_rows<Op, X>(job.columns))
      with_values(
          job, [&](auto values) { pipelined_rows<Op, typename decltype(values)::type, L>(job); });
    else if (are_pipelined_spans<Op>(job))
      with_values(
          job, [&](auto values) { pipelined_spans<Op, typename decltype(values)::type, L>(job); });
    else if (are_short_rows<T>(job.columns))
      short_rows<Op>(job);
    else
      with_values(job,
                  [&](auto values) { long_rows<Op, typename decltype(values)::type, L>(job); });
    if (job.streams) end_streams();
  }
  static std::int64_t buffer_size(const Job& job) {
    return are_pipelined_spans<Op>(job) ? buffer_of_pipelined_spans(job) : host_buffer_size;
  }
  static HostState<T> reduce(const Job& job, std::int64_t r, std::int64_t first,
                             std::int64_t last) {
    return with_values(job, [&](auto values) {
      return reduce_columns<Op, typename decltype(values)::type, L>(job, r, first, last);
    });
  }
  static void write(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                    const HostState<T>& row) {
    with_values(job, [&](auto values) {
      write_columns<Op, typename decltype(values)::type, L>(job, r, first, last, row);
    });
    if (job.streams) end_streams();
  }

  using PanelsJob = HostPanelsJob<X, Y, T>;
  using States = HostPanelStates<T>;

  static void panels(const PanelsJob& job) {
    with_values(job, [&](auto values) {
      KOKKOSSOFTMAX_HOST_ISA::panels<Op, typename decltype(values)::type, L>(job);
    });
    if (job.streams) end_streams();
  }
  static void reduce_panel(const PanelsJob& job, std::int64_t first_row, std::int64_t rows,
                           std::int64_t first, std::int64_t last, States& states) {
    with_values(job, [&](auto values) {
      KOKKOSSOFTMAX_HOST_ISA::reduce_panel<Op, typename decltype(values)::type, L>(
          job, first_row, rows, first, last, states);
    });
  }
  static void write_panel(const PanelsJob& job, std::int64_t first_row, std::int64_t rows,
                          std::int64_t first, std::int64_t last, const States& states) {
    with_values(job, [&](auto values) {
      KOKKOSSOFTMAX_HOST_ISA::write_panel<Op, typename decltype(values)::type, L>(
          job, first_row, rows, first, last, states);
    });
    if (job.streams) end_streams();
  }

 private:
  template <class Values>
  struct Tag {
    using type = Values;
  };
  /// Calls f(tag of the class that makes the values of a job). Half types have one class, because
  /// two take too long to compile.
  template <class AnyJob, class F>
  static auto with_values(const AnyJob& job, const F& f) {
    if constexpr (sizeof(X) >= 4)
      if (job.factors.is_one) return f(Tag<PlainValues<L>>{});
    return f(Tag<ScaledValues<L>>{});
  }

 public:
  static constexpr HostKernels<X, Y> all() {
    return {&rows,
            &buffer_size,
            &reduce,
            &merge<Op, T>,
            &finish_row<Op, L, Job>,
            &write,
            &panels,
            &reduce_panel,
            &merge_panel<Op, L>,
            &finish_panel<Op, L, PanelsJob>,
            &write_panel};
  }
};

/// result[i] = f(v[i])
template <class L, class X, class Y, class F>
void apply_to_each(const X* v, std::int64_t n, Y* result, const F& f) {
  std::int64_t i = 0;
  for (; i + L::width <= n; i += L::width) L::store(result + i, f(L::load(v + i)));
  if (i == n) return;
  const FirstElements<typename L::T, L::width> rest(static_cast<int>(n - i));
  rest.store(result + i, f(rest.load(v + i)));
}

template <class X, class Y>
struct FunctionsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using V = typename L::V;

  static T exp_accurate(const T* v, std::int64_t n, T max, T* result) {
    const V reference = ExpAccurate<L>::reference(L::splat(max));
    if (ExpOfShifted<L>::shift_of(reference)[0] == T(0))  // as in loops over rows
      apply_to_each<L>(v, n, result, ExpOfShifted<L>(reference));
    else
      apply_to_each<L>(v, n, result, ExpAccurate<L>(reference));
    return reference[0];
  }
  static T exp_for_sum(const T* v, std::int64_t n, T max, T* result) {
    const ExpForSum<L> exp(L::splat(max));
    apply_to_each<L>(v, n, result, [&](V x) {
      V sum{};
      exp.add(sum, x);
      return sum;
    });
    return max;
  }
  static void log(const T* v, std::int64_t n, T* result) {
    apply_to_each<L>(v, n, result, [](V x) { return log_of<L>(x); });
  }

  template <class From, class To>
  static void convert(const From* v, std::int64_t n, To* result) {
    apply_to_each<L>(v, n, result, [](V x) { return x; });
  }

  static constexpr HostFunctions<X, Y> all() {
    return {&exp_accurate, &exp_for_sum, &log, &convert<X, T>, &convert<T, Y>};
  }
};

template <class X, class Y>
constexpr HostBackwardKernels<X> backward_kernels() {
  if constexpr (std::is_same_v<X, Y>)
    return BackwardKernelsOf<X>::all();
  else
    return {};
}

template <class X, class Y>
constexpr HostGradientKernels<X> gradient_kernels() {
  if constexpr (std::is_same_v<X, Y>)
    return GradientKernelsOf<X>::all();
  else
    return {};
}

template <class X, class Y>
constexpr HostWeightedKernels<HostCompute<X>> weighted_kernels() {
  if constexpr (std::is_same_v<X, HostCompute<X>> && std::is_same_v<X, Y>)
    return WeightedKernelsOf<X>::all();
  else
    return {};
}

template <class X, class Y>
constexpr HostKernelTable<X, Y> kernel_table() {
  return {FunctionsOf<X, Y>::all(),
          KernelsOf<Softmax, X, Y>::all(),
          KernelsOf<LogSoftmax, X, Y>::all(),
          KernelsOf<LogSumExp, X, Y>::all(),
          backward_kernels<X, Y>(),
          gradient_kernels<X, Y>(),
          weighted_kernels<X, Y>()};
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
