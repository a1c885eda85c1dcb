// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SOFTMAX_HPP
#define KOKKOSSOFTMAX_SOFTMAX_HPP

#include <KokkosSoftmax_Operands.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

/// \file
/// softmax and log_softmax along an axis of a View.

namespace KokkosSoftmax {

/// \defgroup softmax Softmax and log-softmax
/// Softmax and log-softmax along any axis of a View, called from the host.
/// \code
///   Kokkos::View<double**> x("x", m, n), y("y", m, n);
///   Kokkos::DefaultExecutionSpace exec;
///   KokkosSoftmax::softmax(exec, x, y);                                 // each row of x
///   KokkosSoftmax::log_softmax(exec, x, y, {.axis = 0, .scale = 0.5});  // along axis 0
///   exec.fence();
/// \endcode
/// \{

/// Computes the softmax y_j = exp(v_j - max v) / sum_k exp(v_k - max v) along `options.axis` or
/// `options.axes`, with v = scale * x.
///
/// The result of a row is NaN in all entries if the row contains a NaN or +inf. If all entries of
/// the row are -inf, the result is NaN or 0, see \ref EmptyRows. The maximum is subtracted before
/// exp, so the exponentials do not overflow. The rounding errors of this formula are analysed by
/// Blanchard, Higham and Higham, https://doi.org/10.1093/imanum/draa038. The error bounds of the
/// library are in docs/semantics.md.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. Nothing is
/// allocated, except memory per stream for rows that are split over teams and for long strided
/// rows, and a buffer per thread on hosts (docs/semantics.md).
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param y        View of the extents of x and of the value type of x, or of float if x has a half
///                 type; any layout; can be x itself, and must not overlap x in any other way
/// \param options  axis or axes, scale, empty rows, forced algorithm, reproducibility
/// \throws std::invalid_argument  if the extents don't match, an axis is out of range, the axes
///                 don't merge, the scale is not finite, x and y overlap without being the same, or
///                 the forced algorithm can't compute this shape. Nothing has been written then
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void softmax(const Exec& exec, const X& x, const Y& y,
                                                const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::softmax>(exec, x, "y", y, options);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x        as for softmax with an instance
/// \param y        as for softmax with an instance
/// \param options  as for softmax with an instance
/// \throws std::invalid_argument  as softmax with an instance
template <class X, class Y>
void softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>) softmax(typename Y::execution_space{}, x, y, options);
}

/// Computes the same, and what `operands` asks for, in the same launch.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \tparam Given    the template arguments of the operands
/// \param exec      as for softmax without operands
/// \param x         as for softmax without operands
/// \param y         as for softmax without operands
/// \param options   as for softmax without operands
/// \param operands  the Views that are read besides x or written beside y
/// \throws std::invalid_argument  as softmax without operands, and if a View of the operands has
///                 the wrong extents or strides, or overlaps memory that it must not. Nothing has
///                 been written then
template <class Exec, class X, class Y, class... Given>
void softmax(const Exec& exec, const X& x, const Y& y, const Options& options,
             const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("softmax", Exec, X, "y", Y, 0);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("softmax", Exec, X, Y, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS("softmax", Operands<Given...>);
  Impl::check_and_launch_with<Impl::Operation::softmax>(exec, x, "y", y, options, operands);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x         as for softmax with an instance
/// \param y         as for softmax with an instance
/// \param options   as for softmax with an instance
/// \param operands  the Views that are read besides x or written beside y
/// \throws std::invalid_argument  as softmax with an instance
template <class X, class Y, class... Given>
void softmax(const X& x, const Y& y, const Options& options, const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    softmax(typename Y::execution_space{}, x, y, options, operands);
}

/// Computes the log-softmax y_j = v_j - log(sum_k exp(v_k)) along `options.axis` or
/// `options.axes`, with v = scale * x.
///
/// It is not computed as the logarithm of a rounded softmax: results for entries far below the
/// maximum keep their accuracy. The result of a row is NaN in all entries if the row contains a NaN
/// or +inf. If all entries of the row are -inf, the result is NaN, or -inf with EmptyRows::zero.
/// The error bounds of the library are in docs/semantics.md.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \param exec     execution space instance on which the work is enqueued, as for softmax
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param y        View of the extents of x and of the value type of x, or of float if x has a half
///                 type; any layout; can be x itself, and must not overlap x in any other way
/// \param options  axis or axes, scale, empty rows, forced algorithm, reproducibility
/// \throws std::invalid_argument  as softmax
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void log_softmax(const Exec& exec, const X& x, const Y& y,
                                                    const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("log_softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::log_softmax>(exec, x, "y", y, options);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x        as for log_softmax with an instance
/// \param y        as for log_softmax with an instance
/// \param options  as for log_softmax with an instance
/// \throws std::invalid_argument  as log_softmax with an instance
template <class X, class Y>
void log_softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("log_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>) log_softmax(typename Y::execution_space{}, x, y, options);
}

/// Computes the same, and what `operands` asks for, in the same launch.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam Y        a Kokkos::View
/// \tparam Given    the template arguments of the operands
/// \param exec      as for log_softmax without operands
/// \param x         as for log_softmax without operands
/// \param y         as for log_softmax without operands
/// \param options   as for log_softmax without operands
/// \param operands  the Views that are read besides x or written beside y
/// \throws std::invalid_argument  as log_softmax without operands, and if a View of the operands
///                 has the wrong extents or strides, or overlaps memory that it must not. Nothing
///                 has been written then
template <class Exec, class X, class Y, class... Given>
void log_softmax(const Exec& exec, const X& x, const Y& y, const Options& options,
                 const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("log_softmax", Exec, X, "y", Y, 0);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("log_softmax", Exec, X, Y, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS("log_softmax", Operands<Given...>);
  Impl::check_and_launch_with<Impl::Operation::log_softmax>(exec, x, "y", y, options, operands);
}

/// Computes the same on the default instance of the execution space of y.
///
/// \param x         as for log_softmax with an instance
/// \param y         as for log_softmax with an instance
/// \param options   as for log_softmax with an instance
/// \param operands  the Views that are read besides x or written beside y
/// \throws std::invalid_argument  as log_softmax with an instance
template <class X, class Y, class... Given>
void log_softmax(const X& x, const Y& y, const Options& options,
                 const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("log_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    log_softmax(typename Y::execution_space{}, x, y, options, operands);
}

/// \}

}  // namespace KokkosSoftmax

#endif
