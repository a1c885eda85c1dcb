// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_KERNELS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_KERNELS_HPP

/// \file
/// The kernels of a host as function pointers. They are compiled once per instruction set, in units
/// that include nothing of Kokkos: an inline function of a header that several of these units emit
/// exists once in the program, and may then have instructions that the processor lacks.

#include <host/Jobs.hpp>

namespace KokkosSoftmax::Impl {

/// The kernels of an operation on entries of type X, with results of type Y.
template <class X, class Y>
struct HostKernels {
  using T = HostCompute<X>;
  using RowsJob = HostRowsJob<X, Y, T>;
  using PanelsJob = HostPanelsJob<X, Y, T>;
  using PanelStates = HostPanelStates<T>;

  /// Computes rows that are contiguous.
  void (*rows)(const RowsJob&);
  /// The number of elements of the buffer that it needs. The job needs no buffer yet.
  std::int64_t (*buffer_size)(const RowsJob&);

  // The parts of a row that several threads share: the state of columns [first, last) of row r, the
  // merging of states, and the output.
  HostState<T> (*reduce)(const RowsJob&, std::int64_t r, std::int64_t first, std::int64_t last);
  void (*merge)(HostState<T>& into, const HostState<T>& from);
  void (*finish)(const RowsJob&, std::int64_t r, const HostState<T>& row);
  void (*write)(const RowsJob&, std::int64_t r, std::int64_t first, std::int64_t last,
                const HostState<T>& row);

  /// Computes rows that lie side by side.
  void (*panels)(const PanelsJob&);

  // The same parts for up to host_panel_rows rows from first_row on.
  void (*reduce_panel)(const PanelsJob&, std::int64_t first_row, std::int64_t rows,
                       std::int64_t first, std::int64_t last, PanelStates&);
  void (*merge_panel)(PanelStates& into, const PanelStates& from, std::int64_t rows);
  void (*finish_panel)(const PanelsJob&, std::int64_t first_row, std::int64_t rows,
                       const PanelStates&);
  void (*write_panel)(const PanelsJob&, std::int64_t first_row, std::int64_t rows,
                      std::int64_t first, std::int64_t last, const PanelStates&);
};

/// The kernels of the backward passes on entries of type X.
template <class X>
struct HostBackwardKernels {
  using Job = HostBackwardJob<X, HostCompute<X>>;

  /// Computes rows that are contiguous in all arrays.
  void (*rows)(const Job&);
  // The parts of a row that several threads share: the sum of columns [first, last), at most
  // span_columns, and the output.
  double (*sum)(const Job&, std::int64_t r, std::int64_t first, std::int64_t last);
  void (*write)(const Job&, std::int64_t r, std::int64_t first, std::int64_t last, double sum);
  // The same for rows of any strides: the sums and the output of columns [first, last) of a panel,
  // which is the rows of a job, at most host_backward_panel_rows.
  void (*sum_panel)(const Job&, std::int64_t first, std::int64_t last, HostBackwardSums&);
  void (*merge_panels)(HostBackwardSums& into, const HostBackwardSums& from, std::int64_t rows);
  void (*write_panel)(const Job&, std::int64_t first, std::int64_t last, const HostBackwardSums&);
};

/// The kernels of gradients on entries of type X.
template <class X>
struct HostGradientKernels {
  using Job = HostGradientJob<X, HostCompute<X>>;

  /// Computes rows that are contiguous in both arrays.
  void (*rows)(const Job&);
  /// Computes rows of any strides.
  void (*panels)(const Job&);
};

/// The kernels of entries with weights, of type T.
template <class T>
struct HostWeightedKernels {
  /// The largest value, and the sum of weight * exp(value - reference). An entry whose weight is 0
  /// counts for nothing.
  HostState<T> (*reduce)(const T* value, const T* weight, std::int64_t n);
  /// The state that reduce() has returned, given that its log-sum-exp is near 0. If the sum is a
  /// term near 1 or -1 and a small rest, the reference becomes the log-sum-exp, and the sum 1 or
  /// -1. Otherwise the state is returned unchanged.
  HostState<T> (*settled)(const HostState<T>& state, const T* value, const T* weight,
                          std::int64_t n);
  /// Sets the states of a panel's rows. With `adds`, merges them with states of other columns.
  void (*reduce_panel)(const HostWeightedPanel<T>&, bool adds, HostWeightedStates<T>&);
  /// Writes log|sum| of so many rows. Rows whose largest value is +inf, and those whose result is
  /// near 0, stay open: reduce() must compute them.
  void (*finish_panel)(const HostWeightedStates<T>&, std::int64_t rows, T* lse, bool* is_open);
};

/// The functions of single numbers that the kernels consist of, for tests and for measuring what a
/// processor can reach.
template <class X, class Y>
struct HostFunctions {
  using T = HostCompute<X>;

  /// result[i] = exp(v[i] - reference) for a reference near `max`, which is returned.
  T (*exp_accurate)(const T* v, std::int64_t n, T max, T* result);
  T (*exp_for_sum)(const T* v, std::int64_t n, T max, T* result);
  /// result[i] = log(v[i])
  void (*log)(const T* v, std::int64_t n, T* result);
  /// v[i] = x[i] and y[i] = v[i], converted as in the kernels
  void (*read)(const X* x, std::int64_t n, T* v);
  void (*write)(const T* v, std::int64_t n, Y* y);
};

/// The kernels of all operations.
template <class X, class Y>
struct HostKernelTable {
  HostFunctions<X, Y> functions;
  HostKernels<X, Y> softmax;
  HostKernels<X, Y> log_softmax;
  HostKernels<X, Y> logsumexp;
  // Null if X and Y differ:
  HostBackwardKernels<X> backward;
  HostGradientKernels<X> gradient;
  // Null for half types:
  HostWeightedKernels<HostCompute<X>> weighted;
};

}  // namespace KokkosSoftmax::Impl

#endif
