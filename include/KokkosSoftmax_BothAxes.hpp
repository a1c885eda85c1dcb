// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_BOTHAXES_HPP
#define KOKKOSSOFTMAX_BOTHAXES_HPP

#include <impl/KokkosSoftmax_BothAxesArguments.hpp>

/// \file
/// logsumexp along both axes of a matrix.

namespace KokkosSoftmax {

/// \defgroup both_axes Both axes
/// The log-sum-exp of each row and of each column of a matrix, which is read once.
/// \code
///   Kokkos::View<double**> x("x", m, n);
///   Kokkos::View<double*> row_lse("row_lse", m), column_lse("column_lse", n);
///   KokkosSoftmax::logsumexp_both_axes(exec, x, row_lse, column_lse);
///   exec.fence();
/// \endcode
/// \{

/// The options of logsumexp_both_axes.
struct BothAxesOptions {
  /// The function is applied to v = scale * x, see Options::scale.
  double scale = 1.0;
};

/// Computes row_lse_i = log(sum_j exp(v_ij)) and column_lse_j = log(sum_i exp(v_ij)), with v =
/// scale * x.
///
/// A result is -inf if its row or column has no entries or if all of these are -inf, +inf if it has
/// an entry +inf and no NaN, and NaN if it has a NaN. The error bounds are those of logsumexp, see
/// docs/semantics.md. The same call on the same device gives the same bits each time.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. Nothing is
/// allocated, except a workspace per stream, at the first call and at calls that need a larger one
/// (docs/both_axes.md).
///
/// \tparam Exec        any execution space that Kokkos has enabled
/// \tparam X           a Kokkos::View
/// \tparam RowLse      a Kokkos::View
/// \tparam ColumnLse   a Kokkos::View
/// \param exec        execution space instance on which the work is enqueued
/// \param x           View of float, double, half_t or bhalf_t, rank 2, any layout
/// \param row_lse     View of double if x is of double, otherwise of float, rank 1, any layout,
/// with
///                    one number per row of x (its first axis); must not overlap x
/// \param column_lse  the same with one number per column of x; must not overlap x or row_lse
/// \param options     the scale
/// \throws std::invalid_argument  if the extents don't match, the scale is not finite, or row_lse
///                    or column_lse overlaps another View. Nothing has been written then
template <class Exec, class X, class RowLse, class ColumnLse>
requires(!Kokkos::is_view_v<Exec>) void logsumexp_both_axes(const Exec& exec, const X& x,
                                                            const RowLse& row_lse,
                                                            const ColumnLse& column_lse,
                                                            const BothAxesOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES(Exec, X, RowLse, ColumnLse);
  using Value = Impl::RowValueOf<X>;
  Impl::check_and_launch_both_axes(exec, Impl::input_array<typename X::non_const_value_type>(x),
                                   Impl::output_array<Value>(row_lse),
                                   Impl::output_array<Value>(column_lse), options.scale);
}

/// Computes the same on the default instance of the execution space of row_lse.
///
/// \param x           as for logsumexp_both_axes with an instance
/// \param row_lse     as for logsumexp_both_axes with an instance
/// \param column_lse  as for logsumexp_both_axes with an instance
/// \param options     as for logsumexp_both_axes with an instance
/// \throws std::invalid_argument  as logsumexp_both_axes with an instance
template <class X, class RowLse, class ColumnLse>
void logsumexp_both_axes(const X& x, const RowLse& row_lse, const ColumnLse& column_lse,
                         const BothAxesOptions& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES_VIEWS(X, RowLse, ColumnLse);
  if constexpr (Impl::are_views<X, RowLse, ColumnLse>)
    logsumexp_both_axes(typename RowLse::execution_space{}, x, row_lse, column_lse, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
