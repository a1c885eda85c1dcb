// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSUMEXP_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_LseState.hpp>

namespace KokkosSoftmax::Impl {

/// max v + log(sum_k exp(v_k - max v)), one number per row
template <class V>
struct LogSumExpOutput {
  using T = typename V::Compute;
  using Exp = ExpForLse<T>;
  using State = LseStateOf<typename V::X, T>;
  using HeldState = State;
  static constexpr const char* name = "logsumexp";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = true;

  KOKKOS_FORCEINLINE_FUNCTION LogSumExpOutput(const State& row, EmptyRows) : value(row.value()) {}

  T value;
};

template <class V>
struct LogSumExpOp {
  using Types = V;
  using State = LseStateOf<typename V::X, typename V::Compute>;
  using Outputs = OutputList<LogSumExpOutput<V>>;
  static constexpr bool writes_entries = false;
};

}  // namespace KokkosSoftmax::Impl

#endif
