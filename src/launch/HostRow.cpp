// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// One row on the calling thread of a host: the jobs of one row that the host schedules would make.

#include <impl/KokkosSoftmax_Export.h>

#include <impl/KokkosSoftmax_HostRow.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <row/GradientArgs.hpp>
#include <schedules/HostBackward.hpp>
#include <schedules/HostGathered.hpp>

namespace KokkosSoftmax::Impl {
namespace {

template <class T>
HostFactors<T> host_factors(double scale) {
  const T rounded = static_cast<T>(scale);
  return HostScale<T>(rounded, rounded == T(0)).template factors<HostFactors<T>>();
}

template <class Op, class Job>
void set_common(Job& job, double scale, EmptyRows empty_rows, typename Op::Types::Compute* lse) {
  using T = typename Op::Types::Compute;
  job.factors = host_factors<T>(scale);
  job.lse = {Op::writes_entries ? lse : nullptr, 0};
  job.max = {nullptr, 0};
  job.zero_empty_rows = empty_rows == EmptyRows::zero;
  job.streams = false;
  job.y_holds_row_values = !std::is_same_v<typename Op::Types::Y, T>;
  job.buffer = host_thread_buffer<T>();
  job.rows = 1;
}

/// `function`: the number of the output of Op.
template <class Op>
typename Op::Types::Compute compute_row(StridedRow<const typename Op::Types::X> x,
                                        StridedRow<typename Op::Types::Y> y, std::int64_t columns,
                                        double scale, EmptyRows empty_rows, int function) {
  using Jobs = HostJobs<Op>;
  using T = typename Op::Types::Compute;
  T lse = -Kokkos::Experimental::infinity_v<T>;
  if (columns == 0) return lse;
  const auto* const from = reinterpret_cast<const typename Jobs::X*>(x.data);
  // logsumexp has its one result where others have y
  auto* const to =
      reinterpret_cast<typename Jobs::Y*>(Op::writes_entries ? static_cast<void*>(y.data) : &lse);
  const auto& kernels = HostKernelsOf<Op>::get(function);
  if (columns == 1 || (x.stride == 1 && (!Op::writes_entries || y.stride == 1))) {
    typename Jobs::Rows job;
    set_common<Op>(job, scale, empty_rows, &lse);
    job.x = from;
    job.y = to;
    job.x_stride = job.y_stride = 0;
    job.columns = columns;
    kernels.rows(job);
  } else {
    typename Jobs::Panels job;
    set_common<Op>(job, scale, empty_rows, &lse);
    job.x = from;
    job.y = to;
    job.x_column_stride = x.stride;
    job.y_column_stride = y.stride;
    job.y_stride = 0;
    job.columns = columns;
    HostGatheredRows<Op>(kernels, job, 0).compute();
  }
  return lse;
}

}  // namespace

template <Operation operation, class Tx, class Ty>
typename ValueTypes<Tx, Ty>::Compute compute_row_on_host(StridedRow<const Tx> x, StridedRow<Ty> y,
                                                         std::int64_t columns, double scale,
                                                         EmptyRows empty_rows) {
  using V = ValueTypes<Tx, Ty>;
  if constexpr (operation == Operation::logsumexp)
    return compute_row<LogSumExpOp<V>>(x, y, columns, scale, empty_rows, 0);
  else
    return compute_row<SoftmaxOp<V>>(x, y, columns, scale, empty_rows,
                                     operation == Operation::softmax ? 0 : 1);
}

template <BackwardOperation operation, class T>
void compute_row_on_host(StridedRow<const T> y, StridedRow<const T> dy, StridedRow<T> dx,
                         std::int64_t columns, double scale) {
  using V = ValueTypes<T>;
  using X = HostNumber<T>;
  using Compute = typename V::Compute;
  if (columns == 0) return;
  const HostBackwardJob<X, Compute> job = {
      .y = reinterpret_cast<const X*>(y.data),
      .dy = reinterpret_cast<const X*>(dy.data),
      .dx = reinterpret_cast<X*>(dx.data),
      .y_stride = 0,
      .dy_stride = 0,
      .dx_stride = 0,
      .y_column_stride = y.stride,
      .dy_column_stride = dy.stride,
      .dx_column_stride = dx.stride,
      .rows = 1,
      .columns = columns,
      .scale = static_cast<Compute>(scale),
      .is_log = operation == BackwardOperation::log_softmax_backward,
      .streams = false};
  compute_in_parts(HostBackwardPanel<V>(job));
}

template <class T>
void compute_row_on_host(StridedRow<const T> x, typename ValueTypes<T>::Compute lse,
                         typename ValueTypes<T>::Compute dlse, StridedRow<T> dx,
                         std::int64_t columns, double scale) {
  using X = HostNumber<T>;
  using Compute = typename ValueTypes<T>::Compute;
  if (columns == 0) return;
  const Compute factor = static_cast<Compute>(scale) * dlse;
  const Compute offset(0);
  HostGradientJob<X, Compute> job{};
  job.x = reinterpret_cast<const X*>(x.data);
  job.dx = reinterpret_cast<X*>(dx.data);
  job.x_stride = job.dx_stride = 0;
  job.x_column_stride = x.stride;
  job.dx_column_stride = dx.stride;
  job.rows = 1;
  job.columns = columns;
  job.factors = host_factors<Compute>(scale);
  job.lse = &lse;
  job.factor = &factor;
  job.offset = &offset;
  job.streams = false;
  const auto& kernels = host_isa().kernels<X, X>().gradient;
  const bool is_row = columns == 1 || (x.stride == 1 && dx.stride == 1);
  (is_row ? kernels.rows : kernels.panels)(job);
}

#define KOKKOSSOFTMAX_IMPL_FORWARD(operation, X, Y)                                       \
  template KOKKOSSOFTMAX_EXPORT ValueTypes<X, Y>::Compute compute_row_on_host<operation>( \
      StridedRow<const X>, StridedRow<Y>, std::int64_t, double, EmptyRows);
#define KOKKOSSOFTMAX_IMPL_BACKWARD(operation, X)                       \
  template KOKKOSSOFTMAX_EXPORT void compute_row_on_host<operation, X>( \
      StridedRow<const X>, StridedRow<const X>, StridedRow<X>, std::int64_t, double);

#define KOKKOSSOFTMAX_IMPL_OF_PAIR(X, Y, T, types)         \
  KOKKOSSOFTMAX_IMPL_FORWARD(Operation::softmax, X, Y)     \
  KOKKOSSOFTMAX_IMPL_FORWARD(Operation::log_softmax, X, Y) \
  KOKKOSSOFTMAX_IMPL_FORWARD(Operation::logsumexp, X, Y)
KOKKOSSOFTMAX_IMPL_FOR_EACH_VALUE_TYPES(KOKKOSSOFTMAX_IMPL_OF_PAIR)

#define KOKKOSSOFTMAX_IMPL_OF_TYPE(X, Y, T, types)                                     \
  KOKKOSSOFTMAX_IMPL_BACKWARD(BackwardOperation::softmax_backward, X)                  \
  KOKKOSSOFTMAX_IMPL_BACKWARD(BackwardOperation::log_softmax_backward, X)              \
  template KOKKOSSOFTMAX_EXPORT void compute_row_on_host<X>(StridedRow<const X>, T, T, \
                                                            StridedRow<X>, std::int64_t, double);
// A type for which the library isn't built has no macro.
// clang-format off
#if defined(KOKKOSSOFTMAX_IMPL_FOR_float)
KOKKOSSOFTMAX_IMPL_FOR_float(KOKKOSSOFTMAX_IMPL_OF_TYPE)
#endif
#if defined(KOKKOSSOFTMAX_IMPL_FOR_double)
KOKKOSSOFTMAX_IMPL_FOR_double(KOKKOSSOFTMAX_IMPL_OF_TYPE)
#endif
#if defined(KOKKOSSOFTMAX_IMPL_FOR_half)
KOKKOSSOFTMAX_IMPL_FOR_half(KOKKOSSOFTMAX_IMPL_OF_TYPE)
#endif
#if defined(KOKKOSSOFTMAX_IMPL_FOR_bhalf)
KOKKOSSOFTMAX_IMPL_FOR_bhalf(KOKKOSSOFTMAX_IMPL_OF_TYPE)
#endif
// clang-format on

}  // namespace KokkosSoftmax::Impl
