// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_WEIGHTED_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_WEIGHTED_HPP

/// \file
/// The shapes of WeightedSource for GPUs.

#include <dispatch/Shapes_General.hpp>

namespace KokkosSoftmax::Impl {

/// A lane holds two numbers per entry, and 16 entries, so that what a row takes beside its entries
/// is shared by many.
template <class V>
struct WeightedShapes : NoShapes {
  static constexpr int wide = ShapeUnits<V>::wide;
  /// The number of warps for which a lane has 96 registers, or 128 for doubles.
  static constexpr int resident_warps = sizeof(typename V::Compute) == 8 ? 16 : 20;
  static constexpr int teams(int warps) {
    return warps > resident_warps / 2 ? 1 : resident_warps / warps;
  }
  static constexpr int width(int lanes) { return GeneralShapes<V>::width(lanes); }
  template <int lanes, int entries, int warps = 4>
  using Peeled = Shape<warps * 32 / lanes, lanes, entries / width(lanes), width(lanes),
                       AccessMode::peeled_vectors, teams(warps)>;
  template <int lanes, int entries, int warps = 4>
  using Scalar = Shape<warps * 32 / lanes, lanes, entries, 1, AccessMode::scalar, teams(warps)>;

  /// Half types have fewer shapes, because the number of kernels is limited. If there are many rows
  /// that don't fit a vector, these pass through small teams: Rule::looping_pays().
  static constexpr bool has_halfs = sizeof(typename V::X) == 2;
  template <class... S>
  using UnlessHalfs = std::conditional_t<has_halfs, ShapeList<>, ShapeList<S...>>;
  using ReducedSubgroup = decltype(ShapeList<Scalar<1, 8>, Scalar<4, 8>>{} +
                                   UnlessHalfs<Peeled<4, 16>>{} + ShapeList<Peeled<8, 16>>{} +
                                   UnlessHalfs<Peeled<16, 16>>{} +
                                   ShapeList<Peeled<32, 16>, Scalar<32, 16>>{});
  using FusedRegisters = decltype(UnlessHalfs<Peeled<32, 16, 2>, Peeled<32, 16, 4>>{} +
                                  ShapeList<Peeled<32, 16, 8>>{} +
                                  UnlessHalfs<Scalar<32, 16, 4>>{} +
                                  ShapeList<Scalar<32, 16, 16>>{});
  /// With three teams of floats, running sums leave a lane 80 registers.
  template <int entries>
  using PeeledOfEight = typename GeneralShapes<V>::template PeeledOfEight<entries>;
  template <int entries>
  using ScalarOfEight =
      Shape<8, 32, entries, 1, AccessMode::scalar, GeneralShapes<V>::fewer_teams_of_eight>;

  /// For many rows that share their weights, see Rule::looping_pays().
  static constexpr int entries_of_loop = sizeof(typename V::Compute) == 8 ? 8 : 32;
  using Loop = typename GeneralShapes<V>::template PeeledOf<32, entries_of_loop, 1, 16>;
  using ReducedOnline = ShapeList<Loop, PeeledOfEight<8>, ScalarOfEight<8>>;
  using ReducedSplitOnline = ShapeList<Peeled<32, 8, 8>, Scalar<32, 8, 8>>;
  /// See GeneralShapes. With eight warps, doubles would have one team per multiprocessor.
  static constexpr bool computes_in_double = sizeof(typename V::Compute) == 8;
  template <int warps>
  using InColumn =
      typename GeneralShapes<V>::template InColumn<warps, computes_in_double ? 12 : 16>;
  using ReducedColumn = ShapeList<InColumn<computes_in_double ? 4 : 8>>;
  using ManyReducedColumns = ShapeList<InColumn<1>>;
  using SplitColumn = ShapeList<Scalar<32, 8, 8>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
