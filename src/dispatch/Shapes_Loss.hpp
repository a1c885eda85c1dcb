// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP

/// \file
/// The shapes of LossSource for GPUs. A row is read once, and nearly nothing is written, so that
/// rows of more columns than a vector holds pass through small teams.

#include <dispatch/Shapes_General.hpp>

namespace KokkosSoftmax::Impl {

template <class V>
struct LossShapes : NoShapes {
  using Of = GeneralShapes<V>;
  template <int lanes, int entries, int warps = 4>
  using Peeled = typename Of::template PeeledOf<lanes, entries, warps, Of::teams_of_scalars(warps)>;
  template <int lanes, int entries, int warps = 4>
  using Scalar = typename Of::template Scalar<lanes, entries, warps>;
  /// Entries per lane: 64 bytes. Half types stay as they are in memory (HalfTile).
  static constexpr int many = Of::has_halfs ? 32 : 16;
  /// Teams that pass through a row. Doubles are loaded one by one, because peeled entries would
  /// cost registers.
  static constexpr int resident_loops_of_doubles = 28;
  template <int warps>
  using Loop = std::conditional_t<
      Of::computes_in_double,
      Shape<warps, 32, 12, 1, AccessMode::scalar, Of::teams(resident_loops_of_doubles, warps)>,
      Peeled<32, many, warps>>;
  template <int warps>
  using AlignedLoop = typename Of::template AlignedOf<32, many, warps, Of::teams(32, warps)>;

  /// Few lanes share what a row takes besides its entries, which is 300 to 400 instructions. A lane
  /// has up to 128 bytes, also if half of the slots are empty. A lane with 64 entries of half types
  /// has 64 registers.
  static constexpr int teams(int entries) {
    if (Of::has_halfs) return entries > 32 ? 8 : 10;
    return Of::teams_of(entries, 4);
  }
  /// For aligned rows. They have no peeled entries, so that few lanes can have wide chunks, too.
  template <int lanes, int entries>
  using Aligned = typename Of::template AlignedOf<lanes, entries, 4, teams(entries)>;
  using AlignedRows = decltype(
      typename Of::template IfHalfs<Aligned<1, 32>, Aligned<1, 64>, Aligned<2, 64>, Aligned<4, 64>,
                                    Aligned<8, 64>, Aligned<16, 64>, Aligned<32, 64>>{} +
      typename Of::template IfFloatOrWider<Aligned<1, 16>, Aligned<2, 16>, Aligned<4, 16>,
                                           Aligned<8, 16>, Aligned<8, 32>, Aligned<16, 32>,
                                           Aligned<32, 32>>{});
  /// The same at any address
  template <int lanes, int entries>
  using AtAnyAddress = typename Of::template PeeledOf<lanes, entries, 4, teams(entries)>;
  using RowsAtAnyAddress =
      decltype(typename Of::template IfHalfs<typename Of::template Peeled<4, 32>,
                                             AtAnyAddress<8, 32>, AtAnyAddress<8, 64>,
                                             AtAnyAddress<16, 64>, AtAnyAddress<32, 64>>{} +
               typename Of::template IfFloatOrWider<AtAnyAddress<8, 16>, AtAnyAddress<8, 32>,
                                                    AtAnyAddress<16, 32>, AtAnyAddress<32, 32>>{} +
               typename Of::template IfDouble<Peeled<8, 16>, Peeled<16, 16>, Peeled<32, 16>>{});
  using Subgroup = decltype(AlignedRows{} +
                            ShapeList<Scalar<1, 8>, Scalar<1, 16>, Scalar<1, 24>>{} +
                            ShapeList<Scalar<4, 16>>{} + RowsAtAnyAddress{} +
                            ShapeList<Scalar<32, 16>>{});
  using ReducedSubgroup = Subgroup;
  using ReducedOnline = decltype(typename Of::template IfHalfs<AlignedLoop<1>, AlignedLoop<4>,
                                                               AlignedLoop<8>, Loop<1>, Loop<8>>{} +
                                 typename Of::template UnlessHalfs<Loop<1>, Loop<4>, Loop<8>>{} +
                                 ShapeList<Scalar<32, 8, 16>>{});
  using ReducedColumn = typename Of::LongColumn;
  using ManyReducedColumns = ShapeList<Scalar<32, 8, 2>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
