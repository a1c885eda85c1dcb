// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_ROWOP_HPP
#define KOKKOSSOFTMAX_SRC_OP_ROWOP_HPP

/// \file
/// Operations on rows: what is reduced, and how the output is computed from the result.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <concepts>
#include <team/RowState.hpp>

namespace KokkosSoftmax::Impl {

/// An operation is a type without objects. It has
///
/// - Types: ValueTypes<...> of x and y
/// - name: the name of the public function
/// - State: what a row is reduced to, see RowState
/// - Exp: how exp(v - reference) is computed, or another term that is summed. Slots without an
///   entry have the value -inf, whose term must be 0.
/// - keeps_exponentials: whether a schedule keeps the exponentials exp(v - reference) for the
///   output, or the values v
/// - writes_entries: whether the output has an entry per column; otherwise it is one number per row
/// - computes_on_half_pairs: whether entries of half types may stay in pairs as they are in memory
///   (HalfTile)
/// - Output: made from the row's state, maps what was kept to an entry of the output, or has the
///   row's one number as its member `value`. It has two constructors: (state, reference,
///   empty_rows) for exponentials relative to `reference`, and (state, empty_rows) for exponentials
///   relative to the state's own reference.
template <class O>
concept RowOp = RowState<typename O::State> &&
    requires(typename O::State state, typename O::Types::Compute v, EmptyRows empty_rows) {
  typename O::Exp;
  { O::name } -> std::convertible_to<const char*>;
  { O::keeps_exponentials } -> std::convertible_to<bool>;
  { O::writes_entries } -> std::convertible_to<bool>;
  { O::computes_on_half_pairs } -> std::convertible_to<bool>;
  requires !O::writes_entries || requires {
    { typename O::Output(state, v, empty_rows)(v) } -> std::same_as<typename O::Types::Compute>;
    { typename O::Output(state, empty_rows)(v) } -> std::same_as<typename O::Types::Compute>;
  };
  requires O::writes_entries || requires {
    {
      typename O::Output(state, empty_rows).value
      } -> std::convertible_to<typename O::Types::Compute>;
  };
};

/// The output for a schedule that has kept nothing and reads the entries a second time.
template <RowOp Op>
class EntryOutput {
 public:
  using T = typename Op::Types::Compute;

  KOKKOS_FORCEINLINE_FUNCTION EntryOutput(const typename Op::State& row, EmptyRows empty_rows)
      : m_output(row, empty_rows), m_exp(reference_of_state(row)) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (Op::keeps_exponentials)
      return m_output(m_exp(v));
    else
      return m_output(v);
  }

 private:
  typename Op::Output m_output;
  typename Op::Exp m_exp;
};

}  // namespace KokkosSoftmax::Impl

#endif
