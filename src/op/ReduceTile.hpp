// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP
#define KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP

#include <op/RowOp.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The state of a tile that the lanes of a vector hold together. All lanes get the same result.
template <RowOp Op, int lanes, class Member, class Tile>
KOKKOS_FORCEINLINE_FUNCTION typename Op::State reduce_tile(const Member& member, Tile& tile) {
  using T = typename Op::Types::Compute;
  using Traits = StateTraits<typename Op::State>;
  T max = -Kokkos::Experimental::infinity_v<T>;
  if constexpr (Traits::has_reference) max = max_over_lanes<lanes>(member, tile.max(max));
  const T sum =
      tile.template sum<Op::keeps_exponentials>(typename Op::Exp(Traits::reference_of(max)));
  return Traits::make(max, sum_over_lanes<lanes>(member, sum));
}

}  // namespace KokkosSoftmax::Impl

#endif
