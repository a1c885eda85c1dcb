// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP

/// \file
/// The shapes of LossSource for GPUs: as few as serve all widths. A row is read once, and nearly
/// nothing is written, so that rows of more columns than a vector holds pass through small teams.

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
  static constexpr int teams_of_half_pairs = 10;  // which leave 48 registers per lane

  /// Many entries per lane, see GeneralShapes
  using InFewLanes = std::conditional_t<Of::computes_in_double, Peeled<8, 16>,
                                        typename Of::template Peeled<4, 32>>;
  using Subgroup =
      decltype(ShapeList<Scalar<1, 8>, Scalar<1, 16>, Scalar<1, 24>, Scalar<4, 16>, InFewLanes,
                         Peeled<16, 16>, Peeled<32, 16>>{} +
               typename Of::template IfHalfs<
                   typename Of::template PeeledOf<32, many, 4, teams_of_half_pairs>>{} +
               ShapeList<Scalar<32, 16>>{});
  using ReducedSubgroup = Subgroup;
  using ReducedOnline = ShapeList<Loop<1>, Loop<4>, Loop<8>, Scalar<32, 8, 16>>;
  using ReducedColumn = typename Of::LongColumn;
  using ManyReducedColumns = ShapeList<Scalar<32, 8, 2>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
