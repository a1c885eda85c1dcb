// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_OPERANDS_HPP
#define KOKKOSSOFTMAX_OPERANDS_HPP

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <optional>
#include <type_traits>

/// \file
/// What a call can have besides x, y and the options: Views that are read besides x, and Views that
/// are written beside y.

namespace KokkosSoftmax {

/// \defgroup operands Operands
/// The argument after the options: Views in addition to x and y.
/// \code
///   Kokkos::View<double*> lse("lse", m), bias("bias", n);  // x and y are m x n
///   Kokkos::View<bool**> mask("mask", m, n);
///   KokkosSoftmax::softmax(exec, x, y, {.scale = beta}, KokkosSoftmax::Operands{.lse = lse});
///   KokkosSoftmax::softmax(exec, x, y, {}, KokkosSoftmax::Operands{.bias = bias, .mask = mask});
///   KokkosSoftmax::softmax(exec, x, y, {},
///                          KokkosSoftmax::Operands{.causal = KokkosSoftmax::Causal{}});
/// \endcode
/// \{

/// The type of an operand that a call doesn't have.
struct NoOperand {};

/// A mask by position: the row with index i along `axis` takes part with its columns j <= i +
/// offset.
struct Causal {
  /// Any number. With n columns and offset >= n - 1, nothing is masked; with offset < -i, the whole
  /// row i is masked.
  std::int64_t offset = 0;

  /// The axis along which rows are counted; negative axes count from the end. It must differ from
  /// Options::axis, and must not be one of Options::axes. The default is the last axis that isn't
  /// reduced: the second-last axis of x if Options::axis is the last one.
  std::optional<int> axis = {};
};

/// The Views that a call has besides x and y. Compilers that can't deduce the types of
/// `Operands{.lse = lse}` (Clang before 17) take `Operands<decltype(lse)>{.lse = lse}` and
/// `Operands<NoOperand, decltype(max)>{.max = max}`.
///
/// **Read**: `bias`, `row_bias`, `mask`, `lengths` and `causal` say what the value v of each entry
/// is:
///
///     v_ij = scale * x_ij + bias_ij + row_bias_i     if the entry takes part
///     v_ij = scale * (x_ij + bias_ij + row_bias_i)   the same, with scale_biases
///     v_ij = -inf                     if mask_ij is false, if j >= lengths_i, or if j > i + offset
///
/// They can be combined. An entry that doesn't take part is *masked*: it counts for nothing, even
/// if x or the bias is NaN or +inf there, and its y is 0 (log_softmax: -inf). A row in which every
/// entry is masked is empty; then \ref EmptyRows decides for all of its entries. Most of the
/// columns that lengths or causal mask aren't read.
///
/// A View that is read may have any strides, also 0, and fewer elements than x: as in NumPy, its
/// axes are aligned with the last axes of x, and an axis of extent 1 (or a missing one) is
/// broadcast. It must not overlap y or another View that is written.
///
/// **Written**: softmax and log_softmax write `lse` and `max` in the same launch as y, which has
/// the same bits as without them. Each View that isn't given isn't written. It has the extents of x
/// without the reduced axes, and is of double if x is of double, otherwise of float. One stride
/// must lead from row to row, in the order in which the rows lie in x: a contiguous View of the
/// layout of x will do. It must not overlap x, y or another operand. logsumexp has no such
/// operands.
///
/// **logsumexp alone** has `weights` and `sign`: with weights w, it computes log|sum_j w_ij
/// exp(v_ij)|, and the sign of the sum. docs/weights.md describes them.
///
/// \tparam Lse      a Kokkos::View, or NoOperand
/// \tparam Max      a Kokkos::View, or NoOperand
/// \tparam Bias     a Kokkos::View, or NoOperand
/// \tparam Mask     a Kokkos::View, or NoOperand
/// \tparam Lengths  a Kokkos::View, or NoOperand
/// \tparam Position  Causal, or NoOperand
/// \tparam RowBias  a Kokkos::View, or NoOperand
/// \tparam Weights  a Kokkos::View, or NoOperand
/// \tparam Sign     a Kokkos::View, or NoOperand
template <class Lse = NoOperand, class Max = NoOperand, class Bias = NoOperand,
          class Mask = NoOperand, class Lengths = NoOperand, class Position = NoOperand,
          class RowBias = NoOperand, class Weights = NoOperand, class Sign = NoOperand>
struct Operands {
  /// The log-sum-exp log(sum_k exp(v_k)) of each row. The value is -inf for a row without entries
  /// and for a row in which every v is -inf, and NaN for a row with a NaN or +inf. (logsumexp gives
  /// +inf for a row with +inf and no NaN.) The error bounds are in docs/semantics.md.
  Lse lse = {};

  /// The maximum max_k v_k of each row, without rounding errors except those of v. The value is
  /// -inf for a row without entries and for a row in which every v is -inf, +inf for a row with
  /// +inf, and NaN for a row with a NaN and without +inf.
  Max max = {};

  /// What is added to scale * x: a View of the value type of x, or of float if x has a half type,
  /// broadcast to x.
  Bias bias = {};

  /// Which entries take part: a View of bool or of unsigned char (not 0: takes part), broadcast to
  /// x.
  Mask mask = {};

  /// How many columns of each row take part, from the first one on: a View of std::int32_t or
  /// std::int64_t, broadcast to x without the reduced axes. A negative number counts as 0, and one
  /// above the number of columns as that number.
  Lengths lengths = {};

  /// Which columns take part by the index of the row, see Causal.
  Position causal = {};

  /// What is added to all entries of a row: a View of double if x is of double, otherwise of float,
  /// broadcast to x without the reduced axes. softmax and log_softmax give the same results without
  /// it, except `lse` and `max`.
  RowBias row_bias = {};

  /// What the exponentials are multiplied by before they are added: a View of the value type of x,
  /// or of float if x has a half type, broadcast to x. Weights may be negative. An entry with the
  /// weight 0 counts for nothing, even if x or the bias is NaN or +inf there.
  Weights weights = {};

  /// The sign of sum_j w_ij exp(v_ij): 1, -1, 0 if the sum is 0, or NaN. It is written, and has the
  /// value type, the extents and the strides of lse. Without it, lse is NaN where the sum is
  /// negative. Only with `weights`.
  Sign sign = {};

  /// Whether `bias` and `row_bias` are multiplied by Options::scale, as x is. So potentials of
  /// optimal transport need no scaled copies.
  bool scale_biases = false;
};

/// \}

namespace Impl {

/// Whether an operand is given.
template <class Operand>
inline constexpr bool is_given = !std::is_same_v<Operand, NoOperand>;

/// Whether operands of type O change the value of an entry, so that the call needs the kernels of
/// GeneralSource.
template <class O>
inline constexpr bool have_inputs = false;
template <class Lse, class Max, class Bias, class Mask, class Lengths, class Position,
          class RowBias, class Weights, class Sign>
inline constexpr bool
    have_inputs<Operands<Lse, Max, Bias, Mask, Lengths, Position, RowBias, Weights, Sign>> =
        is_given<Bias> || is_given<Mask> || is_given<Lengths> || is_given<Position> ||
        is_given<RowBias> || is_given<Weights>;

/// Whether operands of type O have weights.
template <class O>
inline constexpr bool have_weights = false;
template <class O>
requires requires { &O::weights; }
inline constexpr bool have_weights<O> = is_given<decltype(O::weights)>;

/// The type of the computation of a call with x and y; void if the library has no kernels for it.
template <class X, class Y>
constexpr auto compute_of() {
  using Tx = typename X::non_const_value_type;
  using Ty = typename Y::value_type;
  if constexpr (have_kernels<Tx, Ty>)
    return std::type_identity<typename ValueTypes<Tx, Ty>::Compute>{};
  else
    return std::type_identity<void>{};
}
template <class X, class Y>
using ComputeOf = typename decltype(compute_of<X, Y>())::type;

/// Whether `Operand` is a View with the rank, a value type and the memory space of an operand of a
/// call, or is absent.
template <class Operand>
constexpr int rank_of() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return static_cast<int>(Operand::rank());
  else
    return -1;
}
template <class Operand, class... Value>
constexpr bool has_value_type() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return (std::is_same_v<typename Operand::value_type, Value> || ...);
  else
    return true;
}
template <class Operand, class... Value>
constexpr bool has_input_type() {
  return has_value_type<Operand, Value..., const Value...>();
}
template <class Operand, class Exec>
constexpr bool has_operand_space() {
  if constexpr (Kokkos::is_view_v<Operand>)
    return Kokkos::SpaceAccessibility<Exec, typename Operand::memory_space>::accessible;
  else
    return true;
}

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, name, Exec, Operand)                   \
  static_assert(Kokkos::is_view_v<Operand> || !KokkosSoftmax::Impl::is_given<Operand>,    \
                "KokkosSoftmax::" function ": operands." name " must be a Kokkos::View"); \
  static_assert(KokkosSoftmax::Impl::has_operand_space<Operand, Exec>(),                  \
                "KokkosSoftmax::" function ": the memory of operands." name               \
                " is not accessible from exec")
/// The same for an operand that is written.
#define KOKKOSSOFTMAX_IMPL_CHECK_OUTPUT(function, name, Exec, X, Y, Operand)                     \
  KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, name, Exec, Operand);                               \
  static_assert(!Kokkos::is_view_v<Operand> ||                                                   \
                    KokkosSoftmax::Impl::rank_of<Operand>() < KokkosSoftmax::Impl::rank_of<X>(), \
                "KokkosSoftmax::" function ": operands." name                                    \
                " must have the rank of x less the number of reduced axes");                     \
  static_assert(                                                                                 \
      KokkosSoftmax::Impl::has_value_type<Operand, KokkosSoftmax::Impl::ComputeOf<X, Y>>(),      \
      "KokkosSoftmax::" function ": the value type of operands." name                            \
      " must be double if that of x is double, otherwise float, without const")
/// The same for an operand that is read. `less` is 1 if it is broadcast to x without the axis.
#define KOKKOSSOFTMAX_IMPL_CHECK_INPUT(function, name, Exec, X, less, Operand, types, ...) \
  KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, name, Exec, Operand);                         \
  static_assert(                                                                           \
      KokkosSoftmax::Impl::rank_of<Operand>() + less <= KokkosSoftmax::Impl::rank_of<X>(), \
      "KokkosSoftmax::" function ": operands." name                                        \
      " must have at most the rank of x (lengths and row_bias: less one)");                \
  static_assert(KokkosSoftmax::Impl::has_input_type<Operand, __VA_ARGS__>(),               \
                "KokkosSoftmax::" function ": the value type of operands." name " must be " types)

/// Does so for all operands of type O.
#define KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS(function, Exec, X, Y, O)                                 \
  KOKKOSSOFTMAX_IMPL_CHECK_OUTPUT(function, "lse", Exec, X, Y, decltype(O::lse));                  \
  KOKKOSSOFTMAX_IMPL_CHECK_OUTPUT(function, "max", Exec, X, Y, decltype(O::max));                  \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT(                                                                  \
      function, "bias", Exec, X, 0, decltype(O::bias), "that of x, or float if x has a half type", \
      typename X::non_const_value_type, KokkosSoftmax::Impl::ComputeOf<X, Y>);                     \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT(function, "mask", Exec, X, 0, decltype(O::mask),                  \
                                 "bool or unsigned char", bool, unsigned char);                    \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT(function, "lengths", Exec, X, 1, decltype(O::lengths),            \
                                 "std::int32_t or std::int64_t", std::int32_t, std::int64_t);      \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT(function, "row_bias", Exec, X, 1, decltype(O::row_bias),          \
                                 "double if that of x is double, otherwise float",                 \
                                 KokkosSoftmax::Impl::ComputeOf<X, Y>);                            \
  static_assert(!KokkosSoftmax::Impl::is_given<decltype(O::causal)> ||                             \
                    std::is_same_v<decltype(O::causal), KokkosSoftmax::Causal>,                    \
                "KokkosSoftmax::" function ": operands.causal must be a KokkosSoftmax::Causal");   \
  static_assert(!KokkosSoftmax::Impl::is_given<decltype(O::causal)> || X::rank() > 1,              \
                "KokkosSoftmax::" function ": operands.causal needs an x of rank 2 or more")

/// For logsumexp, which has one result.
#define KOKKOSSOFTMAX_IMPL_CHECK_READS_ONLY(function, O)              \
  static_assert(!KokkosSoftmax::Impl::is_given<decltype(O::lse)> &&   \
                    !KokkosSoftmax::Impl::is_given<decltype(O::max)>, \
                "KokkosSoftmax::" function                            \
                ": operands.lse and operands.max are for softmax "    \
                "and log_softmax: give the View of the results as the argument lse")

/// For logsumexp with results of type L, which can have weights.
#define KOKKOSSOFTMAX_IMPL_CHECK_WEIGHTS(function, Exec, X, L, O)                                 \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT(function, "weights", Exec, X, 0, decltype(O::weights),           \
                                 "that of x, or float if x has a half type",                      \
                                 typename X::non_const_value_type,                                \
                                 KokkosSoftmax::Impl::ComputeOf<X, L>);                           \
  KOKKOSSOFTMAX_IMPL_CHECK_OPERAND(function, "sign", Exec, decltype(O::sign));                    \
  static_assert(!KokkosSoftmax::Impl::is_given<decltype(O::sign)> ||                              \
                    KokkosSoftmax::Impl::is_given<decltype(O::weights)>,                          \
                "KokkosSoftmax::" function                                                        \
                ": operands.sign needs operands.weights (without weights all signs are 1)");      \
  static_assert(                                                                                  \
      !Kokkos::is_view_v<decltype(O::sign)> ||                                                    \
          KokkosSoftmax::Impl::rank_of<decltype(O::sign)>() == KokkosSoftmax::Impl::rank_of<L>(), \
      "KokkosSoftmax::" function ": operands.sign must have the rank of lse");                    \
  static_assert(KokkosSoftmax::Impl::has_value_type<decltype(O::sign), typename L::value_type>(), \
                "KokkosSoftmax::" function                                                        \
                ": the value type of operands.sign must be that of lse, without "                 \
                "const")

/// For the functions without weights.
#define KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS(function, O)                                       \
  static_assert(!KokkosSoftmax::Impl::is_given<decltype(O::weights)> &&                        \
                    !KokkosSoftmax::Impl::is_given<decltype(O::sign)>,                         \
                "KokkosSoftmax::" function                                                     \
                ": operands.weights and operands.sign are for logsumexp: leave them out (for " \
                "positive weights, give their logarithms as operands.bias)")

}  // namespace Impl

}  // namespace KokkosSoftmax

#endif
