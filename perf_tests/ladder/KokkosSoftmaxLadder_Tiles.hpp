// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_TILES_HPP
#define KOKKOSSOFTMAXLADDER_TILES_HPP

/// \file
/// The steps for wide rows: a row taken in tiles as wide as its team, each lane keeping its own
/// partial result through all tiles, so that a pass ends in one reduction.

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder::Impl {

/// Large teams: wide rows are few, and a lane should still have several loads under way.
template <class Exec>
TeamWish tiled_team(int columns) {
  return warps_for_row(columns, 8, lanes<Exec>, 1024);
}

template <class Exec>
KOKKOS_INLINE_FUNCTION int tile_width(const Member<Exec>& team) {
  return team.team_size() * lanes<Exec>;
}

/// kernel(column) for one lane's column of each tile, first tile first.
template <class Kernel>
KOKKOS_INLINE_FUNCTION void tiles_forwards(int lane, int width, int columns, const Kernel& kernel) {
  for (int column = lane; column < columns; column += width) kernel(column);
}

/// The same, last tile first: what the pass before read last is still in the cache.
template <class Kernel>
KOKKOS_INLINE_FUNCTION void tiles_backwards(int lane, int width, int columns,
                                            const Kernel& kernel) {
  if (lane >= columns) return;
  const int last = lane + (columns - 1 - lane) / width * width;
  for (int column = last; column >= 0; column -= width) kernel(column);
}

}  // namespace KokkosSoftmaxLadder::Impl

#endif
