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

  /// For 48 registers per lane of half types.
  static constexpr int teams(int entries) { return Of::has_halfs ? 10 : Of::teams_of(entries, 4); }
  /// For aligned rows. They have no peeled entries, so that few lanes can have wide chunks, too.
  /// Few lanes share what a row takes besides its entries.
  template <int lanes, int entries>
  using Aligned = typename Of::template AlignedOf<lanes, entries, 4, teams(entries)>;
  using AlignedRows =
      decltype(typename Of::template IfHalfs<Aligned<2, 32>, Aligned<4, 32>, Aligned<8, 32>,
                                             Aligned<16, 32>, Aligned<32, 32>>{} +
               typename Of::template IfFloatOrWider<Aligned<4, 16>, Aligned<8, 16>, Aligned<8, 32>,
                                                    Aligned<16, 32>, Aligned<32, 32>>{});

  /// The same at any address
  template <int lanes, int entries>
  using AtAnyAddress = typename Of::template PeeledOf<lanes, entries, 4, teams(entries)>;
  using RowsAtAnyAddress = std::conditional_t<
      Of::computes_in_double, ShapeList<Peeled<8, 16>, Peeled<16, 16>, Peeled<32, 16>>,
      decltype(typename Of::template IfHalfs<typename Of::template Peeled<4, 32>>{} +
               typename Of::template IfFloatOrWider<AtAnyAddress<8, 16>>{} +
               ShapeList<AtAnyAddress<8, 32>, AtAnyAddress<16, 32>>{})>;
  using Subgroup = decltype(ShapeList<Scalar<1, 8>, Scalar<1, 16>, Scalar<1, 24>>{} +
                            AlignedRows{} + ShapeList<Scalar<4, 16>>{} + RowsAtAnyAddress{} +
                            typename Of::template IfHalfs<AtAnyAddress<32, many>>{} +
                            ShapeList<Scalar<32, 16>>{});
  using ReducedSubgroup = Subgroup;
  using ReducedOnline = ShapeList<Loop<1>, Loop<4>, Loop<8>, Scalar<32, 8, 16>>;
  using ReducedColumn = typename Of::LongColumn;
  using ManyReducedColumns = ShapeList<Scalar<32, 8, 2>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
