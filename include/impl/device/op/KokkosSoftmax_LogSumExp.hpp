// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSUMEXP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_LOGSUMEXP_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>

namespace KokkosSoftmax::Impl {

/// max v + log(sum_k exp(v_k - max v)), one number per row
template <class T>
struct LogSumExpOutput {
  using Exp = ExpForLse<T>;
  using State = LogSumExpState<T>;
  using HeldState = State;
  static constexpr const char* name = "logsumexp";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = true;

  KOKKOS_FORCEINLINE_FUNCTION LogSumExpOutput(const LogSumExpState<T>& row, EmptyRows)
      : value(row.value()) {}

  T value;
};

template <class V>
struct LogSumExpOp {
  using Types = V;
  using State = LogSumExpState<typename V::Compute>;
  using Outputs = OutputList<LogSumExpOutput<typename V::Compute>>;
  static constexpr bool writes_entries = false;
};

}  // namespace KokkosSoftmax::Impl

#endif
