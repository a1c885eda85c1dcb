// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_ROWOP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_ROWOP_HPP

/// \file
/// Operations on rows: what is reduced, and how the output is computed from the result.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <array>
#include <concepts>
#include <cstddef>
#include <impl/device/backend/KokkosSoftmax_AnyCallable.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <tuple>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The map v -> (v - shift) * factor - offset. Outputs that share a kernel are such maps, so that
/// one loop can compute and store the results of any of them. (v * 1 and v - 0 are exact, so that
/// an output has the same bits as in a kernel of its own.)
template <class T>
struct AffineMap {
  T shift;
  T factor;
  T offset;

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    KOKKOS_IF_ON_DEVICE((return Kokkos::fma(v - shift, factor, -offset);))
    KOKKOS_IF_ON_HOST((return (v - shift) * factor - offset;))
  }
};

/// The outputs of an operation, see RowOp. One kernel computes all of them: which one is the
/// number RowArgs::function of a launch.
template <class... Output>
struct OutputList {
  template <std::size_t function>
  using at = std::tuple_element_t<function, std::tuple<Output...>>;
  static constexpr std::size_t size = sizeof...(Output);
  template <class Other>
  using HeldStateOr =
      std::conditional_t<(std::is_same_v<typename Output::HeldState, typename at<0>::HeldState> &&
                          ...),
                         typename at<0>::HeldState, Other>;
  static constexpr bool keep_exponentials = (Output::keeps_exponentials || ...);
  static constexpr bool compute_on_half_pairs =
      size == 1 && (Output::computes_on_half_pairs && ...);
  static constexpr std::array<const char*, size> names = {Output::name...};
};

/// An operation is a type without objects. It has
///
/// - Types: ValueTypes<...> of x and y
/// - State: what a row is reduced to, see RowState. All outputs can be made from it.
/// - writes_entries: whether the output has an entry per column; otherwise it is one number per row
/// - Outputs: OutputList<...> of what can be computed, one per public function
///
/// - function_names: the names of the public functions, if one output serves several of them
///
/// An output is a type that is made from the row's state. It maps what a schedule has kept of an
/// entry (a value, or the two members of an EntryPair) to the entry of the output, or has the row's
/// one number as its member `value`. It has
///
/// - name: the name of the public function
/// - Exp: how exp(v - reference) is computed, or another term that is summed. Slots without an
///   entry have the value -inf, whose term must be 0.
/// - of_masked: the result of a masked entry; only for sources that mask entries
/// - keeps_exponentials: whether a schedule keeps the exponential exp(v - reference) of an entry,
///   or the value v
/// - computes_on_half_pairs: whether entries of half types may stay in pairs as they are in memory
///   (HalfTile); only if no other output shares the kernel
/// - State: what a row is reduced to by a kernel for this output alone
/// - HeldState: the same for schedules that hold a row in registers and sum each entry once. There
///   the reference needn't move in steps.
/// - rescaled(factor): the output for other exponentials of the same row. It takes no division, and
///   one rounding more than a new object.
/// - affine(): the same map of an entry as an AffineMap; only if the operation has several outputs
/// - two constructors: (state, empty_rows) for exponentials relative to the state's own reference,
///   and (state, factor, empty_rows) for others, which times `factor` are relative to it
template <class Output, class Op>
concept RowOutput = requires(const typename Op::State state, const typename Op::Types::Compute v,
                             EmptyRows empty_rows) {
  { Output::name } -> std::convertible_to<const char*>;
  typename Output::Exp;
  { Output::keeps_exponentials } -> std::convertible_to<bool>;
  { Output::computes_on_half_pairs } -> std::convertible_to<bool>;
  requires RowState<typename Output::State> && RowState<typename Output::HeldState>;
  requires !Op::writes_entries || requires {
    Output(state, v, empty_rows);
    { Output(state, empty_rows).rescaled(v) } -> std::same_as<Output>;
    requires std::is_invocable_r_v<typename Op::Types::Compute, Output,
                                   typename Op::Types::Compute> ||
        std::is_invocable_r_v<typename Op::Types::Compute, Output, typename Op::Types::Compute,
                              typename Op::Types::Compute>;
  };
  requires Op::Outputs::size == 1 || requires {
    { Output(state, empty_rows).affine() } -> std::same_as<AffineMap<typename Op::Types::Compute>>;
  };
  requires Op::writes_entries || requires {
    { Output(state, empty_rows).value } -> std::convertible_to<typename Op::Types::Compute>;
  };
};

template <class List, class Op>
inline constexpr bool are_outputs = false;
template <class Op, RowOutput<Op>... Output>
inline constexpr bool are_outputs<OutputList<Output...>, Op> = sizeof...(Output) > 0;

template <class O>
concept RowOp = RowState<typename O::State> && requires {
  { O::writes_entries } -> std::convertible_to<bool>;
  requires are_outputs<typename O::Outputs, O>;
};

/// body(std::type_identity<Output>()) for the output of a launch, the one with the number
/// `function`. All threads of a launch take the same branch. The code of the first output comes
/// first, without jumps.
KOKKOSSOFTMAX_IMPL_ANY_CALLABLE
template <RowOp Op, std::size_t candidate = 0, class Body>
KOKKOS_FORCEINLINE_FUNCTION auto with_output([[maybe_unused]] int function, const Body& body) {
  using Outputs = typename Op::Outputs;
  if constexpr (candidate + 1 < Outputs::size) {
    if (function != static_cast<int>(candidate)) [[unlikely]]
      return with_output<Op, candidate + 1>(function, body);
  }
  return body(std::type_identity<typename Outputs::template at<candidate>>());
}

/// The result of a masked entry.
template <RowOp Op>
KOKKOS_FORCEINLINE_FUNCTION auto masked_result(int function) {
  using Y = typename Op::Types::Y;
  return with_output<Op>(function, []<class Output>(std::type_identity<Output>) {
    return static_cast<Y>(Output::of_masked);
  });
}

/// An operation with one of the outputs of another one.
template <RowOp Op, int function>
struct OneOutput : Op {
  using Output = typename Op::Outputs::template at<static_cast<std::size_t>(function)>;
  using Outputs = OutputList<Output>;
  using State = typename Output::State;
};

/// The state for schedules that hold a row in registers: that of the outputs, if all have the same.
template <RowOp Op>
using HeldState = typename Op::Outputs::template HeldStateOr<typename Op::State>;

/// The names of the functions of an operation, in the order of their numbers RowArgs::function.
template <RowOp Op>
constexpr auto function_names() {
  if constexpr (requires { Op::function_names; })
    return Op::function_names;
  else
    return Op::Outputs::names;
}

/// The output of an operation with one output.
template <RowOp Op>
requires(Op::Outputs::size == 1) using OnlyOutput = typename Op::Outputs::template at<0>;

/// The log-sum-exp of a row as it is written beside y: NaN for a row with +inf, as in y. Not all
/// states can tell it from a row that has NaN too.
template <class State>
KOKKOS_FORCEINLINE_FUNCTION auto lse_beside(const State& state) {
  const auto lse = state.value();
  return lse == Kokkos::Experimental::infinity_v<decltype(state.value())> ? lse - lse : lse;
}

/// An output for a schedule that has kept nothing and reads the entries a second time.
template <RowOp Op, class Output>
class EntryOutput {
 public:
  using T = typename Op::Types::Compute;

  KOKKOS_FORCEINLINE_FUNCTION EntryOutput(const typename Op::State& row, EmptyRows empty_rows)
      : m_output(row, empty_rows), m_exp(reference_of_state(row)) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (Output::keeps_exponentials)
      return m_output(m_exp(v));
    else
      return m_output(v);
  }
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T p, T t) const { return m_output(p, t); }

 private:
  Output m_output;
  typename Output::Exp m_exp;
};

}  // namespace KokkosSoftmax::Impl

#endif
