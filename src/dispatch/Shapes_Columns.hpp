// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_COLUMNS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_COLUMNS_HPP

/// \file
/// The shapes of `column`, `split_column` and `cluster_column` for GPUs: strided rows that lie side
/// by side.

#include <algorithm>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

template <class V>
struct ColumnShapes : ShapeUnits<V> {
  using typename ShapeUnits<V>::T;
  static constexpr bool gives_halfs = sizeof(typename V::Y) == 2;

  /// For strided rows: neighbouring lanes have neighbouring rows. `items` counts units of 4 bytes.
  template <int warps, int items, int teams>
  using Strided = Shape<warps, 32, items * 4 / sizeof(T), 1, AccessMode::scalar, teams>;
  /// 16 rows per team, in vectors of 16 lanes: loads are half a cache line, but a row is read only
  /// once.
  using Narrow = Shape<32, 16, 128 / sizeof(T), 1, AccessMode::scalar, 2>;
  using ColumnHeld = std::conditional_t<
      output_is_wider<V>, ShapeList<Strided<8, 8, 0>, Strided<16, 32, 2>, Narrow>,
      ShapeList<Shape<4, 32, 4, 1, AccessMode::scalar>, Shape<8, 32, 8, 1, AccessMode::scalar>,
                Strided<16, 16, 2>, Strided<16, 32, 2>, Narrow>>;
  using LongColumn = ShapeList<Strided<16, 24, 2>>;
  using ReducedColumn = ShapeList<Strided<8, 8, 4>, Strided<16, 24, 2>>;

  /// For many strided rows: as few threads as hold a row. What a thread does once is then little
  /// compared with the work on its entries, and a single thread doesn't wait for others. The number
  /// of teams leaves a lane enough registers.
  static constexpr int teams_beside(int registers, int warps) {
    const int all = registers <= (sizeof(T) < 8 ? 24 : 8)    ? 32
                    : registers <= (sizeof(T) < 8 ? 40 : 16) ? 28
                    : registers <= 48                        ? 24
                    : registers <= 64                        ? (gives_halfs ? 20 : 18)
                                                             : 16;
    return std::max(1, all / warps);
  }
  static constexpr int registers(int entries) { return entries * static_cast<int>(sizeof(T)) / 4; }
  /// Each lane has several neighbouring rows, in one load. The pieces of a column are then longer
  /// than a cache line, and an entry of a half type takes fewer instructions.
  template <int warps, int items, int rows>
  using VectorLoads = Shape<warps, 32, items, rows, AccessMode::vectors_across_rows,
                            teams_beside(registers(items* rows), warps)>;
  /// Each lane has several rows, each with loads of its own: the pieces of a column are as long, at
  /// any address.
  template <int warps, int items, int rows>
  using ScalarLoads =
      Shape<warps, 32, items, 1, AccessMode::scalar,
            teams_beside(registers(items* rows) + (rows > 1 ? 16 : 0), warps), rows>;
  using ManyColumnsOfFloats =
      ShapeList<VectorLoads<1, 2, 4>, VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>,
                VectorLoads<1, 12, 4>, VectorLoads<1, 16, 2>, VectorLoads<1, 24, 2>,
                VectorLoads<1, 32, 2>, VectorLoads<2, 24, 2>, VectorLoads<2, 32, 2>,
                VectorLoads<4, 24, 2>, VectorLoads<4, 32, 2>, VectorLoads<8, 24, 2>,
                VectorLoads<8, 32, 2>, VectorLoads<16, 24, 2>, VectorLoads<16, 32, 2>,  //
                ScalarLoads<1, 12, 2>, ScalarLoads<1, 16, 2>, ScalarLoads<1, 24, 2>,
                ScalarLoads<1, 32, 2>, ScalarLoads<2, 32, 2>, ScalarLoads<4, 32, 2>>;
  using ManyColumnsOfHalfs =
      ShapeList<VectorLoads<1, 2, 8>, VectorLoads<1, 4, 8>, VectorLoads<1, 8, 4>,
                VectorLoads<1, 12, 4>, VectorLoads<1, 16, 4>, VectorLoads<2, 12, 4>,
                VectorLoads<2, 16, 4>, VectorLoads<4, 12, 4>, VectorLoads<4, 16, 4>,
                VectorLoads<4, 24, 2>, VectorLoads<4, 32, 2>, VectorLoads<8, 24, 2>,
                VectorLoads<8, 32, 2>,  //
                ScalarLoads<1, 12, 2>, ScalarLoads<1, 16, 2>, ScalarLoads<1, 24, 2>,
                ScalarLoads<2, 16, 2>, ScalarLoads<2, 32, 2>, ScalarLoads<4, 32, 2>>;
  using ManyWidenedColumns = ShapeList<
      VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>, VectorLoads<1, 16, 4>, VectorLoads<2, 16, 4>,
      VectorLoads<4, 16, 4>, VectorLoads<4, 32, 2>, VectorLoads<8, 32, 2>,  //
      ScalarLoads<1, 16, 2>, ScalarLoads<2, 16, 2>, ScalarLoads<2, 32, 2>, ScalarLoads<4, 32, 2>>;
  using ManyColumnsOfDoubles =
      ShapeList<VectorLoads<1, 2, 2>, VectorLoads<1, 4, 2>,  //
                ScalarLoads<1, 12, 1>, ScalarLoads<1, 16, 1>, ScalarLoads<2, 12, 1>,
                ScalarLoads<2, 16, 1>, ScalarLoads<4, 12, 1>, ScalarLoads<4, 16, 1>,
                ScalarLoads<8, 12, 1>, ScalarLoads<8, 16, 1>>;
  using ManyColumnsHeld = std::conditional_t<
      sizeof(T) == 8, ManyColumnsOfDoubles,
      std::conditional_t<
          is_full_precision<V>, ManyColumnsOfFloats,
          std::conditional_t<output_is_wider<V>, ManyWidenedColumns, ManyColumnsOfHalfs>>>;
  /// For columns that don't begin at sectors. The rows of a team overlap those of the next one by a
  /// sector, so that a team should have many rows. The constants were measured on an H200, with as
  /// many columns as a shape holds: slots without an entry cost as much as others.
  template <int warps, int items, int rows, int panels, int teams>
  using Overlapping = Shape<warps, 32, items, 1, AccessMode::whole_sectors, teams, rows, panels>;
  using FloatsOffSectors = ShapeList<
      Overlapping<1, 2, 4, 4, 8>, Overlapping<1, 4, 4, 4, 7>, Overlapping<1, 6, 2, 4, 8>,
      Overlapping<1, 8, 2, 4, 7>, Overlapping<1, 12, 2, 4, 7>, Overlapping<1, 16, 2, 4, 5>,
      Overlapping<2, 12, 2, 2, 7>, Overlapping<2, 16, 2, 4, 3>, Overlapping<2, 20, 2, 2, 5>,
      Overlapping<4, 16, 2, 2, 4>, Overlapping<4, 20, 2, 2, 3>, Overlapping<8, 16, 2, 2, 2>,
      Overlapping<8, 20, 2, 1, 3>, Overlapping<8, 32, 2, 1, 2>>;
  using HalfsOffSectors = ShapeList<Overlapping<1, 12, 2, 4, 6>, Overlapping<1, 16, 2, 4, 5>,
                                    Overlapping<1, 24, 2, 4, 4>, Overlapping<1, 32, 2, 4, 4>,
                                    Overlapping<2, 24, 2, 4, 2>, Overlapping<2, 32, 2, 2, 4>,
                                    Overlapping<4, 32, 2, 2, 2>, Overlapping<8, 32, 2, 1, 2>>;
  using WidenedOffSectors = ShapeList<Overlapping<1, 12, 2, 4, 7>, Overlapping<2, 12, 2, 2, 7>,
                                      Overlapping<2, 16, 2, 4, 3>, Overlapping<4, 16, 2, 2, 4>,
                                      Overlapping<8, 16, 2, 2, 2>, Overlapping<8, 32, 2, 1, 2>>;
  using DoublesOffSectors = ShapeList<
      Overlapping<1, 4, 2, 4, 8>, Overlapping<1, 8, 2, 4, 5>, Overlapping<1, 12, 2, 4, 4>,
      Overlapping<2, 8, 2, 2, 4>, Overlapping<2, 12, 1, 2, 6>, Overlapping<2, 16, 2, 2, 3>,
      Overlapping<4, 12, 2, 1, 5>, Overlapping<4, 20, 2, 1, 3>, Overlapping<8, 16, 2, 1, 2>,
      Overlapping<8, 20, 2, 1, 2>, Overlapping<8, 24, 1, 1, 3>, Overlapping<16, 16, 1, 1, 2>>;
  using ManyColumnsOffSectors = std::conditional_t<
      sizeof(T) == 8, DoublesOffSectors,
      std::conditional_t<
          is_full_precision<V>, FloatsOffSectors,
          std::conditional_t<output_is_wider<V>, WidenedOffSectors, HalfsOffSectors>>>;
  using ManyLongColumnsOffSectors =
      std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                         ShapeList<Overlapping<16, 24, 2, 1, 1>>, ShapeList<>>;
  using ManyLongColumns = std::conditional_t<
      sizeof(T) == 8, ShapeList<>,
      std::conditional_t<is_full_precision<V>,
                         ShapeList<Shape<16, 32, 24, 2, AccessMode::vectors_across_rows>>,
                         ShapeList<Shape<8, 32, 16, 2, AccessMode::vectors_across_rows, 3>>>>;
  /// Floats leave room for as many teams as a multiprocessor can have, so that a few thousand teams
  /// run at one time.
  using LastReducedColumns = Shape<1, 32, 16, 2, AccessMode::vectors_across_rows,
                                   is_full_precision<V> ? 32 : teams_beside(32, 1)>;
  /// The last shape of an access mode also serves longer rows, tile after tile. It isn't the
  /// largest shape (measured on an H200).
  using ManyReducedColumns = std::conditional_t<
      sizeof(T) == 8, ShapeList<ScalarLoads<1, 12, 1>>,
      decltype(ShapeList<VectorLoads<1, 2, 4>, VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>,
                         VectorLoads<1, 12, 4>>{} +
               std::conditional_t<is_full_precision<V>, ShapeList<>,
                                  ShapeList<VectorLoads<1, 16, 4>>>{} +
               ShapeList<VectorLoads<1, 24, 2>, LastReducedColumns,  //
                         ScalarLoads<1, 12, 2>, ScalarLoads<1, 24, 2>, ScalarLoads<1, 16, 2>>{})>;
  /// Each lane has several slots, whose loads are neighbours. Otherwise most cache lines of rows at
  /// odd addresses would be read by two vectors. Doubles have no registers left for that. Half
  /// types take more computation per byte, so that they need more lanes.
  using SplitColumn = std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                                         ShapeList<Shape<16, 32, 24, 1, AccessMode::scalar, 1, 4>>,
                                         ShapeList<Strided<16, 16, 2>>>;

  /// For long columns that no cluster holds. Small teams wait less for one another, and two rows
  /// per lane leave it enough entries of each row between two tiles. (Measured on an H200.)
  template <int items, int rows, int teams>
  using InPhases = Shape<4, 32, items, rows, AccessMode::phase_vectors, teams>;
  using TwoPassColumn = std::conditional_t<
      sizeof(T) == 8, ShapeList<InPhases<16, 1, 4>>,
      std::conditional_t<is_full_precision<V> || output_is_wider<V>, ShapeList<InPhases<16, 2, 5>>,
                         ShapeList<InPhases<24, 2, 5>>>>;
  /// Without a second pass, floats have room for larger tiles.
  using ReducedTwoPassColumn = std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                                                  ShapeList<InPhases<24, 2, 4>>, TwoPassColumn>;

  /// For columns that don't fit one team, in the order of their lengths. A lane holds 128 bytes of
  /// one row, in 64 registers, so that a multiprocessor holds 128 KiB. Small teams don't wait for
  /// one another as often as large ones. The longer a column is, the fewer rows have room in the
  /// registers of a cluster: pieces of 64 bytes of a column are slower than a cache line, and
  /// faster than a second read. The last two shapes of doubles are for columns that don't begin at
  /// sectors (measured on an H200).
  template <int threads, int lanes>
  using InCluster =
      Shape<threads, lanes, 128 / sizeof(T), 1, AccessMode::scalar, 1024 / (threads * lanes)>;
  using ClusterColumn = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<InCluster<8, 16>, InCluster<32, 8>, InCluster<8, 32>, InCluster<16, 32>>,
      std::conditional_t<
          is_full_precision<V>,
          ShapeList<InCluster<4, 32>, InCluster<8, 32>, InCluster<16, 32>, InCluster<32, 16>>,
          ShapeList<InCluster<4, 32>, InCluster<8, 32>, InCluster<16, 32>>>>;
  /// The same for floats whose columns don't begin at sectors: the rows of teams overlap. Half
  /// types and doubles are as fast or faster in teams of ClusterColumn (measured on an H200).
  using ClusterColumnOffSectors =
      std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                         ShapeList<Overlapping<4, 20, 2, 1, 7>, Overlapping<8, 16, 2, 1, 4>,
                                   Overlapping<8, 32, 1, 2, 2>>,
                         ShapeList<>>;
  /// For floats in long columns that don't begin at sectors, where a lane can load two rows at one
  /// time.
  using ClusterColumnInPairs =
      std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                         ShapeList<Shape<8, 32, 32, 2, AccessMode::vectors_across_rows, 2>>,
                         ShapeList<>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
