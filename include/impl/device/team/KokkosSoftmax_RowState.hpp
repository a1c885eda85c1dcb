// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_ROWSTATE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_ROWSTATE_HPP

/// \file
/// What a row is reduced to, as the reductions see it: the largest entry, and a sum whose terms are
/// relative to a reference near it. Sums without exponentials have neither.

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <concepts>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// exp(from - to); 1 if both are the same infinity. This is not exp_up_to_16 because its constants
/// would occupy registers that the exponentials of the entries need.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rescale_factor(T from, T to) {
  return from == to ? T(1) : Kokkos::exp(from - to);
}

/// How the states of type S are taken apart and made. A specialization has
///
/// - Value: float or double
/// - has_reference: whether the terms are relative to a reference. Otherwise the maximum and the
///   reference are 0 everywhere.
/// - moves_in_steps: whether reference_of has few values, so that a reference that follows the
///   maximum of a row seldom moves
/// - reference_of(max): the reference of a state with this maximum; monotone
/// - max(state)
/// - make(max, sum)
///
/// and the state has the member `sum`.
template <class S>
struct StateTraits;

/// The reference of the terms of a state.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION auto reference_of_state(const S& state) {
  return StateTraits<S>::reference_of(StateTraits<S>::max(state));
}

/// What the terms of a state are multiplied by to be relative to `reference`.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION auto factor_to(typename StateTraits<S>::Value reference,
                                           const S& state) {
  if constexpr (StateTraits<S>::has_reference)
    return rescale_factor(reference_of_state(state), reference);
  else
    return typename StateTraits<S>::Value(1);
}

/// The sum of a state relative to `reference`.
template <class S>
KOKKOS_FORCEINLINE_FUNCTION auto sum_relative_to(typename StateTraits<S>::Value reference,
                                                 const S& state) {
  if constexpr (StateTraits<S>::has_reference)
    return Intrinsics::product(state.sum, factor_to(reference, state));
  else
    return state.sum;
}

template <class T>
struct StateTraits<LogSumExpState<T>> {
  using Value = T;
  static constexpr bool has_reference = true;
  static constexpr bool moves_in_steps = false;

  KOKKOS_FORCEINLINE_FUNCTION static T reference_of(T max) { return max; }
  KOKKOS_FORCEINLINE_FUNCTION static T max(const LogSumExpState<T>& state) { return state.max; }
  KOKKOS_FORCEINLINE_FUNCTION static LogSumExpState<T> make(T max, T sum) { return {max, sum}; }
};

/// A state: the neutral one if default-constructed. `merge` adds the entries of another state.
/// Teams send states to each other as 32-bit words.
template <class S>
concept RowState = std::default_initializable<S> && std::is_trivially_copyable_v<S> && sizeof(S) %
                           4 ==
                       0 &&
                   requires(S state, typename StateTraits<S>::Value value) {
  state.merge(state);
  { StateTraits<S>::has_reference } -> std::convertible_to<bool>;
  { StateTraits<S>::moves_in_steps } -> std::convertible_to<bool>;
  { StateTraits<S>::reference_of(value) } -> std::same_as<decltype(value)>;
  { StateTraits<S>::max(state) } -> std::same_as<decltype(value)>;
  { state.sum } -> std::convertible_to<decltype(value)>;
  { StateTraits<S>::make(value, value) } -> std::same_as<S>;
};

/// A Kokkos reducer that merges states, for the teams of hosts.
template <RowState State>
class MergedStates {
 public:
  using reducer = MergedStates;
  using value_type = State;
  using result_view_type =
      Kokkos::View<State, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  explicit MergedStates(State& result) : m_result(&result) {}

  void join(State& into, const State& from) const { into.merge(from); }
  void init(State& value) const { value = State{}; }
  State& reference() const { return *m_result; }
  result_view_type view() const { return result_view_type(m_result); }
  bool references_scalar() const { return true; }

 private:
  State* m_result;
};

}  // namespace KokkosSoftmax::Impl

#endif
