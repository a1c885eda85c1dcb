// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP
#define KOKKOSSOFTMAX_SRC_OP_REDUCETILE_HPP

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The state of a tile that the lanes of a vector hold together. All lanes get the same result. The
/// tile holds afterwards what the output with the number `function` needs.
template <RowOp Op, RowState State, int lanes, class Member, class Tile>
KOKKOS_FORCEINLINE_FUNCTION State reduce_tile(const Member& member, Tile&& tile, int function) {
  using T = typename Op::Types::Compute;
  using Traits = StateTraits<State>;
  T max = -Kokkos::Experimental::infinity_v<T>;
  if constexpr (Traits::has_reference) max = max_over_lanes<lanes>(member, tile.max(max));
  const T reference = Traits::reference_of(max);
  const T sum = with_output<Op>(function, [&]<class Output>(std::type_identity<Output>) {
    return tile.template sum<Output::keeps_exponentials>(typename Output::Exp(reference));
  });
  return Traits::make(max, sum_over_lanes<lanes>(member, sum));
}

}  // namespace KokkosSoftmax::Impl

#endif
