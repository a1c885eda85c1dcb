// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_BOTHAXES_HPP
#define KOKKOSSOFTMAX_BOTHAXES_HPP

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_BothAxesArguments.hpp>

/// \file
/// Log-sum-exps along both axes of a matrix, in one read.

namespace KokkosSoftmax {

namespace Impl {

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES(Exec, X, R, C)                                         \
  static_assert(Kokkos::is_execution_space_v<Exec>,                                               \
                "KokkosSoftmax::logsumexp_both_axes: exec must be an instance of an execution "   \
                "space");                                                                         \
  static_assert(X::rank() == 2, "KokkosSoftmax::logsumexp_both_axes: x must have rank 2");        \
  static_assert(R::rank() == 1 && C::rank() == 1,                                                 \
                "KokkosSoftmax::logsumexp_both_axes: row_lse and column_lse must have rank 1");   \
  static_assert(KokkosSoftmax::Impl::have_kernels_of_both_axes<X>,                                \
                "KokkosSoftmax::logsumexp_both_axes: the value type of x must be float, double, " \
                "half_t or bhalf_t, and the library must be built for it and results of double "  \
                "or float (KokkosSoftmax_VALUE_TYPES was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");   \
  static_assert(KokkosSoftmax::Impl::are_results_of_both_axes<X, R, C>,                           \
                "KokkosSoftmax::logsumexp_both_axes: the value type of row_lse and column_lse "   \
                "must be double if that of x is double, otherwise float, without const");         \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, X> &&                               \
                    KokkosSoftmax::Impl::is_accessible_from<Exec, R> &&                           \
                    KokkosSoftmax::Impl::is_accessible_from<Exec, C>,                             \
                "KokkosSoftmax::logsumexp_both_axes: the memory of x, row_lse or column_lse is "  \
                "not accessible from exec")

template <class X>
inline constexpr bool have_kernels_of_both_axes =
    have_kernels<typename X::non_const_value_type, typename X::non_const_value_type>&&
        have_kernels<typename X::non_const_value_type,
                     typename BothAxesProblem<typename X::non_const_value_type>::T>;

template <class X, class R, class C>
inline constexpr bool are_results_of_both_axes = [] {
  using T = typename BothAxesProblem<typename X::non_const_value_type>::T;
  return std::is_same_v<typename R::value_type, T> && std::is_same_v<typename C::value_type, T>;
}();

}  // namespace Impl

/// \addtogroup logsumexp
/// \{

/// Computes the log-sum-exps of all rows and of all columns of a matrix, with v = scale * x:
///
///     row_lse_i = log(sum_j exp(v_ij)),   column_lse_j = log(sum_i exp(v_ij))
///
/// On GPUs, x is read once; docs/both_axes.md names the exceptions. On hosts, x is read twice, as
/// by two calls of logsumexp. Special values are those of logsumexp. A row or column without
/// entries has -inf. The same call gives the same bits each time.
///
/// The call only enqueues work on exec. It does not fence and uses no other instance. On GPUs it
/// needs memory, which docs/both_axes.md describes. The memory is allocated if a call needs more
/// than earlier ones on the stream, and kept for the next calls. A call that is captured into a
/// graph has memory that belongs to the graph.
///
/// \tparam Exec       any execution space that Kokkos has enabled
/// \tparam X          a Kokkos::View
/// \tparam R          a Kokkos::View
/// \tparam C          a Kokkos::View
/// \param exec        execution space instance on which the work is enqueued
/// \param x           View of float, double, half_t or bhalf_t, rank 2, any layout
/// \param row_lse     View of rank 1 with x.extent(0) elements, of double if x is of double,
///                    otherwise of float; must not overlap the other Views
/// \param column_lse  the same with x.extent(1) elements
/// \param scale       a finite factor of x
/// \throws std::invalid_argument  if the extents don't match, the scale is not finite, or Views
///                    overlap. Nothing has been written then
template <class Exec, class X, class R, class C>
requires(!Kokkos::is_view_v<Exec>) void logsumexp_both_axes(const Exec& exec, const X& x,
                                                            const R& row_lse, const C& column_lse,
                                                            double scale = 1) {
  KOKKOSSOFTMAX_IMPL_CHECK_BOTH_AXES(Exec, X, R, C);
  using Entry = typename X::non_const_value_type;
  Impl::check_and_launch_both_axes(exec, Impl::input_array<Entry>(x), Impl::strided_array(row_lse),
                                   Impl::strided_array(column_lse), scale);
}

/// Computes the same on the default instance of the execution space of row_lse.
///
/// \param x           as with an instance
/// \param row_lse     as with an instance
/// \param column_lse  as with an instance
/// \param scale       as with an instance
/// \throws std::invalid_argument  as with an instance
template <class X, class R, class C>
requires(Kokkos::is_view_v<X>) void logsumexp_both_axes(const X& x, const R& row_lse,
                                                        const C& column_lse, double scale = 1) {
  logsumexp_both_axes(typename R::execution_space{}, x, row_lse, column_lse, scale);
}

/// \}

}  // namespace KokkosSoftmax

#endif
