// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_LOGSOFTMAX_HPP
#define KOKKOSSOFTMAX_SRC_OP_LOGSOFTMAX_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <numerics/ExpForSum.hpp>
#include <op/RowOp.hpp>

namespace KokkosSoftmax::Impl {

/// y_j = (v_j - max v) - log(sum_k exp(v_k - max v))
template <class V>
struct LogSoftmaxOp {
  using Types = V;
  using T = typename V::Compute;
  using State = LogSumExpState<T>;
  using Exp = ExpForSum<T>;
  static constexpr const char* name = "log_softmax";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool writes_entries = true;
  /// With results of float it was as fast without.
  static constexpr bool computes_on_half_pairs = sizeof(typename V::Y) == sizeof(typename V::X);

  class Output {
   public:
    KOKKOS_FORCEINLINE_FUNCTION Output(const State& row, T /*reference*/, EmptyRows empty_rows)
        // if max is not finite, max - max makes all results of the row NaN
        : m_max(row.max), m_log_sum(not_negative(Kokkos::log(row.sum)) + (row.max - row.max)) {
      if (row.max != -infinity || row.sum != row.sum) return;
      m_log_sum = infinity;                             // only in a row of -inf alone
      if (empty_rows == EmptyRows::zero) m_max = T(0);  // -inf stays -inf, else -inf - -inf is NaN
    }
    KOKKOS_FORCEINLINE_FUNCTION Output(const State& row, EmptyRows empty_rows)
        : Output(row, row.max, empty_rows) {}

    /// v - max is computed first: max + log_sum would round away the digits of a small result.
    KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const { return (v - m_max) - m_log_sum; }

   private:
    static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

    /// The sum contains the term exp(max - max). For half types, whose terms are computed from
    /// pairs of entries (HalfPair), this term can be less than 1, and so can the sum. The result
    /// for the largest entry would then be positive. NaN stays NaN.
    KOKKOS_FORCEINLINE_FUNCTION static T not_negative(T logarithm) {
      if constexpr (sizeof(typename V::X) < sizeof(T))
        return logarithm < T(0) ? T(0) : logarithm;
      else
        return logarithm;
    }

    T m_max;
    T m_log_sum;
  };
};

}  // namespace KokkosSoftmax::Impl

#endif
