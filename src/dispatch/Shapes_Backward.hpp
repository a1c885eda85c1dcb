// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_BACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_BACKWARD_HPP

/// \file
/// The shapes of BackwardSource for GPUs.

#include <dispatch/Shapes_Host.hpp>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// A lane holds two numbers per entry, so that it has half of the entries that it has in forward
/// passes.
template <class V>
struct BackwardShapes : NoShapes {
  static constexpr int wide = ShapeUnits<V>::wide;
  static constexpr int computed_bytes = static_cast<int>(sizeof(typename V::Compute));
  /// Entries per lane whose pairs take 32 registers.
  static constexpr int some = 64 / computed_bytes;

  static constexpr bool has_halfs = sizeof(typename V::X) == 2;
  static constexpr bool are_doubles = computed_bytes == 8;
  static constexpr bool are_floats = !are_doubles && !has_halfs;

  /// The number of teams for which a lane has 64 registers, or 96 if it has twice as many entries,
  /// except those of half types, which stay as they are in memory (RawPairTile).
  static constexpr int teams(int warps, int entries) {
    const int resident = entries <= some || has_halfs ? 32 : 20;
    return warps > resident ? 1 : resident / warps;
  }
  /// So few lanes that they can't hold the peeled entries of wide chunks have narrower ones.
  static constexpr int width(int lanes) { return lanes < 2 * (wide - 1) ? wide / 2 : wide; }
  template <int lanes, int entries, int warps = 4>
  using Guarded = Shape<warps * 32 / lanes, lanes, entries / wide, wide,
                        AccessMode::guarded_vectors, teams(warps, entries)>;
  template <int lanes, int entries, int warps = 4>
  using Peeled = Shape<warps * 32 / lanes, lanes, entries / width(lanes), width(lanes),
                       AccessMode::peeled_vectors, teams(warps, entries)>;
  template <int lanes, int entries, int warps = 4>
  using Scalar =
      Shape<warps * 32 / lanes, lanes, entries, 1, AccessMode::scalar, teams(warps, entries)>;

  template <class Halfs, class Others>
  using ByType = std::conditional_t<has_halfs, Halfs, Others>;
  /// Half types at any address have more entries per lane, which share what a lane computes for the
  /// row. Peeled entries take some of 80 registers.
  template <int warps>
  using PeeledHalfs =
      Shape<warps, 32, 2 * some / width(32), width(32), AccessMode::peeled_vectors, 24 / warps>;
  /// Half types of 33 to 64 columns have a shape of their own: empty slots take as many
  /// instructions as others.
  using Subgroup =
      decltype(ShapeList<Guarded<2, wide>, Guarded<4, some / 2>>{} +
               ByType<ShapeList<Guarded<4, some>>, ShapeList<>>{} +
               ShapeList<Guarded<8, some>, Guarded<16, some>, Guarded<32, some>, Scalar<1, 8>,
                         Scalar<8, 4>, Peeled<8, some>, Peeled<16, some>, Peeled<32, some>>{} +
               ByType<ShapeList<PeeledHalfs<4>>, ShapeList<>>{} + ShapeList<Scalar<32, some>>{});
  using LongPeeled = ByType<ShapeList<PeeledHalfs<4>, PeeledHalfs<6>, PeeledHalfs<8>>,
                            ShapeList<Peeled<32, some, 8>, Peeled<32, some, 16>>>;
  using FusedRegisters = decltype(ShapeList<Guarded<32, some, 2>, Guarded<32, some, 4>,
                                            Guarded<32, some, 8>, Guarded<32, some, 16>>{} +
                                  ByType<ShapeList<>, ShapeList<Peeled<32, some, 2>>>{} +
                                  ShapeList<Peeled<32, some, 4>>{} + LongPeeled{} +
                                  ShapeList<Scalar<32, some, 2>, Scalar<32, some, 4>,
                                            Scalar<32, some, 8>, Scalar<32, some, 16>>{});
  /// The largest teams hold aligned rows of half types faster than small ones do (measured on an
  /// H200).
  using Cluster = ByType<
      ShapeList<Guarded<32, 2 * some, 16>, Peeled<32, 2 * some, 8>, Peeled<32, 2 * some, 16>>,
      ShapeList<Guarded<32, some, 8>, Guarded<32, 2 * some, 8>, Guarded<32, 2 * some, 16>,
                Peeled<32, some, 8>, Peeled<32, 2 * some, 8>, Peeled<32, 2 * some, 16>>>;
  using Online =
      ShapeList<Guarded<32, some / 2, 16>, Peeled<32, some / 2, 16>, Scalar<32, some / 2, 16>>;
  using SplitOnline = Online;

  /// A team has several groups of warps with rows of their own, because neighbouring teams share
  /// the sectors in which the rows of one end and those of the other begin. The numbers of teams
  /// were measured on an H200.
  template <int warps, int items, int groups, int teams>
  using Groups = Shape<warps, 32, items, 1, AccessMode::scalar, teams, 1, groups>;
  /// The longest columns of one team. Floats and doubles take it on devices without clusters alone.
  using LongestHeld = Scalar<32, are_doubles ? 2 * some : some, 16>;
  using ColumnHeld = std::conditional_t<
      are_doubles,
      ShapeList<Groups<1, 16, 4, 5>, Groups<2, 16, 2, 5>, Groups<4, 16, 2, 2>, Scalar<32, some, 16>,
                LongestHeld>,
      std::conditional_t<are_floats,
                         ShapeList<Groups<1, 8, 4, 8>, Groups<1, 16, 4, 8>, Groups<2, 16, 4, 4>,
                                   Groups<4, 16, 4, 2>, LongestHeld>,
                         ShapeList<Groups<1, 16, 4, 8>, Groups<2, 16, 2, 8>, Groups<4, 16, 2, 4>,
                                   Scalar<32, some, 8>, LongestHeld>>>;
  /// Each lane has several neighbouring rows (NeighbourPairs), so that the pieces of a column are a
  /// cache line or longer, and entries of half types take fewer instructions.
  template <int warps, int items, int rows, int teams, int groups = 1>
  using Neighbours =
      Shape<warps, 32, items, rows, AccessMode::vectors_across_rows, teams, 1, groups>;
  using ManyColumnsHeld =
      std::conditional_t<has_halfs,
                         ShapeList<Neighbours<1, 8, 4, 28>, Neighbours<1, 16, 2, 28>,
                                   Neighbours<2, 16, 2, 14>, Neighbours<4, 16, 2, 7>>,
                         ShapeList<>>;
  using LongColumn = ShapeList<Scalar<32, some / 2, 16>>;
  using SplitColumn = LongColumn;
  using TwoPassColumn = ShapeList<Scalar<32, some, 4>>;
  using ClusterColumn = std::conditional_t<
      are_doubles, ShapeList<Scalar<32, some, 8>, Scalar<32, some, 16>, Scalar<16, some, 16>>,
      std::conditional_t<are_floats,
                         ShapeList<Neighbours<4, 16, 2, 5>, Groups<4, 16, 2, 3>,
                                   Scalar<32, some, 8>, Scalar<32, some, 16>, Scalar<16, some, 16>>,
                         ShapeList<Neighbours<4, 16, 2, 4, 2>, Neighbours<8, 16, 2, 4>,
                                   Neighbours<16, 16, 2, 2>, Scalar<32, some, 8>>>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
