// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_BACKWARD_HPP
#define KOKKOSSOFTMAX_BACKWARD_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>

/// \file
/// The backward passes of softmax and log_softmax along an axis of a View.

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
/// allocated, except one workspace per stream, the first time that rows are split over teams.
///
/// \tparam Exec    any execution space that Kokkos has enabled
/// \tparam Y       a Kokkos::View
/// \tparam DY      a Kokkos::View
/// \tparam DX      a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param y        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout: the output of
///                 softmax
/// \param dy       View of the extents and the value type of y, any layout
/// \param dx       View of the extents and the value type of y, any layout; can be y or dy itself,
///                 and must not overlap them in any other way
/// \param options  axis, scale, forced algorithm, reproducibility; `empty_rows` has no effect
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
/// \param log_y    View of float, double, half_t or bhalf_t, rank 1 to 4, any layout: the output of
///                 log_softmax, so that no entry is above 0
/// \param dy       View of the extents and the value type of log_y, any layout: the derivative of
///                 the loss by log_y
/// \param dx       View of the extents and the value type of log_y, any layout; can be log_y or dy
///                 itself, and must not overlap them in any other way
/// \param options  axis, scale, forced algorithm, reproducibility; `empty_rows` has no effect
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

/// \}

}  // namespace KokkosSoftmax

#endif
