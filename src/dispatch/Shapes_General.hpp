// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_GENERAL_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_GENERAL_HPP

/// \file
/// The shapes of GeneralSource for GPUs: few, because each is compiled for all types. They serve
/// rows of any length, alignment and stride.

#include <dispatch/Shapes_Host.hpp>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// A lane holds 16 to 64 entries. What a call reads besides x takes registers until it is added.
template <class V>
struct GeneralShapes : NoShapes {
  static constexpr int wide = ShapeUnits<V>::wide;
  static constexpr bool computes_in_double = sizeof(typename V::Compute) == 8;
  static constexpr bool has_halfs = wide > widest<float>;  // x and y have two bytes per entry

  static constexpr int teams(int resident_warps, int warps) {
    return warps > resident_warps ? 1 : resident_warps / warps;
  }
  /// The number of teams per multiprocessor for which a lane has 64 registers for 16 entries (128
  /// if they are doubles), and 96 for 32 entries. If has_halfs, 32 entries have 80 registers and 64
  /// entries have 128: instructions limit these kernels, so that more warps or entries help.
  static constexpr int teams_of(int entries, int warps) {
    if (computes_in_double) return teams(16, warps);
    return teams(entries <= 16 ? 32 : entries > 32 ? 16 : has_halfs ? 24 : 20, warps);
  }
  static constexpr int teams_of_scalars(int warps) {
    return teams(computes_in_double ? 20 : 32, warps);
  }

  /// So few lanes that they can't hold the peeled entries of wide chunks have narrower ones.
  static constexpr int width(int lanes) {
    int entries = wide;
    while (lanes < 2 * (entries - 1)) entries /= 2;
    return entries;
  }
  template <int lanes, int entries, int warps, int min_teams>
  using PeeledOf = Shape<warps * 32 / lanes, lanes, entries / width(lanes), width(lanes),
                         AccessMode::peeled_vectors, min_teams>;
  template <int lanes, int entries, int warps = 4>
  using Peeled = PeeledOf<lanes, entries, warps, teams_of(entries, warps)>;
  template <int lanes, int entries, int warps, int min_teams>
  using AlignedOf = Shape<warps * 32 / lanes, lanes, entries / wide, wide,
                          AccessMode::guarded_vectors, min_teams>;
  /// For aligned rows. Longer rows of floats gain nothing from them.
  template <int lanes, int entries, int warps = 4>
  using Aligned = AlignedOf<lanes, entries, warps, teams_of(entries, warps)>;
  /// For more registers per lane than teams_of() leaves: the number of teams of eight warps.
  static constexpr int fewer_teams_of_eight = computes_in_double ? 2 : 3;
  template <int entries>
  using PeeledOfEight = PeeledOf<32, entries, 8, fewer_teams_of_eight>;
  template <int lanes, int entries, int warps = 4>
  using Scalar =
      Shape<warps * 32 / lanes, lanes, entries, 1, AccessMode::scalar, teams_of_scalars(warps)>;

  template <class... S>
  using IfHalfs = std::conditional_t<has_halfs, ShapeList<S...>, ShapeList<>>;
  template <class... S>
  using UnlessHalfs = std::conditional_t<has_halfs, ShapeList<>, ShapeList<S...>>;
  template <class... S>
  using IfDouble = std::conditional_t<computes_in_double, ShapeList<S...>, ShapeList<>>;
  template <class... S>
  using UnlessDouble = std::conditional_t<computes_in_double, ShapeList<>, ShapeList<S...>>;
  template <class... S>
  using IfFloatOrWider =
      std::conditional_t<has_halfs || computes_in_double, ShapeList<>, ShapeList<S...>>;
  template <class... S>
  using IfFloat = std::conditional_t<output_is_wider<V>, ShapeList<>, IfFloatOrWider<S...>>;

  /// Few lanes per row, because what a row takes beside its entries is computed in each of them.
  using ShortRows = ShapeList<Scalar<1, 8>, Scalar<2, 8>, Scalar<4, 8>, Peeled<4, 16>>;
  /// The same for rows that are only read, with aligned rows of 33 to 256 columns of double.
  using ReducedShortRows = decltype(ShapeList<Scalar<1, 8>, Scalar<2, 8>, Scalar<4, 8>>{} +
                                    IfDouble<Aligned<4, 16>, Aligned<8, 16>, Aligned<16, 16>>{} +
                                    ShapeList<Peeled<4, 16>>{});
  /// Aligned rows of half types have few lanes up to 256 columns, and those of float up to 64.
  /// (Rows of half types of 65 to 256 columns with a bias per entry would be up to 1.2 times as
  /// fast with 16 entries per lane.)
  using AlignedRows =
      decltype(IfHalfs<Aligned<1, 16>, Aligned<2, 16>, Aligned<2, 32>, Aligned<4, 32>,
                       Aligned<8, 32>, Aligned<32, 16>, Aligned<32, 32>>{} +
               IfFloat<Aligned<1, 8>, Aligned<2, 8>, Aligned<2, 16>, Aligned<4, 16>>{});
  // 32 doubles per lane would be spilled.
  using Subgroup = decltype(AlignedRows{} + ShortRows{} +
                            ShapeList<Peeled<8, 16>, Peeled<16, 16>, Peeled<32, 16>>{} +
                            UnlessDouble<Peeled<32, 32>>{} + ShapeList<Scalar<32, 16>>{});
  /// Rows that are only read have 32 entries per lane, also if half of the slots are empty, except
  /// those of double, and those of float up to 64 columns. (A bias per entry would be up to 1.2
  /// times as fast with 16.)
  using ReducedAlignedRows = decltype(
      IfHalfs<Aligned<1, 16>, Aligned<2, 32>, Aligned<4, 32>, Aligned<8, 32>, Aligned<16, 32>,
              Aligned<32, 32>>{} +
      IfFloat<Scalar<1, 8>, Aligned<1, 16>, Aligned<2, 16>, Aligned<4, 16>, Aligned<4, 32>>{});
  using ReducedSubgroup = decltype(
      ReducedAlignedRows{} + ReducedShortRows{} +
      UnlessDouble<Peeled<4, 32>, Peeled<8, 32>, Peeled<16, 32>, Peeled<32, 32>>{} +
      IfDouble<Peeled<8, 16>, Peeled<16, 16>, Peeled<32, 16>>{} + ShapeList<Scalar<32, 16>>{});
  template <class... AlignedDoubles>
  using TeamsWith = decltype(
      IfDouble<AlignedDoubles...>{} +
      UnlessDouble<Peeled<32, 32, 2>, Peeled<32, 32, 4>, PeeledOfEight<32>>{} +
      IfDouble<Peeled<32, 16, 2>, Peeled<32, 16, 4>, Peeled<32, 16, 8>, Peeled<32, 16, 16>>{} +
      ShapeList<Scalar<32, 16, 4>, Scalar<32, 16, 16>>{});
  using FusedRegisters = TeamsWith<Aligned<32, 16, 2>, Aligned<32, 16, 4>, Aligned<32, 16, 8>>;
  /// Rows of more than 2048 doubles that are only read gain nothing from loads of aligned chunks.
  using ReducedFusedRegisters = TeamsWith<Aligned<32, 16, 2>, Aligned<32, 16, 4>>;
  using FusedScratch = ShapeList<Peeled<32, 16, 16>>;
  using Split = ShapeList<PeeledOfEight<16>>;
  /// Small teams leave fewer slots empty, and large ones hold longer rows (see docs/trials.md).
  /// Floats have 80 registers in both. Teams of one and two warps are for rows of half types that
  /// one team holds, and so are the teams of doubles with 10 entries per lane. See
  /// Rule::has_large_teams_or_one().
  using Cluster = decltype(
      IfHalfs<Aligned<32, 64, 1>, Aligned<32, 64, 2>, Aligned<32, 64, 4>, Peeled<32, 64, 1>,
              Peeled<32, 64, 2>, Peeled<32, 64, 4>, Peeled<32, 64, 8>>{} +
      IfFloatOrWider<PeeledOf<32, 32, 4, 6>>{} +
      IfDouble<PeeledOf<32, 10, 4, 7>, PeeledOf<32, 26, 4, 4>>{} +
      UnlessHalfs<PeeledOfEight<32>>{});
  using Online = ShapeList<Peeled<32, 8, 16>, Scalar<32, 8, 16>>;
  /// The loop leaves so little to do per tile that small teams with large tiles are the fastest. A
  /// lane has 96 registers, or 128 for doubles. (With the 80 registers of teams_of(), half types
  /// would spill.)
  static constexpr int loop_warps = computes_in_double ? 16 : 20;  // resident at one time
  template <int warps>
  using Loop = PeeledOf<32, computes_in_double ? 16 : 32, warps, teams(loop_warps, warps)>;
  using ReducedOnline = ShapeList<Loop<1>, Loop<4>, Scalar<32, 8, 16>>;
  using SplitOnline = Online;
  using ReducedSplitOnline = SplitOnline;
  /// A team has several groups of `warps` warps, each with rows of its own: neighbouring teams
  /// share the sectors in which the rows of one end and those of the other begin. Half types gain
  /// from groups for few columns only, because instructions limit them. Doubles gain if a team has
  /// up to 8 warps. With 28 resident warps, a lane has 72 registers. Columns of more than 128
  /// floats are faster in clusters than in the last shape. (Measured on an H200.)
  template <int warps, int groups, int resident_warps = 32>
  using Groups = Shape<warps, 32, 16, 1, AccessMode::scalar,
                       teams(computes_in_double ? 16 : resident_warps, warps* groups), 1, groups>;
  using ColumnHeld = decltype(ShapeList<Groups<1, 4, 28>>{} +
                              IfHalfs<Groups<2, 2, 28>, Scalar<32, 16, 4>>{} +
                              UnlessHalfs<Groups<2, 4>, Groups<4, 2>>{} +
                              IfFloatOrWider<Groups<8, 2>>{} + IfHalfs<Scalar<32, 16, 8>>{} +
                              IfDouble<Scalar<32, 16, 8>>{} + ShapeList<Scalar<32, 16, 16>>{});
  /// Two neighbouring rows per lane, see NeighbourSource. Doubles have no registers for them. (Half
  /// types with results of float would gain from them. The number of kernels is limited.) The
  /// constants were measured on an H200.
  template <int warps, int items, int resident_warps>
  using Pairs =
      Shape<warps, 32, items, 2, AccessMode::vectors_across_rows, teams(resident_warps, warps)>;
  using ManyColumnsHeld = decltype(IfFloat<Pairs<1, 8, 32>, Pairs<1, 16, 20>, Pairs<2, 16, 20>,
                                           Pairs<4, 16, 20>, Pairs<8, 16, 16>, Pairs<8, 32, 16>>{} +
                                   IfHalfs<Pairs<1, 8, 32>, Pairs<1, 16, 20>, Pairs<1, 32, 16>,
                                           Pairs<4, 16, 20>, Pairs<4, 32, 16>, Pairs<8, 32, 16>>{});
  using LongColumn = ShapeList<Scalar<32, 8, 16>>;
  /// Strided rows that are only read, with so few registers that a multiprocessor has
  /// `resident_warps` resident warps.
  template <int warps, int resident_warps>
  using InColumn = Shape<warps, 32, 16, 1, AccessMode::scalar, teams(resident_warps, warps)>;
  static constexpr int resident_in_column = computes_in_double ? 16 : 24;
  template <int warps>
  using PairsInColumn = UnlessDouble<Pairs<warps, 16, 16>>;
  using ReducedColumn = decltype(PairsInColumn<8>{} + ShapeList<InColumn<8, resident_in_column>>{});
  using ManyReducedColumns = decltype(PairsInColumn<1>{} +
                                      ShapeList<InColumn<1, resident_in_column>>{});
  using SplitColumn = ShapeList<Scalar<32, 8, 16>>;
  /// Tiles as large as the registers permit, of which a lane has 128, and small teams: making a
  /// row of this source takes long, and another team can load meanwhile.
  using TwoPassColumn =
      ShapeList<Shape<2, 32, computes_in_double ? 16 : 32, 1, AccessMode::scalar, 8>>;
  using ReducedTwoPassColumn = TwoPassColumn;
  /// Half types are faster in pairs: 64 values per lane, of two rows. Other types would spill.
  using ClusterColumn = decltype(IfHalfs<Pairs<8, 32, 16>>{} + IfFloat<Groups<4, 2>>{} +
                                 ShapeList<Scalar<32, 16, 8>>{} +
                                 UnlessHalfs<Scalar<32, 16, 16>>{});
};

}  // namespace KokkosSoftmax::Impl

#endif
