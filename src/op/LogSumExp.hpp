// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_SRC_OP_LOGSUMEXP_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <numerics/ExpForSum.hpp>
#include <op/RowOp.hpp>

namespace KokkosSoftmax::Impl {

/// max v + log(sum_k exp(v_k - max v)), one number per row
template <class V>
struct LogSumExpOp {
  using Types = V;
  using T = typename V::Compute;
  using State = LogSumExpState<T>;
  using Exp = ExpForLse<T>;
  static constexpr const char* name = "logsumexp";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool writes_entries = false;
  static constexpr bool computes_on_half_pairs = true;

  struct Output {
    KOKKOS_FORCEINLINE_FUNCTION Output(const State& row, T /*reference*/, EmptyRows)
        : value(row.value()) {}
    KOKKOS_FORCEINLINE_FUNCTION Output(const State& row, EmptyRows) : value(row.value()) {}

    T value;
  };
};

}  // namespace KokkosSoftmax::Impl

#endif
