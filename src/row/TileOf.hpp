// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_TILEOF_HPP
#define KOKKOSSOFTMAX_SRC_ROW_TILEOF_HPP

#include <row/PairTile.hpp>
#include <row/RawPairTile.hpp>
#include <row/Tile.hpp>
#include <row/WeightedTile.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The tile of a source with two inputs
template <RowSource Source, int items, int width, int threads, AccessMode access, Strides strides>
using PairTileOf = typename std::conditional_t<
    keeps_raw_pairs<Source, items, width>,
    std::type_identity<RawPairTile<Source, items, width, threads, access>>,
    std::type_identity<PairTile<Source, items, width, threads, access, strides>>>::type;

/// The tile of a source: of values, of values and weights, or of pairs if it has two inputs.
template <RowSource Source, int items, int width, int threads, AccessMode access,
          Strides strides = Strides::one_or_any>
using TileOf = typename std::conditional_t<
    has_two_inputs<Source>,
    std::type_identity<PairTileOf<Source, items, width, threads, access, strides>>,
    std::conditional_t<
        has_weights<Source>,
        std::type_identity<WeightedTile<Source, items, width, threads, access, strides>>,
        std::type_identity<Tile<Source, items, width, threads, access, strides>>>>::type;

/// The tile that all lanes of a team hold together.
template <class Source, class Shape>
using TeamTile =
    TileOf<Source, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::access>;

}  // namespace KokkosSoftmax::Impl

#endif
