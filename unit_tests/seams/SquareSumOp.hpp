// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_SQUARESUMOP_HPP
#define KOKKOSSOFTMAX_TEST_SQUARESUMOP_HPP

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_PlainSum.hpp>

namespace KokkosSoftmax::Test {

using KokkosSoftmax::Impl::PlainSum;

/// v^2; 0 for the slots without an entry
template <class T>
struct Square {
  KOKKOS_FUNCTION explicit Square(T /*reference*/) {}
  KOKKOS_FUNCTION T operator()(T v) const { return v < -1e30 ? T(0) : v * v; }
};

/// y_j = sum_k v_k^2
template <class T>
struct SquareSumOutput {
  using Exp = Square<T>;
  using State = PlainSum<T>;
  using HeldState = State;
  static constexpr const char* name = "square_sum";
  static constexpr bool keeps_exponentials = false;
  static constexpr bool computes_on_half_pairs = false;
  KOKKOS_FUNCTION SquareSumOutput(PlainSum<T> row, T /*factor*/, EmptyRows) : sum(row.sum) {}
  KOKKOS_FUNCTION SquareSumOutput(PlainSum<T> row, EmptyRows) : sum(row.sum) {}
  KOKKOS_FUNCTION SquareSumOutput rescaled(T /*factor*/) const { return *this; }
  KOKKOS_FUNCTION T operator()(T /*kept*/) const { return sum; }
  T sum;
};

template <class V>
struct SquareSumOp {
  using Types = V;
  using State = PlainSum<typename V::Compute>;
  using Outputs = KokkosSoftmax::Impl::OutputList<SquareSumOutput<typename V::Compute>>;
  static constexpr bool writes_entries = true;
};

}  // namespace KokkosSoftmax::Test

#endif
