// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_ROWOUTPUTS_HPP
#define KOKKOSSOFTMAX_SRC_OP_ROWOUTPUTS_HPP

#include <Kokkos_Core.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

template <class Output, class Make, int... k>
KOKKOS_FORCEINLINE_FUNCTION auto made_once(const Make& make, std::integer_sequence<int, k...>) {
  struct Outputs {
    Output row[sizeof...(k)];
  };
  const Outputs outputs{{make(k)...}};
  return [outputs](int row) { return outputs.row[row]; };
}

/// A function that returns the output of row k of a lane, for a loop over tiles; make(k) makes it.
/// Doubles are made once, before the loop: nvcc doesn't take the division or the logarithm out of
/// it. Others are made anew for each tile: that takes few instructions, and the outputs of several
/// rows would occupy registers (softmax of float along strided columns took 1.02 to 1.05 times as
/// long).
template <class Output, int rows, class Make>
KOKKOS_FORCEINLINE_FUNCTION auto row_outputs(const Make& make) {
  if constexpr (sizeof(typename Output::T) == 8)
    return made_once<Output>(make, std::make_integer_sequence<int, rows>{});
  else
    return make;
}

}  // namespace KokkosSoftmax::Impl

#endif
