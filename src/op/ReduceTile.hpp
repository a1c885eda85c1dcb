// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP
#define KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP

#include <op/RowOp.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The reference of terms whose largest value is `max`.
template <RowOp Op>
KOKKOS_FORCEINLINE_FUNCTION auto reference_for([[maybe_unused]] typename Op::Types::Compute max) {
  if constexpr (StateTraits<typename Op::State>::has_reference)
    return Op::Exp::reference(max);
  else
    return typename Op::Types::Compute(0);
}

/// The state of a tile that the lanes of a vector hold together. All lanes get the same result.
template <RowOp Op, int lanes, class Member, class Tile>
KOKKOS_FORCEINLINE_FUNCTION typename Op::State reduce_tile(const Member& member, Tile& tile) {
  using T = typename Op::Types::Compute;
  const T reference = reference_for<Op>(
      max_over_lanes<lanes>(member, tile.max(-Kokkos::Experimental::infinity_v<T>)));
  const T sum = tile.template sum<Op::keeps_exponentials>(typename Op::Exp(reference));
  return StateTraits<typename Op::State>::make(reference, sum_over_lanes<lanes>(member, sum));
}

}  // namespace KokkosSoftmax::Impl

#endif
