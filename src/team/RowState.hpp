// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_ROWSTATE_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_ROWSTATE_HPP

/// \file
/// What a row is reduced to, as the reductions see it: a sum, and the reference to which its terms
/// are relative if they have one.

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <concepts>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// exp(from - to); 1 if both are the same infinity. This is not exp_up_to_one because its constants
/// would occupy registers that the exponentials of the entries need.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T rescale_factor(T from, T to) {
  return from == to ? T(1) : Kokkos::exp(from - to);
}

/// How the states of type S are taken apart and made. A specialization has
///
/// - Value: float or double
/// - has_reference: whether the terms are relative to a reference. Otherwise the reference is 0
///   everywhere.
/// - reference(state)
/// - sum_relative_to(reference, state): the sum, rescaled if the state has another reference
/// - make(reference, sum)
template <class S>
struct StateTraits;

template <class T>
struct StateTraits<LogSumExpState<T>> {
  using Value = T;
  static constexpr bool has_reference = true;

  KOKKOS_FORCEINLINE_FUNCTION static T reference(const LogSumExpState<T>& state) {
    return state.max;
  }
  KOKKOS_FORCEINLINE_FUNCTION static T sum_relative_to(T reference,
                                                       const LogSumExpState<T>& state) {
    return state.sum * rescale_factor(state.max, reference);
  }
  KOKKOS_FORCEINLINE_FUNCTION static LogSumExpState<T> make(T reference, T sum) {
    return {reference, sum};
  }
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
  { StateTraits<S>::reference(state) } -> std::same_as<decltype(value)>;
  { StateTraits<S>::sum_relative_to(value, state) } -> std::same_as<decltype(value)>;
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
