// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_BACKWARD_HPP
#define KOKKOSSOFTMAX_BACKWARD_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>
#include <impl/KokkosSoftmax_LossArguments.hpp>

/// \file
/// The backward passes of softmax, log_softmax and logsumexp along an axis of a View.

namespace KokkosSoftmax {

/// \defgroup backward Backward passes
/// Backward passes: from the derivative dy of a loss by the output y of a function, the derivative
/// dx by its input x.
/// \code
///   KokkosSoftmax::softmax(exec, x, y, {.scale = beta});
///   // ... dy = the derivative of the loss by y ...
///   KokkosSoftmax::softmax_backward(exec, y, dy, dx, {.scale = beta});
/// \endcode
/// \{

/// Computes dx_j = scale * y_j * (dy_j - sum_k y_k * dy_k) along `options.axis`: the derivative of
/// a loss by the input x of softmax(x, y) with the same axis and scale.
///
/// The entries that a call of softmax masked, or that had x = -inf, have y = 0. An entry with y = 0
/// has dx = 0 and counts for nothing, whatever dy is, also if it is NaN. So masks needn't be given
/// again, and rows that EmptyRows::zero made 0 have dx = 0. Another NaN in a row of y or dy makes
/// the other entries of the row NaN. The error bounds are in docs/backward.md.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. Nothing is
/// allocated, except memory per stream for rows that are split over teams and for long strided
/// rows, and a buffer per thread on hosts (docs/semantics.md).
///
/// \tparam Exec    any execution space that Kokkos has enabled
/// \tparam Y       a Kokkos::View
/// \tparam DY      a Kokkos::View
/// \tparam DX      a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param y        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout: the output of
///                 softmax
/// \param dy       View of the extents and the value type of y, any layout
/// \param dx       View of the extents and the value type of y, any layout; can be y or dy itself,
///                 and must not overlap them in any other way
/// \param options  axis or axes, scale, forced algorithm, reproducibility; `empty_rows` has no
///                 effect
/// \throws std::invalid_argument  if the extents don't match, the axis is out of range, the scale
///                 is not finite, dx overlaps y or dy without being the same, or the forced
///                 algorithm can't compute this shape. Nothing has been written then
template <class Exec, class Y, class DY, class DX>
requires(!Kokkos::is_view_v<Exec>) void softmax_backward(const Exec& exec, const Y& y, const DY& dy,
                                                         const DX& dx,
                                                         const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD("softmax_backward", Exec, Y, "y", DY, DX);
  Impl::check_and_launch_backward<Impl::BackwardOperation::softmax_backward>(exec, y, dy, dx,
                                                                             options);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param y        as for softmax_backward with an instance
/// \param dy       as for softmax_backward with an instance
/// \param dx       as for softmax_backward with an instance
/// \param options  as for softmax_backward with an instance
/// \throws std::invalid_argument  as softmax_backward with an instance
template <class Y, class DY, class DX>
void softmax_backward(const Y& y, const DY& dy, const DX& dx, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEWS("softmax_backward", Y, "y", DY, DX);
  if constexpr (Impl::are_views<Y, DY, DX>)
    softmax_backward(typename DX::execution_space{}, y, dy, dx, options);
}

/// Computes dx_j = scale * (dy_j - exp(log_y_j) * sum_k dy_k) along `options.axis`: the derivative
/// of a loss by the input x of log_softmax(x, log_y) with the same axis and scale.
///
/// An entry with log_y = -inf, as masked entries have it, has dx = 0 and counts for nothing,
/// whatever dy is.
///
/// \tparam Exec    any execution space that Kokkos has enabled
/// \tparam LogY    a Kokkos::View
/// \tparam DY      a Kokkos::View
/// \tparam DX      a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued, as for softmax_backward
/// \param log_y    View of float, double, half_t or bhalf_t, rank 1 to 8, any layout: the output of
///                 log_softmax, so that no entry is above 0
/// \param dy       View of the extents and the value type of log_y, any layout: the derivative of
///                 the loss by log_y
/// \param dx       View of the extents and the value type of log_y, any layout; can be log_y or dy
///                 itself, and must not overlap them in any other way
/// \param options  axis or axes, scale, forced algorithm, reproducibility; `empty_rows` has no
///                 effect
/// \throws std::invalid_argument  as softmax_backward
template <class Exec, class LogY, class DY, class DX>
requires(!Kokkos::is_view_v<Exec>) void log_softmax_backward(const Exec& exec, const LogY& log_y,
                                                             const DY& dy, const DX& dx,
                                                             const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD("log_softmax_backward", Exec, LogY, "log_y", DY, DX);
  Impl::check_and_launch_backward<Impl::BackwardOperation::log_softmax_backward>(exec, log_y, dy,
                                                                                 dx, options);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param log_y    as for log_softmax_backward with an instance
/// \param dy       as for log_softmax_backward with an instance
/// \param dx       as for log_softmax_backward with an instance
/// \param options  as for log_softmax_backward with an instance
/// \throws std::invalid_argument  as log_softmax_backward with an instance
template <class LogY, class DY, class DX>
void log_softmax_backward(const LogY& log_y, const DY& dy, const DX& dx,
                          const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEWS("log_softmax_backward", LogY, "log_y", DY, DX);
  if constexpr (Impl::are_views<LogY, DY, DX>)
    log_softmax_backward(typename DX::execution_space{}, log_y, dy, dx, options);
}

/// Computes dx_ij = scale * dlse_i * exp(v_ij - lse_i) along `options.axis`, with v = scale * x:
/// the derivative of a loss by the input x of logsumexp(x, lse) with the same axis and scale.
///
/// An entry with v = -inf has dx = 0, whatever dlse is. The softmax is computed from x and lse. The
/// rounding error of lse, at most half a unit in its last place, is a relative error of dx.
///
/// The call only enqueues one kernel on exec. It does not fence and uses no other instance. Nothing
/// is allocated, except a buffer per thread on hosts.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \tparam DLse     a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param lse      View of double if x is of double, otherwise of float, with the extents of x
///                 without the reduced axes, any layout: the output of logsumexp
/// \param dlse     View of the value type and the extents of lse, any layout: the derivative of the
///                 loss by lse
/// \param dx       View of the extents and the value type of x, any layout; can be x itself, and
///                 must not overlap x in any other way, nor lse or dlse
/// \param options  axis or axes, and scale; `empty_rows` has no effect. Results are always
///                 reproducible
/// \throws std::invalid_argument  if the extents don't match, the axis is out of range, the scale
///                 is not finite, dx overlaps lse or dlse, or x without being the same, or an
///                 algorithm is forced: there is one. Nothing has been written then
template <class Exec, class X, class Lse, class DLse, class DX>
requires(!Kokkos::is_view_v<Exec>) void logsumexp_backward(const Exec& exec, const X& x,
                                                           const Lse& lse, const DLse& dlse,
                                                           const DX& dx,
                                                           const Options& options = {}) {
  logsumexp_backward(exec, x, lse, dlse, dx, options, Operands<>{});
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param x        as for logsumexp_backward with an instance
/// \param lse      as for logsumexp_backward with an instance
/// \param dlse     as for logsumexp_backward with an instance
/// \param dx       as for logsumexp_backward with an instance
/// \param options  as for logsumexp_backward with an instance
/// \throws std::invalid_argument  as logsumexp_backward with an instance
template <class X, class Lse, class DLse, class DX>
void logsumexp_backward(const X& x, const Lse& lse, const DLse& dlse, const DX& dx,
                        const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_LOGSUMEXP_BACKWARD_VIEWS(X, Lse, DLse, DX);
  if constexpr (Impl::are_views<X, Lse, DLse, DX>)
    logsumexp_backward(typename DX::execution_space{}, x, lse, dlse, dx, options);
}

/// Computes the same for values v that depend on more than x: the backward pass of a call of
/// logsumexp with the same operands. Masked entries have dx = 0. The derivative by a bias is dlse *
/// exp(v - lse), which is dx / scale if the scale is not 0. With Operands::scale_biases it is dx.
/// It is summed over the axes along which the bias is broadcast.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Lse      a Kokkos::View
/// \tparam DLse     a Kokkos::View
/// \tparam DX       a Kokkos::View
/// \tparam Given    the template arguments of the operands
/// \param exec      as for logsumexp_backward without operands
/// \param x         as for logsumexp_backward without operands
/// \param lse       as for logsumexp_backward without operands
/// \param dlse      as for logsumexp_backward without operands
/// \param dx        as for logsumexp_backward without operands
/// \param options   as for logsumexp_backward without operands
/// \param operands  the Views that are read besides x, except `weights`. There are no outputs among
///                  them
/// \throws std::invalid_argument  as logsumexp_backward without operands, and if a View of the
///                 operands has the wrong extents or strides, or overlaps dx
template <class Exec, class X, class Lse, class DLse, class DX, class... Given>
void logsumexp_backward(const Exec& exec, const X& x, const Lse& lse, const DLse& dlse,
                        const DX& dx, const Options& options, const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_X("logsumexp_backward", Exec, X);
  KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS("logsumexp_backward", Exec, X, "lse", Lse,
                                       non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_ROW_NUMBERS("logsumexp_backward", Exec, X, "dlse", DLse,
                                       non_const_value_type);
  KOKKOSSOFTMAX_IMPL_CHECK_DX("logsumexp_backward", Exec, X, DX);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("logsumexp_backward", Exec, X, DX, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_READS_ONLY("logsumexp_backward", Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS("logsumexp_backward", Operands<Given...>);
  constexpr auto operation = Impl::GradientOperation::logsumexp_backward;
  using T = typename X::non_const_value_type;
  using RowValue = Impl::RowValueOf<X>;
  const auto array = Impl::input_array<T>(x);
  const auto axes = Impl::checked_axes(operation, "x", array, options);
  Impl::check_and_launch_gradient<operation>(
      exec, array, Impl::input_array<RowValue>(lse), "dlse", Impl::input_array<RowValue>(dlse),
      nullptr, Impl::checked_inputs<RowValue>(operation, array, axes, operands),
      Impl::output_array<T>(dx), options);
}

/// Computes the same on the default instance of the execution space of dx.
///
/// \param x         as for logsumexp_backward with an instance
/// \param lse       as for logsumexp_backward with an instance
/// \param dlse      as for logsumexp_backward with an instance
/// \param dx        as for logsumexp_backward with an instance
/// \param options   as for logsumexp_backward with an instance
/// \param operands  the Views that are read besides x
/// \throws std::invalid_argument  as logsumexp_backward with an instance
template <class X, class Lse, class DLse, class DX, class... Given>
void logsumexp_backward(const X& x, const Lse& lse, const DLse& dlse, const DX& dx,
                        const Options& options, const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_LOGSUMEXP_BACKWARD_VIEWS(X, Lse, DLse, DX);
  if constexpr (Impl::are_views<X, Lse, DLse, DX>)
    logsumexp_backward(typename DX::execution_space{}, x, lse, dlse, dx, options, operands);
}

/// \}

}  // namespace KokkosSoftmax

#endif
