// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_BACKWARD_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_BACKWARD_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_PlainSum.hpp>

namespace KokkosSoftmax::Impl {

/// The terms of a plain sum are what a PairTile has.
template <class T>
struct TermsThemselves {
  KOKKOS_FORCEINLINE_FUNCTION explicit TermsThemselves(T /*reference*/) {}
};

/// dx_j = t_j - p_j * sum_k t_k, see BackwardSource
template <class V>
class BackwardOutput {
 public:
  using T = typename V::Compute;
  using Exp = TermsThemselves<T>;
  using State = PlainSum<T>;
  using HeldState = State;
  static constexpr const char* name = "backward";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = false;

  KOKKOS_FORCEINLINE_FUNCTION BackwardOutput(const State& row, EmptyRows) : m_sum(row.sum) {}
  KOKKOS_FORCEINLINE_FUNCTION BackwardOutput(const State& row, T /*factor*/, EmptyRows)
      : m_sum(row.sum) {}

  /// 0 for a masked entry, even if the sum is NaN or infinite.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T p, T t) const {
    return p == T(0) && t == T(0) ? T(0) : Kokkos::fma(-p, m_sum, t);
  }

  KOKKOS_FORCEINLINE_FUNCTION BackwardOutput rescaled(T /*factor*/) const { return *this; }

 private:
  T m_sum;
};

/// The backward passes of softmax and log_softmax, whose kernels are the same. Which one is
/// computed is the number RowArgs::function.
template <class V>
struct BackwardOp {
  using Types = V;
  using State = PlainSum<typename V::Compute>;
  using Outputs = OutputList<BackwardOutput<V>>;
  static constexpr bool writes_entries = true;
  static constexpr std::array function_names = {to_string(BackwardOperation::softmax_backward),
                                                to_string(BackwardOperation::log_softmax_backward)};
};

}  // namespace KokkosSoftmax::Impl

#endif
