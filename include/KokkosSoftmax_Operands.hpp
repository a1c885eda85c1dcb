// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_OPERANDS_HPP
#define KOKKOSSOFTMAX_OPERANDS_HPP

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>

/// \file
/// What softmax and log_softmax can write beside y.

namespace KokkosSoftmax {

/// \defgroup operands Operands
/// The argument after the options: Views in addition to x and y.
/// \code
///   Kokkos::View<double*> lse("lse", m);  // x and y are m x n
///   KokkosSoftmax::softmax(exec, x, y, {.scale = beta}, KokkosSoftmax::Operands{.lse = lse});
/// \endcode
/// \{

/// The Views that softmax and log_softmax write beside y, in the same launch. y has the same bits
/// as without them. Compilers that can't deduce the type of `Operands{.lse = lse}` (Clang before
/// 17) take `Operands<decltype(lse)>{.lse = lse}`.
///
/// \tparam Lse  a Kokkos::View
template <class Lse>
struct Operands {
  /// The log-sum-exp log(sum_k exp(v_k)) of each row of v = scale * x: a View with the extents of x
  /// without the axis, of double if x is of double, otherwise of float. One stride must lead from
  /// row to row, in the order in which the rows lie in x: a contiguous View of the layout of x will
  /// do. It must not overlap x or y. The value is -inf for a row without entries and for a row in
  /// which every entry is -inf, and NaN for a row with a NaN or +inf. (logsumexp gives +inf for a
  /// row with +inf and no NaN.) The error bounds are in docs/semantics.md.
  Lse lse;
};

/// \}

namespace Impl {

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS(function, Exec, X, Y, Lse)                              \
  static_assert(Kokkos::is_view_v<Lse>,                                                           \
                "KokkosSoftmax::" function ": operands.lse must be a Kokkos::View");              \
  static_assert(Lse::rank() + 1 == X::rank(),                                                     \
                "KokkosSoftmax::" function ": operands.lse must have the rank of x less one");    \
  static_assert(                                                                                  \
      std::is_same_v<typename Lse::value_type,                                                    \
                     typename KokkosSoftmax::Impl::ValueTypes<typename X::non_const_value_type,   \
                                                              typename Y::value_type>::Compute>,  \
      "KokkosSoftmax::" function                                                                  \
      ": the value type of operands.lse must be double if that of x is double, otherwise float, " \
      "without const");                                                                           \
  static_assert(Kokkos::SpaceAccessibility<Exec, typename Lse::memory_space>::accessible,         \
                "KokkosSoftmax::" function                                                        \
                ": the memory of operands.lse is not accessible from exec")

}  // namespace Impl

}  // namespace KokkosSoftmax

#endif
