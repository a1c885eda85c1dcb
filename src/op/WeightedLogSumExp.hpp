// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_WEIGHTEDLOGSUMEXP_HPP
#define KOKKOSSOFTMAX_SRC_OP_WEIGHTEDLOGSUMEXP_HPP

/// \file
/// log|sum_k w_k exp(v_k)|, and the sign of the sum.

#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>

namespace KokkosSoftmax::Impl {

/// The largest value of an entry that counts, and the sum of w * exp(v - max), which can be
/// negative.
template <class T>
struct WeightedState {
  T max = -Kokkos::Experimental::infinity_v<T>;
  T sum = T(0);

  KOKKOS_FORCEINLINE_FUNCTION void merge(const WeightedState& other) {
    const T larger_max = other.max > max ? other.max : max;
    sum = sum_relative_to(larger_max, *this) + sum_relative_to(larger_max, other);
    max = larger_max;
  }
};

template <class T>
struct StateTraits<WeightedState<T>> {
  using Value = T;
  static constexpr bool has_reference = true;
  static constexpr bool moves_in_steps = false;

  KOKKOS_FORCEINLINE_FUNCTION static T reference_of(T max) { return max; }
  KOKKOS_FORCEINLINE_FUNCTION static T max(const WeightedState<T>& state) { return state.max; }
  KOKKOS_FORCEINLINE_FUNCTION static WeightedState<T> make(T max, T sum) { return {max, sum}; }
};

/// exp(v - max) of the entries of a row whose maximum is +inf: the other entries add nothing to the
/// weights of those that are +inf. NaN stays NaN.
struct ExpOfInfiniteMax {
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    return v == Kokkos::Experimental::infinity_v<T> ? T(1) : v == v ? T(0) : v;
  }
};

/// exp(v - reference) for terms that have a weight.
template <class T>
class ExpForWeighted : public ExpForLse<T> {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit ExpForWeighted(T reference)
      : ExpForLse<T>(reference), m_is_infinite(reference == Kokkos::Experimental::infinity_v<T>) {}

  /// Whether the terms are those of exp_of_infinite_max().
  KOKKOS_FORCEINLINE_FUNCTION bool has_infinite_max() const { return m_is_infinite; }
  KOKKOS_FORCEINLINE_FUNCTION static ExpOfInfiniteMax exp_of_infinite_max() { return {}; }

 private:
  bool m_is_infinite;
};

template <class T>
struct WeightedLogSumExpOutput {
  using Exp = ExpForWeighted<T>;
  using State = WeightedState<T>;
  using HeldState = State;
  static constexpr const char* name = "logsumexp";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = false;

  KOKKOS_FORCEINLINE_FUNCTION WeightedLogSumExpOutput(const State& row, EmptyRows)
      : WeightedLogSumExpOutput(row.max, row.sum) {}
  KOKKOS_FORCEINLINE_FUNCTION WeightedLogSumExpOutput(T reference, T sum)
      : value(reference + Kokkos::log(Kokkos::abs(sum))),
        sign(sum > T(0)   ? T(1)
             : sum < T(0) ? T(-1)
                          : sum) {}

  T value;
  T sign;
};

template <class V>
struct WeightedLogSumExpOp {
  using Types = V;
  using State = WeightedState<typename V::Compute>;
  using Outputs = OutputList<WeightedLogSumExpOutput<typename V::Compute>>;
  static constexpr bool writes_entries = false;
};

}  // namespace KokkosSoftmax::Impl

#endif
