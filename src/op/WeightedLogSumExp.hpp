// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_WEIGHTEDLOGSUMEXP_HPP
#define KOKKOSSOFTMAX_SRC_OP_WEIGHTEDLOGSUMEXP_HPP

/// \file
/// log|sum_k w_k exp(v_k)|, and the sign of the sum.

#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <team/WeightedState.hpp>

namespace KokkosSoftmax::Impl {

/// log|sum w exp(v)| and the sign, given a reference and the sum of w exp(v - reference).
template <class T>
struct WeightedLogSumExpResult {
  KOKKOS_FORCEINLINE_FUNCTION WeightedLogSumExpResult(T reference, T sum)
      : value(reference + Kokkos::log(Kokkos::abs(sum))),
        sign(sum > T(0)   ? T(1)
             : sum < T(0) ? T(-1)
                          : sum) {}

  T value;
  T sign;
};

template <class V>
struct WeightedLogSumExpOutput : WeightedLogSumExpResult<typename V::Compute> {
  using Exp = ExpForLse<typename V::Compute>;
  using State = WeightedStateOf<typename V::X, typename V::Compute>;
  using HeldState = State;
  static constexpr const char* name = "logsumexp";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = false;

  KOKKOS_FORCEINLINE_FUNCTION WeightedLogSumExpOutput(const State& row, EmptyRows)
      : WeightedLogSumExpResult<typename V::Compute>(row.max, row.sum) {}
};

template <class V>
struct WeightedLogSumExpOp {
  using Types = V;
  using State = WeightedStateOf<typename V::X, typename V::Compute>;
  using Outputs = OutputList<WeightedLogSumExpOutput<V>>;
  static constexpr bool writes_entries = false;
};

}  // namespace KokkosSoftmax::Impl

#endif
