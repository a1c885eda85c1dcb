// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP
#define KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP

/// \file
/// Which tile a kernel holds, by the operation that it computes.

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <row/HalfTile.hpp>
#include <row/TileOf.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Whether a tile keeps entries of half types in pairs (HalfTile). Chunks of one pair are widened,
/// because HalfTile takes a branch per chunk.
template <class Op, class Source, int width>
inline constexpr bool keeps_half_pairs =
    width > 2 && moves_in_pairs<typename Source::Types::X, width>&&
                     Op::Outputs::compute_on_half_pairs&& Source::value_is_scaled_raw;

/// `in_loop`: whether most tiles of a kernel have all of their chunks.
template <class Op, class Source, int items, int width, int threads, AccessMode access,
          bool in_loop = false>
using TileFor = typename std::conditional_t<
    keeps_half_pairs<Op, Source, width>,
    std::type_identity<HalfTile<Source, items, width, threads, access, in_loop>>,
    std::type_identity<TileOf<Source, items, width, threads, access>>>::type;

/// The tile of a team.
template <class Op, class Source, class Shape, bool in_loop = false>
using TeamTileFor = TileFor<Op, Source, Shape::items, Shape::width, Shape::lanes * Shape::threads,
                            Shape::access, in_loop>;

/// The tile of a kernel that moves along a row tile after tile, and reads it again to write.
template <class Op, class Source, class Shape>
using LoopTileFor =
    typename std::conditional_t<Op::writes_entries, std::type_identity<TeamTile<Source, Shape>>,
                                std::type_identity<TeamTileFor<Op, Source, Shape, true>>>::type;

}  // namespace KokkosSoftmax::Impl

#endif
