// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_OP_SOFTMAX_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_OP_SOFTMAX_HPP

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpHalf.hpp>
#include <impl/device/op/KokkosSoftmax_LogSoftmax.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_SteppedState.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The state of a row. Doubles have digits to spare, and results of half types need few.
template <class V>
using SoftmaxState =
    SteppedState<typename V::Compute, sizeof(typename V::Compute) == 8 || sizeof(typename V::Y) == 2
                                          ? ReferenceStep::four
                                          : ReferenceStep::one_half>;

/// y_j = exp(v_j - max v) / sum_k exp(v_k - max v)
template <class V>
class SoftmaxOutput {
 public:
  using T = typename V::Compute;
  static constexpr bool gives_halfs = sizeof(typename V::Y) < sizeof(T);
  using Exp = std::conditional_t<gives_halfs, ExpHalf<T>, ExpAccurate<T>>;
  using State = SoftmaxState<V>;
  /// ExpHalf takes any reference, so the maximum itself.
  using HeldState = std::conditional_t<gives_halfs, LogSumExpState<T>, State>;
  static constexpr const char* name = "softmax";
  static constexpr bool keeps_exponentials = true;
  static constexpr T of_masked = T(0);
  static constexpr bool computes_on_half_pairs = false;

  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION SoftmaxOutput(const AnyState& row, T factor, EmptyRows empty_rows)
      // An empty row has the sum 0, and 1 / 0 makes its results NaN. NaN or +inf in the row has
      // made the sum NaN.
      : m_factor(row.sum == T(0) && empty_rows == EmptyRows::zero ? T(0) : factor / row.sum) {}
  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION SoftmaxOutput(const AnyState& row, EmptyRows empty_rows)
      : SoftmaxOutput(row, T(1), empty_rows) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T exponential) const { return exponential * m_factor; }

  KOKKOS_FORCEINLINE_FUNCTION SoftmaxOutput rescaled(T factor) const {
    SoftmaxOutput output = *this;
    output.m_factor *= factor;
    return output;
  }

  KOKKOS_FORCEINLINE_FUNCTION AffineMap<T> affine() const { return {T(0), m_factor, T(0)}; }

  /// What the exponentials are multiplied by.
  KOKKOS_FORCEINLINE_FUNCTION T factor() const { return m_factor; }

 private:
  T m_factor;
};

/// softmax and log_softmax, which differ in few instructions
template <class V>
struct SoftmaxOp {
  using Types = V;
  using State = SoftmaxState<V>;
  using Outputs = OutputList<SoftmaxOutput<V>, LogSoftmaxOutput<V>>;
  static constexpr bool writes_entries = true;
};

}  // namespace KokkosSoftmax::Impl

#endif
