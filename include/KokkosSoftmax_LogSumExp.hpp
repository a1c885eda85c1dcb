// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_LOGSUMEXP_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax {

/// lse = log(sum exp(v)) along `options.axis`, with v = scale * x.
///
/// \param exec     execution space instance; the call only enqueues work on it
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout
/// \param lse      View of x's value type, or of float where x is of a half type; has x's extents
///                 without the axis, and must not overlap x
/// \param options  as for softmax; EmptyRows changes nothing here
/// \throws std::invalid_argument  before anything is written
///
/// -inf for a row without entries or of -inf alone, +inf for a row with +inf, NaN for a row with a
/// NaN.
template <class Exec, class X, class L>
requires(!Kokkos::is_view_v<Exec>) void logsumexp(const Exec& exec, const X& x, const L& lse,
                                                  const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("logsumexp", Exec, X, "lse", L, 1);
  Impl::check_and_launch<Impl::Operation::logsumexp>(exec, x, "lse", lse, options);
}

/// The same on the default instance of lse's execution space.
template <class X, class L>
requires(Kokkos::is_view_v<X>) void logsumexp(const X& x, const L& lse,
                                              const Options& options = {}) {
  logsumexp(typename L::execution_space{}, x, lse, options);
}

}  // namespace KokkosSoftmax

#endif
