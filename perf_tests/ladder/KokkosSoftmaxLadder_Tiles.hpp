// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_TILES_HPP
#define KOKKOSSOFTMAXLADDER_TILES_HPP

/// \file
/// For the steps for wide rows: a row is processed in tiles that are as wide as its team. Each lane
/// keeps a partial result of its own through all tiles, so that a pass ends with one reduction.

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder::Impl {

/// Large teams: wide rows are few, and each lane should still have several loads in flight.
template <class Exec>
TeamWish tiled_team(int columns) {
  return warps_for_row(columns, 8, lanes<Exec>, 1024);
}

template <class Exec>
KOKKOS_INLINE_FUNCTION int tile_width(const Member<Exec>& team) {
  return team.team_size() * lanes<Exec>;
}

/// Calls kernel(column) for one lane's column of each tile, from the first tile to the last.
template <class Kernel>
KOKKOS_INLINE_FUNCTION void tiles_forwards(int lane, int width, int columns, const Kernel& kernel) {
  for (int column = lane; column < columns; column += width) kernel(column);
}

/// The same from the last tile to the first: what the previous pass read last is still in the
/// cache.
template <class Kernel>
KOKKOS_INLINE_FUNCTION void tiles_backwards(int lane, int width, int columns,
                                            const Kernel& kernel) {
  if (lane >= columns) return;
  const int last = lane + (columns - 1 - lane) / width * width;
  for (int column = last; column >= 0; column -= width) kernel(column);
}

}  // namespace KokkosSoftmaxLadder::Impl

#endif
