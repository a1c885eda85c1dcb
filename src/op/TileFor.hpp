// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP
#define KOKKOSSOFTMAX_SRC_OP_TILEFOR_HPP

/// \file
/// Selects the type of a kernel's tile by the operation that the kernel computes.

#include <impl/KokkosSoftmax_Operation.hpp>
#include <row/HalfTile.hpp>
#include <row/Tile.hpp>

namespace KokkosSoftmax::Impl {

/// Whether a kernel keeps entries in pairs: if it doesn't need the exponentials, and if pairs are
/// an advantage. (log_softmax with results of float was as fast without pairs.)
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

/// The same for a kernel that goes through a row tile by tile, and then goes through it a second
/// time to write the output.
template <class V, Operation operation, class Shape>
using LoopTileFor = std::conditional_t<operation == Operation::logsumexp,
                                       TeamTileFor<V, operation, Shape>, TeamTile<V, Shape>>;

}  // namespace KokkosSoftmax::Impl

#endif
