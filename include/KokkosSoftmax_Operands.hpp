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
///   Kokkos::View<double*> lse("lse", m), max("max", m);  // x and y are m x n
///   KokkosSoftmax::softmax(exec, x, y, {.scale = beta}, KokkosSoftmax::Operands{.lse = lse});
///   KokkosSoftmax::log_softmax(exec, x, y, {}, KokkosSoftmax::Operands{.lse = lse, .max = max});
/// \endcode
/// \{

/// The type of an operand that a call doesn't have.
struct NoOperand {};

/// The Views that softmax and log_softmax write beside y, in the same launch. y has the same bits
/// as without them. Each View that isn't given isn't written. Compilers that can't deduce the types
/// of `Operands{.lse = lse}` (Clang before 17) take `Operands<decltype(lse)>{.lse = lse}` and
/// `Operands<NoOperand, decltype(max)>{.max = max}`.
///
/// Each View has the extents of x without the axis, and is of double if x is of double, otherwise
/// of float. One stride must lead from row to row, in the order in which the rows lie in x: a
/// contiguous View of the layout of x will do. It must not overlap x, y or the other View.
///
/// \tparam Lse  a Kokkos::View, or NoOperand
/// \tparam Max  a Kokkos::View, or NoOperand
template <class Lse = NoOperand, class Max = NoOperand>
struct Operands {
  /// The log-sum-exp log(sum_k exp(v_k)) of each row of v = scale * x. The value is -inf for a row
  /// without entries and for a row in which every entry is -inf, and NaN for a row with a NaN or
  /// +inf. (logsumexp gives +inf for a row with +inf and no NaN.) The error bounds are in
  /// docs/semantics.md.
  Lse lse = {};

  /// The maximum max_k v_k of each row of v = scale * x, without rounding errors except that of the
  /// product. The value is -inf for a row without entries and for a row in which every entry is
  /// -inf, +inf for a row with +inf, and NaN for a row with a NaN and without +inf.
  Max max = {};
};

/// \}

namespace Impl {

/// Whether `Operand` is a View with the rank, the value type and the memory space of an operand of
/// a call with x and y, or is absent.
template <class Operand, class X>
constexpr bool has_operand_rank() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return Operand::rank() + 1 == X::rank();
  else
    return true;
}
template <class Operand, class X, class Y>
constexpr bool has_operand_type() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return std::is_same_v<
        typename Operand::value_type,
        typename ValueTypes<typename X::non_const_value_type, typename Y::value_type>::Compute>;
  else
    return true;
}
template <class Operand, class Exec>
constexpr bool has_operand_space() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return Kokkos::SpaceAccessibility<Exec, typename Operand::memory_space>::accessible;
  else
    return true;
}

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, name, Exec, X, Y, Operand)                    \
  static_assert(Kokkos::is_view_v<Operand> || std::is_same_v<Operand, KokkosSoftmax::NoOperand>, \
                "KokkosSoftmax::" function ": operands." name " must be a Kokkos::View");        \
  static_assert(KokkosSoftmax::Impl::has_operand_rank<Operand, X>(),                             \
                "KokkosSoftmax::" function ": operands." name                                    \
                " must have the rank of x less one");                                            \
  static_assert(KokkosSoftmax::Impl::has_operand_type<Operand, X, Y>(),                          \
                "KokkosSoftmax::" function ": the value type of operands." name                  \
                " must be double if that of x is double, otherwise float, without const");       \
  static_assert(KokkosSoftmax::Impl::has_operand_space<Operand, Exec>(),                         \
                "KokkosSoftmax::" function ": the memory of operands." name                      \
                " is not accessible from exec")
/// Does so for each operand.
#define KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS(function, Exec, X, Y, Lse, Max) \
  KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, "lse", Exec, X, Y, Lse);     \
  KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, "max", Exec, X, Y, Max)

}  // namespace Impl

}  // namespace KokkosSoftmax

#endif
