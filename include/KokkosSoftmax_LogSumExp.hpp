// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_LOGSUMEXP_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

/// \file
/// logsumexp along an axis of a View.

namespace KokkosSoftmax {

/// \defgroup logsumexp Log-sum-exp
/// Along any axis of a View, from the host. Within kernels: \ref in_a_kernel.
/// \code
///   Kokkos::View<double**> x("x", m, n);
///   Kokkos::View<double*> lse("lse", m);
///   Kokkos::DefaultExecutionSpace exec;
///   KokkosSoftmax::logsumexp(exec, x, lse);  // one value a row
///   exec.fence();
/// \endcode
/// \{

/// Log-sum-exp: lse = log(sum_k exp(v_k)) = max v + log(sum_k exp(v_k - max v)) along
/// `options.axis`, with v = scale * x.
///
/// -inf for a row without entries or of -inf alone, +inf for a row with +inf, NaN for a row with a
/// NaN. Accuracy in docs/semantics.md.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam L        a Kokkos::View, of rank 0 where x has rank 1
/// \param exec     execution space instance; the call only enqueues work on it: no fence, no other
///                 instance, no allocation except a workspace at the first wide row on a stream
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 4, any layout
/// \param lse      View of x's value type, or of float where x is of a half type; has x's extents
///                 without the axis, and must not overlap x
/// \param options  as for softmax; empty_rows changes nothing here
/// \throws std::invalid_argument  before anything is written, where the extents, the axis, the
///                 scale, an overlap or a forced algorithm don't fit
template <class Exec, class X, class L>
requires(!Kokkos::is_view_v<Exec>) void logsumexp(const Exec& exec, const X& x, const L& lse,
                                                  const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("logsumexp", Exec, X, "lse", L, 1);
  Impl::check_and_launch<Impl::Operation::logsumexp>(exec, x, "lse", lse, options);
}

/// The same on the default instance of lse's execution space.
///
/// \param x        as for logsumexp with an instance
/// \param lse      likewise
/// \param options  likewise
/// \throws std::invalid_argument  likewise
template <class X, class L>
void logsumexp(const X& x, const L& lse, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("logsumexp", X, "lse", L);
  if constexpr (Impl::are_views<X, L>) logsumexp(typename L::execution_space{}, x, lse, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
