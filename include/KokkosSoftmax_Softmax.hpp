// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SOFTMAX_HPP
#define KOKKOSSOFTMAX_SOFTMAX_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax {

/// y = exp(v - max v) / sum exp(v - max v) along `options.axis`, with v = scale * x.
///
/// \param exec     execution space instance; the call only enqueues work on it: no fence, no other
///                 instance, no allocation but a workspace at the first wide row on a stream
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout
/// \param y        View of the extents and value type of x, or of float where x is of a half type;
///                 may be x itself, and may not overlap it in any other way
/// \param options  axis, scale, empty rows, forced algorithm, reproducibility
/// \throws std::invalid_argument  before anything is written, where the extents, the axis, the
///                 scale, an overlap or a forced algorithm don't fit
///
/// A row with a NaN or +inf, and a row of -inf alone, is NaN (see EmptyRows). Accuracy in
/// docs/semantics.md.
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void softmax(const Exec& exec, const X& x, const Y& y,
                                                const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::softmax>(exec, x, "y", y, options);
}

/// The same on the default instance of y's execution space.
template <class X, class Y>
requires(Kokkos::is_view_v<X>) void softmax(const X& x, const Y& y, const Options& options = {}) {
  softmax(typename Y::execution_space{}, x, y, options);
}

/// y = v - log(sum exp(v)) along `options.axis`, with v = scale * x; arguments, errors and special
/// values as softmax. A row of -inf alone is NaN, or -inf under EmptyRows::zero.
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) void log_softmax(const Exec& exec, const X& x, const Y& y,
                                                    const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("log_softmax", Exec, X, "y", Y, 0);
  Impl::check_and_launch<Impl::Operation::log_softmax>(exec, x, "y", y, options);
}

/// The same on the default instance of y's execution space.
template <class X, class Y>
requires(Kokkos::is_view_v<X>) void log_softmax(const X& x, const Y& y,
                                                const Options& options = {}) {
  log_softmax(typename Y::execution_space{}, x, y, options);
}

}  // namespace KokkosSoftmax

#endif
