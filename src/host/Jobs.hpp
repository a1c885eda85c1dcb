// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_JOBS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_JOBS_HPP

/// \file
/// What the kernels of a host are given, and what they return. These types have data alone, so that
/// units with different instruction sets can share them.

#include <cstdint>
#include <host/Types.hpp>

namespace KokkosSoftmax::Impl {

/// v = (first * x) * second; see HostScale.
template <class T>
struct HostFactors {
  T first;
  T second;
  bool is_one;   // both factors are 1
  bool is_zero;  // the scale is 0, for which all values below 1 stand
};

/// Longer rows are reduced in spans of so many columns. The exponentials of shorter rows are kept
/// until the sum is known.
inline constexpr std::int64_t span_columns = 65536;

/// A row of a buffer: a span, with space for a vector behind it.
inline constexpr std::int64_t host_buffer_row = span_columns + 64;
/// Three rows: two for exponentials, and one for the caller's use.
inline constexpr std::int64_t host_buffer_size = 3 * host_buffer_row;

/// What is kept of a panel of rows that lie side by side.
inline constexpr std::int64_t host_panel_bytes = std::int64_t{1} << 20;
/// The same if the last rows of the panel before are kept, too (see PanelLines). They are a fifth
/// of it if vectors have 32 or 64 bytes.
inline constexpr std::int64_t host_panel_bytes_of_lines = host_panel_bytes + host_panel_bytes / 4;
/// The last vector of a panel's last column can be read up to its end behind the panel.
template <class T>
inline constexpr std::int64_t host_panel_buffer_size = (host_panel_bytes_of_lines + 64) / sizeof(T);

/// What is written per row beside y; null if it isn't asked for. `stride` leads from row to row.
template <class T>
struct HostRowValues {
  T* data;
  std::int64_t stride;
};

/// What the rows of a job have in common.
template <class X_, class Y_, class T_>
struct HostJob {
  using X = X_;  // of entries
  using Y = Y_;  // of results
  using T = T_;  // of the computation

  HostFactors<T> factors;
  HostRowValues<T> lse;
  HostRowValues<T> max;
  bool zero_empty_rows;  // EmptyRows::zero
  bool streams;          // y is written past the caches
  // For logsumexp: y holds numbers of type T in place of Y; strides are in elements of Y even so.
  bool y_holds_row_values;
  // Aligned to 64 bytes. The function `rows` of HostKernels needs as many elements as `buffer_size`
  // returns, and `panels` needs host_panel_buffer_size<T>; the other functions need none.
  T* buffer;
};

/// Rows that are contiguous in x and y (or have one number in y).
template <class X, class Y, class T>
struct HostRowsJob : HostJob<X, Y, T> {
  const X* x;
  Y* y;
  std::int64_t x_stride;  // from row to row
  std::int64_t y_stride;
  std::int64_t rows;
  std::int64_t columns;
  // Longer rows leave the caches of the thread before the next row has been read.
  std::int64_t cached_columns = span_columns;
  bool reproducible = false;  // rows of several spans get the bits of reduce() and write()
};

/// Rows that lie side by side in x and y: neighbours have the stride 1, columns a larger one. Only
/// logsumexp has a stride from row to row in y.
template <class X, class Y, class T>
struct HostPanelsJob : HostJob<X, Y, T> {
  const X* x;
  Y* y;
  std::int64_t x_column_stride;
  std::int64_t y_column_stride;
  std::int64_t y_stride;  // from row to row
  std::int64_t rows;
  std::int64_t columns;
};

/// Rows of a backward pass, see row/BackwardSource.hpp. The strides are from row to row, and from
/// column to column, which the kernels of contiguous rows take as 1.
template <class X, class T>
struct HostBackwardJob {
  const X* y;
  const X* dy;
  X* dx;
  std::int64_t y_stride;
  std::int64_t dy_stride;
  std::int64_t dx_stride;
  std::int64_t y_column_stride;
  std::int64_t dy_column_stride;
  std::int64_t dx_column_stride;
  std::int64_t rows;
  std::int64_t columns;
  T scale;
  bool is_log;   // y is a log-softmax
  bool streams;  // dx is written past the caches
};

/// Rows of a gradient: dx_j = factor * (exp(v_j - lse) - offset), with v = factors * x and numbers
/// of each row. The strides are as in HostBackwardJob.
template <class X, class T>
struct HostGradientJob {
  const X* x;
  X* dx;
  std::int64_t x_stride;
  std::int64_t dx_stride;
  std::int64_t x_column_stride;
  std::int64_t dx_column_stride;
  std::int64_t rows;
  std::int64_t columns;
  HostFactors<T> factors;
  const T* lse;  // of each row, as the others
  const T* factor;
  const T* offset;
  const T* label = nullptr;     // the column that has another dx, as a number; -1 for none
  const T* of_label = nullptr;  // its dx
  bool streams;                 // dx is written past the caches
};

/// The largest number of rows of a panel of a backward pass.
inline constexpr std::int64_t host_backward_panel_rows = 512;

/// The sums of such a panel's rows, or of some of their columns: that of row r is sum[r] -
/// dropped[r].
struct HostBackwardSums {
  double sum[host_backward_panel_rows];
  double dropped[host_backward_panel_rows];
};

/// The largest number of rows of a panel, which are computed together.
inline constexpr std::int64_t host_panel_rows = 1024;

/// Some columns of rows with weights that lie side by side, at most host_panel_rows of them. An
/// entry whose weight is 0 counts for nothing.
template <class T>
struct HostWeightedPanel {
  const T* value;
  const T* weight;
  std::int64_t distance;  // from column to column
  std::int64_t rows;
  std::int64_t columns;
};

/// The states of the rows of such panels: the sum of weight * exp(value - reference).
template <class T>
struct HostWeightedStates {
  T reference[host_panel_rows];
  double sum[host_panel_rows];  // so that merging doesn't round floats
};

/// The states of a panel's rows: the sum of row r is sum[r] - dropped[r].
template <class T>
struct alignas(64) HostPanelStates {
  T max[host_panel_rows];
  T reference[host_panel_rows];
  T sum[host_panel_rows];
  T dropped[host_panel_rows];
};

/// The state of a row or of some of its columns: the largest value, and the sum of exp(v -
/// reference), which is sum - dropped. The sum is a double, so that merging doesn't round floats.
template <class T>
struct HostState {
  T max;
  T reference;
  double sum;
  double dropped = 0;
};

}  // namespace KokkosSoftmax::Impl

#endif
