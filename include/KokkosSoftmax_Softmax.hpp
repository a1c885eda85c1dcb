// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SOFTMAX_HPP
#define KOKKOSSOFTMAX_SOFTMAX_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

/// \file
/// softmax and log_softmax along an axis of a View.

namespace KokkosSoftmax {

/// \defgroup softmax Softmax and log-softmax
/// Along any axis of a View, from the host.
/// \code
///   Kokkos::View<double**> x("x", m, n), y("y", m, n);
///   Kokkos::DefaultExecutionSpace exec;
///   KokkosSoftmax::softmax(exec, x, y);                                 // each row of x
///   KokkosSoftmax::log_softmax(exec, x, y, {.axis = 0, .scale = 0.5});  // along axis 0
///   exec.fence();
/// \endcode
/// \{

/// Softmax: y_j = exp(v_j - max v) / sum_k exp(v_k - max v) along `options.axis`, with
/// v = scale * x.
///
/// A row with a NaN or +inf, and a row of -inf alone, is NaN (see \ref EmptyRows). The maximum is
/// taken off first, so that nothing overflows; for the rounding of this form see Blanchard, Higham
/// and Higham, https://doi.org/10.1093/imanum/draa038. The library's bounds are in
/// docs/semantics.md.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec     execution space instance; the call only enqueues work on it: no fence, no other
///                 instance, no allocation except a workspace at the first wide row on a stream
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout
/// \param y        View of the extents and value type of x, or of float where x is of a half type;
///                 may be x itself, and may not overlap it in any other way
/// \param options  axis, scale, empty rows, forced algorithm, reproducibility
/// \throws std::invalid_argument  before anything is written, where the extents, the axis, the
///                 scale, an overlap or a forced algorithm don't fit
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void softmax(const Exec& exec, const X& x, const Y& y,
                                                const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::softmax>(exec, x, "y", y, options);
}

/// The same on the default instance of y's execution space.
///
/// \param x        as for softmax with an instance
/// \param y        likewise
/// \param options  likewise
/// \throws std::invalid_argument  likewise
template <class X, class Y>
void softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>) softmax(typename Y::execution_space{}, x, y, options);
}

/// Log-softmax: y_j = v_j - log(sum_k exp(v_k)) along `options.axis`, with v = scale * x.
///
/// Not the logarithm of a rounded softmax: entries far below the maximum keep their digits. A row
/// with a NaN or +inf is NaN, and so is a row of -inf alone, or -inf under EmptyRows::zero.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec     execution space instance; the call only enqueues work on it, as softmax does
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout
/// \param y        View of the extents and value type of x, or of float where x is of a half type;
///                 may be x itself, and may not overlap it in any other way
/// \param options  axis, scale, empty rows, forced algorithm, reproducibility
/// \throws std::invalid_argument  before anything is written, as softmax
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void log_softmax(const Exec& exec, const X& x, const Y& y,
                                                    const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("log_softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::log_softmax>(exec, x, "y", y, options);
}

/// The same on the default instance of y's execution space.
///
/// \param x        as for log_softmax with an instance
/// \param y        likewise
/// \param options  likewise
/// \throws std::invalid_argument  likewise
template <class X, class Y>
void log_softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("log_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>) log_softmax(typename Y::execution_space{}, x, y, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
