// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_LOGSUMEXP_HPP

#include <KokkosSoftmax_Operands.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>

/// \file
/// logsumexp along an axis of a View.

namespace KokkosSoftmax {

/// \defgroup logsumexp Log-sum-exp
/// Log-sum-exp along any axis of a View, called from the host. For calls inside kernels see
/// \ref in_a_kernel.
/// \code
///   Kokkos::View<double**> x("x", m, n);
///   Kokkos::View<double*> lse("lse", m);
///   Kokkos::DefaultExecutionSpace exec;
///   KokkosSoftmax::logsumexp(exec, x, lse);  // one value per row
///   exec.fence();
/// \endcode
/// \{

/// Computes the log-sum-exp lse = log(sum_k exp(v_k)) = max v + log(sum_k exp(v_k - max v)) along
/// `options.axis` or `options.axes`, with v = scale * x.
///
/// The result of a row is -inf if the row has no entries or if all of its entries are -inf, +inf if
/// the row contains +inf and no NaN, and NaN if it contains a NaN. The maximum is subtracted before
/// exp, so the exponentials do not overflow. The rounding errors of this formula are analysed by
/// Blanchard, Higham and Higham, https://doi.org/10.1093/imanum/draa038. Results near 0 are
/// computed as max v + log1p(sum of the other terms), so that they keep their digits. The error
/// bounds of the library are in docs/semantics.md.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. Nothing is
/// allocated, except memory per stream for rows that are split over teams and for long strided
/// rows, and a buffer per thread on hosts (docs/semantics.md).
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam L        a Kokkos::View; its rank is the rank of x less the number of reduced axes
/// \param exec     execution space instance on which the work is enqueued
/// \param x        View of float, double, half_t or bhalf_t, rank 1 to 8, any layout
/// \param lse      View of the value type of x, or of float if x has a half type; has the extents
///                 of x without the reduced axes; must not overlap x
/// \param options  as for softmax; empty_rows has no effect here
/// \throws std::invalid_argument  if the extents don't match, an axis is out of range, the axes
///                 don't merge, the scale is not finite, x and lse overlap, or the forced algorithm
///                 can't compute this shape. Nothing has been written then
template <class Exec, class X, class L>
requires(!Kokkos::is_view_v<Exec>) void logsumexp(const Exec& exec, const X& x, const L& lse,
                                                  const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("logsumexp", Exec, X, "lse", L, 1);
  Impl::check_and_launch<Impl::Operation::logsumexp>(exec, x, "lse", lse, options);
}

/// Computes the same on the default instance of the execution space of lse.
///
/// \param x        as for logsumexp with an instance
/// \param lse      as for logsumexp with an instance
/// \param options  as for logsumexp with an instance
/// \throws std::invalid_argument  as logsumexp with an instance
template <class X, class L>
void logsumexp(const X& x, const L& lse, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("logsumexp", X, "lse", L);
  if constexpr (Impl::are_views<X, L>) logsumexp(typename L::execution_space{}, x, lse, options);
}

/// Computes the log-sum-exp of values that depend on more than x: on biases, a mask, lengths or
/// positions. So scale * (x_ij + u_i + v_j) needs no array of its own.
///
/// With `operands.weights`, it computes lse = log|sum_k w_k exp(v_k)|, and the sign of the sum as
/// `operands.sign`, as scipy.special.logsumexp does with b and return_sign. Without `sign`, the
/// result is NaN where the sum is negative. docs/weights.md describes special values.
///
/// \tparam Exec     any execution space that Kokkos has enabled
/// \tparam X        a Kokkos::View
/// \tparam L        a Kokkos::View
/// \tparam Given    the template arguments of the operands
/// \param exec      as for logsumexp without operands
/// \param x         as for logsumexp without operands
/// \param lse       as for logsumexp without operands
/// \param options   as for logsumexp without operands
/// \param operands  the Views that are read besides x. There is no `lse` and no `max` among them
/// \throws std::invalid_argument  as logsumexp without operands, and if a View of the operands has
///                 the wrong extents or strides, or overlaps lse. Nothing has been written then
template <class Exec, class X, class L, class... Given>
void logsumexp(const Exec& exec, const X& x, const L& lse, const Options& options,
               const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("logsumexp", Exec, X, "lse", L, 1);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("logsumexp", Exec, X, L, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_READS_ONLY("logsumexp", Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_WEIGHTS("logsumexp", Exec, X, L, Operands<Given...>);
  Impl::check_and_launch_with<Impl::Operation::logsumexp>(exec, x, "lse", lse, options, operands);
}

/// Computes the same on the default instance of the execution space of lse.
///
/// \param x         as for logsumexp with an instance
/// \param lse       as for logsumexp with an instance
/// \param options   as for logsumexp with an instance
/// \param operands  the Views that are read besides x
/// \throws std::invalid_argument  as logsumexp with an instance
template <class X, class L, class... Given>
void logsumexp(const X& x, const L& lse, const Options& options,
               const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("logsumexp", X, "lse", L);
  if constexpr (Impl::are_views<X, L>)
    logsumexp(typename L::execution_space{}, x, lse, options, operands);
}

/// \}

}  // namespace KokkosSoftmax

#endif
