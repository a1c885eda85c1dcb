// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_GENERAL_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_GENERAL_HPP

/// \file
/// The shapes of GeneralSource for GPUs: few, because each is compiled for all types. They serve
/// rows of any length, alignment and stride.

#include <dispatch/Shapes_Host.hpp>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// A lane holds 16 or 32 entries. What a call reads besides x takes registers until it is added.
template <class V>
struct GeneralShapes : NoShapes {
  static constexpr int wide = ShapeUnits<V>::wide;
  /// The number of teams for which a lane has 64 registers, or 96 for doubles.
  static constexpr int resident_warps = sizeof(typename V::Compute) == 8 ? 20 : 32;
  static constexpr int teams(int warps) {
    return warps > resident_warps ? 1 : resident_warps / warps;
  }
  /// So few lanes that they can't hold the peeled entries of wide chunks have narrower ones.
  static constexpr int width(int lanes) { return lanes < 2 * (wide - 1) ? wide / 2 : wide; }
  template <int lanes, int entries, int warps = 4>
  using Peeled = Shape<warps * 32 / lanes, lanes, entries / width(lanes), width(lanes),
                       AccessMode::peeled_vectors, teams(warps)>;
  /// For more entries per lane, or more that is computed beside them.
  static constexpr int fewer_teams_of_eight = sizeof(typename V::Compute) == 8 ? 2 : 3;
  template <int entries>
  using PeeledOfEight =
      Shape<8, 32, entries / wide, wide, AccessMode::peeled_vectors, fewer_teams_of_eight>;
  template <int lanes, int entries, int warps = 4>
  using Scalar = Shape<warps * 32 / lanes, lanes, entries, 1, AccessMode::scalar, teams(warps)>;

  using Subgroup = ShapeList<Scalar<1, 8>, Scalar<8, 4>, Peeled<8, 16>, Peeled<16, 16>,
                             Peeled<32, 16>, Scalar<32, 16>>;
  using ReducedSubgroup = Subgroup;
  using FusedRegisters = ShapeList<Peeled<32, 16, 2>, Peeled<32, 16, 4>, Peeled<32, 16, 8>,
                                   Peeled<32, 16, 16>, Scalar<32, 16, 4>, Scalar<32, 16, 16>>;
  using FusedScratch = ShapeList<Peeled<32, 16, 16>>;
  using Split = ShapeList<PeeledOfEight<16>>;
  using Cluster = ShapeList<Peeled<32, 16, 8>, PeeledOfEight<32>>;
  using Online = ShapeList<Peeled<32, 8, 16>, Scalar<32, 8, 16>>;
  using ReducedOnline = Online;
  using SplitOnline = Online;
  using ReducedSplitOnline = SplitOnline;
  using ColumnHeld =
      ShapeList<Scalar<32, 16, 1>, Scalar<32, 16, 4>, Scalar<32, 16, 8>, Scalar<32, 16, 16>>;
  using LongColumn = ShapeList<Scalar<32, 8, 16>>;
  using ReducedColumn = LongColumn;
  using SplitColumn = ShapeList<Scalar<32, 8, 16>>;
  using ClusterColumn = ShapeList<Scalar<32, 16, 8>, Scalar<32, 16, 16>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
