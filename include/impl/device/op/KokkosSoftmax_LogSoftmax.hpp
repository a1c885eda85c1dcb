// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSOFTMAX_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSOFTMAX_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// y_j = (v_j - max v) - log(sum_k exp(v_k - max v))
template <class V>
class LogSoftmaxOutput {
 public:
  using T = typename V::Compute;
  using Exp = ExpForSum<T>;
  using State = LogSumExpState<T>;
  using HeldState = State;
  static constexpr const char* name = "log_softmax";
  static constexpr bool keeps_exponentials = false;
  static constexpr T of_masked = -Kokkos::Experimental::infinity_v<T>;
  /// With results of float it was as fast without.
  static constexpr bool computes_on_half_pairs = sizeof(typename V::Y) == sizeof(typename V::X);

  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION LogSoftmaxOutput(const AnyState& row, T /*factor*/,
                                               EmptyRows empty_rows)
      // if max is not finite, max - max makes all results of the row NaN
      : m_max(row.max), m_log_sum(Kokkos::log(sum_relative_to_max(row)) + (row.max - row.max)) {
    if (row.max != -infinity || row.sum != row.sum) return;
    m_log_sum = infinity;                             // only in a row of -inf alone
    if (empty_rows == EmptyRows::zero) m_max = T(0);  // -inf stays -inf, else -inf - -inf is NaN
  }
  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION LogSoftmaxOutput(const AnyState& row, EmptyRows empty_rows)
      : LogSoftmaxOutput(row, T(1), empty_rows) {}

  /// v - max is computed first: max + log_sum would round away the digits of a small result.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const { return (v - m_max) - m_log_sum; }

  KOKKOS_FORCEINLINE_FUNCTION LogSoftmaxOutput rescaled(T /*factor*/) const { return *this; }

  /// The log-sum-exp of the row as it is written beside y (lse_beside()), from the same logarithm.
  /// Only with EmptyRows::nan.
  KOKKOS_FORCEINLINE_FUNCTION T log_sum_exp() const {
    return m_log_sum == infinity ? -infinity : m_max + m_log_sum;
  }

  KOKKOS_FORCEINLINE_FUNCTION AffineMap<T> affine() const { return {m_max, T(1), m_log_sum}; }

 private:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  /// The sum relative to the maximum, at least 1, so that no result is positive. (Pairs of half
  /// types may sum to less.) NaN stays NaN. If the state had another reference, a row whose other
  /// terms are no more than the rounding errors of this one has exactly 1, so that its largest
  /// result is exactly 0.
  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION static T sum_relative_to_max(const AnyState& row) {
    using Traits = StateTraits<AnyState>;
    constexpr bool is_rescaled = Traits::moves_in_steps;
    if constexpr (!is_rescaled && std::is_same_v<typename V::X, T>) return row.sum;
    const T sum = Impl::sum_relative_to(row.max, row);
    constexpr T nearly_one =
        is_rescaled ? T(1) + (sizeof(T) == 8 ? 8 : 4) * Kokkos::Experimental::epsilon_v<T> : T(1);
    return sum < nearly_one ? T(1) : sum;
  }

  T m_max;
  T m_log_sum;
};

}  // namespace KokkosSoftmax::Impl

#endif
