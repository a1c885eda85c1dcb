// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LONGROWS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LONGROWS_HPP

/// \file
/// The shapes of `fused_scratch`, `online`, `split`, `split_online` and `cluster` for GPUs: rows
/// that are too long for the registers of one team.

#include <backend/Device.hpp>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

template <class Exec, class V>
struct LongRowShapes : ShapeUnits<V> {
  using Units = ShapeUnits<V>;
  using typename Units::T;
  using typename Units::X;
  using Units::chunks;
  using Units::items_per_chunk;
  using Units::wide;

  /// The number of chunks is rounded down, because segments can be arbitrarily small.
  template <int warps, int items, AccessMode access, int teams>
  using SplitShape =
      Shape<warps, 32, access == AccessMode::scalar ? items : items / items_per_chunk,
            access == AccessMode::scalar ? 1 : wide, access, teams>;
  template <int warps, int items, int teams>
  using AnyAlignmentSplitShape =
      std::conditional_t<sizeof(T) == 8, SplitShape<warps, items * wide, AccessMode::scalar, teams>,
                         SplitShape<warps, items, AccessMode::peeled_vectors, teams>>;
  static constexpr int once_any_alignment_items = sizeof(T) == 8 ? 8 : 7;
  using SplitOnce = ShapeList<SplitShape<4, 8, AccessMode::guarded_vectors, 4>,
                              SplitShape<8, 8, AccessMode::guarded_vectors, 2>,
                              AnyAlignmentSplitShape<4, once_any_alignment_items, 4>,
                              AnyAlignmentSplitShape<8, once_any_alignment_items, 2>>;
  /// A team loads 20 to 25 KiB at one time. Its scratch memory holds another 39 KiB.
  using Split = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<SplitShape<4, 12, AccessMode::guarded_vectors, 4>, AnyAlignmentSplitShape<5, 8, 4>>,
      ShapeList<SplitShape<5, 10, AccessMode::guarded_vectors, 4>,
                AnyAlignmentSplitShape<4, 12, 4>>>;
  /// Large teams, so that one group can contain all teams that are resident.
  static constexpr int online_teams = sizeof(T) == 8 ? 1 : 2;
  using SplitOnline = ShapeList<SplitShape<16, 4, AccessMode::guarded_vectors, 2>,
                                SplitShape<16, 4, AccessMode::peeled_vectors, online_teams>,
                                SplitShape<16, 8, AccessMode::scalar, online_teams>>;

  /// Small teams, so that the segments of many rows can be in progress at one time. Floats and half
  /// types at any address are as fast as aligned ones, and loads of one double are as fast as loads
  /// of two. Large teams are for the longest rows of half types. Results that are wider than the
  /// entries need more registers for the same number of entries.
  using ClusterOfFloats = ShapeList<SplitShape<8, 6, AccessMode::peeled_vectors, 4>>;
  using ClusterOfDoubles =
      ShapeList<AnyAlignmentSplitShape<8, 6, 3>, AnyAlignmentSplitShape<5, 8, 4>>;
  using ClusterOfHalfs =
      std::conditional_t<output_is_wider<V>,
                         ShapeList<SplitShape<4, 4, AccessMode::peeled_vectors, 8>,
                                   SplitShape<4, 6, AccessMode::peeled_vectors, 7>>,
                         ShapeList<SplitShape<4, 8, AccessMode::peeled_vectors, 7>,
                                   SplitShape<16, 8, AccessMode::guarded_vectors, 2>>>;
  using Cluster =
      std::conditional_t<!is_cuda<Exec>, ShapeList<>,
                         std::conditional_t<sizeof(T) == 8, ClusterOfDoubles,
                                            std::conditional_t<is_full_precision<V>,
                                                               ClusterOfFloats, ClusterOfHalfs>>>;

  /// Doubles need more temporaries, and each entry takes twice as many registers.
  using Scratch =
      std::conditional_t<sizeof(X) == 2, SplitShape<16, 8, AccessMode::guarded_vectors, 2>,
                         SplitShape<12, 10, AccessMode::guarded_vectors, 2>>;
  using FusedScratch = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<SplitShape<8, 8, AccessMode::guarded_vectors, 2>, AnyAlignmentSplitShape<8, 8, 2>,
                AnyAlignmentSplitShape<8, 10, 2>>,
      ShapeList<Scratch, AnyAlignmentSplitShape<12, 8, 2>,
                SplitShape<8, 8, AccessMode::scalar, 2>>>;
  using Online =
      ShapeList<Shape<16, 32, chunks(4), wide, AccessMode::guarded_vectors, 2>,
                Shape<16, 32, chunks(4), wide, AccessMode::peeled_vectors, 2>,
                Shape<8, 32, 8, 1, AccessMode::scalar>,
                Shape<1, 1, 8, 1, AccessMode::scalar>>;  // if a device has no room for any other

  // ---- For logsumexp, which reads rows once and writes almost nothing.

  /// Small teams for many rows, which tuning tables use: for the same reason, and because little of
  /// a row's last tile is empty. Entries of half types stay as they are in memory (HalfTile).
  template <int warps>
  using SmallTeams = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<Shape<warps, 32, 6, wide, AccessMode::guarded_vectors, 28 / warps>,
                Shape<warps, 32, 6 * wide, 1, AccessMode::scalar, 28 / warps>>,
      ShapeList<Shape<warps, 32, chunks(8), wide, AccessMode::guarded_vectors, 32 / warps>,
                Shape<warps, 32, chunks(8), wide, AccessMode::peeled_vectors, 32 / warps>>>;
  using HalfOnline =
      ShapeList<Shape<16, 32, chunks(8), wide, AccessMode::guarded_vectors, 2>,
                Shape<16, 32, chunks(8), wide, AccessMode::peeled_vectors, 2>,
                Shape<8, 32, 8, 1, AccessMode::scalar>, Shape<1, 1, 8, 1, AccessMode::scalar>>;
  using ReducedOnline = std::conditional_t<
      is_full_precision<V>,
      std::conditional_t<sizeof(T) == 8,
                         decltype(Online{} + SmallTeams<1>{} + SmallTeams<2>{} + SmallTeams<4>{}),
                         Online>,
      decltype(HalfOnline{} + SmallTeams<1>{} + SmallTeams<4>{} + SmallTeams<8>{})>;
  using ReducedSplitOnline =
      std::conditional_t<is_full_precision<V>, SplitOnline,
                         ShapeList<SplitShape<16, 8, AccessMode::guarded_vectors, 2>,
                                   SplitShape<16, 6, AccessMode::peeled_vectors, 2>,
                                   SplitShape<16, 8, AccessMode::scalar, online_teams>>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
