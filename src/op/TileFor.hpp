// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP
#define KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP

/// \file
/// Which tile a kernel holds, by the operation that it computes.

#include <impl/KokkosSoftmax_Operation.hpp>
#include <row/HalfTile.hpp>
#include <row/Tile.hpp>

namespace KokkosSoftmax::Impl {

/// Whether a kernel keeps entries in pairs: where it needs no weights, and where that brings
/// something. (log_softmax with results of float was as fast without.)
template <class V, Operation operation, int width>
inline constexpr bool keeps_half_pairs = moves_in_pairs<typename V::X, width> &&
                                         (operation == Operation::logsumexp ||
                                          (operation == Operation::log_softmax &&
                                           sizeof(typename V::Y) == sizeof(typename V::X)));

template <class V, Operation operation, int items, int width, int threads, AccessMode access>
using TileFor = std::conditional_t<keeps_half_pairs<V, operation, width>,
                                   HalfTile<V, items, width, threads, access>,
                                   Tile<V, items, width, threads, access>>;
template <class V, Operation operation, class Shape>
using TeamTileFor =
    TileFor<V, operation, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::access>;

/// The same of a kernel that comes along a row tile after tile, and so comes again to write.
template <class V, Operation operation, class Shape>
using LoopTileFor = std::conditional_t<operation == Operation::logsumexp,
                                       TeamTileFor<V, operation, Shape>, TeamTile<V, Shape>>;

}  // namespace KokkosSoftmax::Impl

#endif
