// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP

/// \file
/// The shapes that are compiled: one list per schedule. The first shape of a list that can serve a
/// problem is taken, so that lists run from small to large and from fast to general.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <backend/Schedule.hpp>
#include <row/Tile.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The elements of a list, and the elements of another list that are not in it.
template <class List, class More>
struct Joined {
  using type = List;
};
template <class... In, class S, class... Rest>
struct Joined<ShapeList<In...>, ShapeList<S, Rest...>> {
  using WithS =
      std::conditional_t<(std::is_same_v<In, S> || ...), ShapeList<In...>, ShapeList<In..., S>>;
  using type = typename Joined<WithS, ShapeList<Rest...>>::type;
};

template <class... A, class... B>
constexpr auto operator+(ShapeList<A...>, ShapeList<B...>) {
  return typename Joined<ShapeList<A...>, ShapeList<B...>>::type{};
}

/// Whether entries have the type that is computed with. PackedKernel needs this, because it works
/// on rows in the place of their entries.
template <class V>
inline constexpr bool is_full_precision = std::is_same_v<typename V::X, typename V::Compute>;

/// Whether results have more bytes than entries. Such pairs of types are compiled for fewer shapes,
/// because there are many pairs and each kernel adds half a second to the build.
template <class V>
inline constexpr bool output_is_wider = sizeof(typename V::Y) > sizeof(typename V::X);

/// The shapes for GPUs. A chunk is 16 bytes of the wider of x and y, whatever the types are, so
/// that the stores of a warp fill whole sectors. The items of chunks are counted in units of 16
/// bytes of registers (see `chunks`), so that the same numbers suit all types. Register arrays of
/// up to 8 such items (32 registers) leave room for everything else in the 40 to 64 registers per
/// lane that the minimum number of teams leaves. Arrays of up to 12 items do so in the 80 to 128
/// registers per lane of teams that also use scratch memory.
template <class Exec, class V>
struct Shapes {
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr int wide = std::min(widest<X>, widest<typename V::Y>);

  /// The number of chunks that `items` times 16 bytes of registers hold, rounded up. If an entry
  /// takes more bytes in registers than in memory, so does a chunk.
  static constexpr int items_per_chunk = wide / widest<T>;
  static constexpr int chunks(int items) { return divide_up(items, items_per_chunk); }

  template <int lanes, int items, int rows>
  using Guarded =
      Shape<128 / lanes, lanes, chunks(items), wide, AccessMode::guarded_vectors, 0, rows>;
  template <int lanes, int items, int rows = 1>
  using Scalar = Shape<128 / lanes, lanes, items, 1, AccessMode::scalar, 0, rows>;
  /// For contiguous rows at any address. Doubles are loaded one by one: such a load is half as wide
  /// as the widest one and fast enough, and peeled entries would cost registers. If there are few
  /// lanes, they can hold the peeled entries of narrower chunks only.
  static constexpr int any_alignment_width(int lanes) {
    return lanes < 2 * (wide - 1) ? wide / 2 : wide;
  }
  /// The number of teams for which there are enough registers in spite of the peeled entries: 72
  /// per lane for 8 items, 64 for 6.
  static constexpr int any_alignment_teams(int items) {
    return items == 8 ? 7 : items == 6 ? 8 : 0;
  }
  template <int lanes, int items>
  using AnyAlignment = std::conditional_t<
      sizeof(T) == 8, Scalar<lanes, items * wide>,
      Shape<128 / lanes, lanes, chunks(items) * wide / any_alignment_width(lanes),
            any_alignment_width(lanes), AccessMode::peeled_vectors, any_alignment_teams(items)>>;
  /// The number of teams leaves enough registers for a lane's row. While rows are held in
  /// registers, there is a shape for every few columns, because slots without an entry cost as much
  /// as the others.
  template <int items, int teams = 6>
  using DenseRows = Shape<2, 32, items, wide, AccessMode::dense_rows, teams>;
  using Packed = std::conditional_t<
      !is_full_precision<V>, ShapeList<>,
      std::conditional_t<sizeof(T) == 8,
                         ShapeList<DenseRows<3, 16>, DenseRows<4, 14>, DenseRows<5, 14>,
                                   DenseRows<7, 11>, DenseRows<8, 10>, DenseRows<10, 9>,
                                   DenseRows<12>, DenseRows<16>, DenseRows<20>>,
                         ShapeList<DenseRows<3, 16>, DenseRows<4, 16>, DenseRows<5, 14>,
                                   DenseRows<6, 12>, DenseRows<8, 11>, DenseRows<9, 9>,
                                   DenseRows<10, 9>, DenseRows<12>, DenseRows<16>>>>;
  using ShortRows =
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Guarded<8, 4, 1>, Guarded<16, 3, 1>, Guarded<16, 4, 1>, Guarded<32, 3, 1>,
                Guarded<32, 4, 1>, Guarded<32, 8, 1>,                                //
                Scalar<1, 2, 4>, Scalar<1, 3, 4>, Scalar<1, 4, 2>, Scalar<1, 6, 2>,  //
                Scalar<1, 8, 1>, Scalar<2, 8, 1>, Scalar<4, 8, 1>, Scalar<8, 8, 1>>;
  /// For short rows of odd length. Loads of one entry by many lanes are fast if few lanes have
  /// nothing to load. They are then faster than a few chunks with peeled entries.
  using AnyAlignmentShortRows =
      ShapeList<Scalar<8, 10>, Scalar<8, 12>, AnyAlignment<8, 4>, Scalar<16, 10>, Scalar<16, 12>,
                Scalar<16, 16>, Scalar<32, 10>, Scalar<32, 12>, Scalar<32, 14>, Scalar<32, 16>,
                AnyAlignment<32, 6>, AnyAlignment<32, 8>>;
  /// For half types, whose entries are too small for loads of one entry.
  using AnyAlignmentShortHalfRows =
      ShapeList<AnyAlignment<8, 4>, AnyAlignment<16, 3>, AnyAlignment<16, 4>, AnyAlignment<32, 3>,
                AnyAlignment<32, 4>, AnyAlignment<32, 6>, AnyAlignment<32, 8>, Scalar<32, 4>,
                Scalar<32, 8>, Scalar<32, 16>>;
  /// For double, some shapes for any alignment are scalar ones, and rounding up makes some shapes
  /// equal. Each shape is taken once.
  using Subgroup = decltype(
      ShapeList<>{} + ShortRows{} +
      std::conditional_t<is_full_precision<V>, AnyAlignmentShortRows, AnyAlignmentShortHalfRows>{});

  /// For few rows, which have the device for themselves: as many lanes as possible, so that each
  /// lane has little to do.
  template <AccessMode access, int warps, int items>
  using FewRows = Shape<warps, 32, access == AccessMode::scalar ? items * wide : chunks(items),
                        access == AccessMode::scalar ? 1 : wide, access, 1>;
  static constexpr AccessMode any_alignment_access =
      sizeof(T) == 8 ? AccessMode::scalar : AccessMode::peeled_vectors;
  template <AccessMode access>
  using FewRowsSubgroups = ShapeList<FewRows<access, 1, 1>>;
  template <AccessMode access>
  using FewRowsTeams = decltype(ShapeList<>{} +
                                ShapeList<FewRows<access, 4, 1>, FewRows<access, 4, 2>,
                                          FewRows<access, 8, 2>, FewRows<access, 16, 2>>{});
  template <class List>
  using UnlessWidening = std::conditional_t<output_is_wider<V>, ShapeList<>, List>;
  using SubgroupFew = UnlessWidening<decltype(FewRowsSubgroups<AccessMode::guarded_vectors>{} +
                                              FewRowsSubgroups<any_alignment_access>{})>;
  using FusedRegistersFew = UnlessWidening<decltype(FewRowsTeams<AccessMode::guarded_vectors>{} +
                                                    FewRowsTeams<any_alignment_access>{})>;

  /// The number of threads per multiprocessor that leaves a lane the registers that it needs for
  /// `items` chunks. More threads would hide more latency, but spilled registers cost more than
  /// that gains.
  static constexpr int resident_threads(int items, AccessMode access) {
    if (access == AccessMode::scalar) return items <= 4 ? 1024 : items <= 6 ? 896 : 768;
    if (items <= 4) return 1280;
    if (items == 5) return 1152;
    if (items > 8) return 768;
    return items == 6 || (access == AccessMode::guarded_vectors && sizeof(T) == 4) ? 1024 : 896;
  }
  static constexpr int resident_teams(int warps, int items, AccessMode access) {
    return warps == 16 ? 2 : resident_threads(items, access) / (32 * warps);
  }
  /// A shape for one row per team. `items` counts units of 16 bytes per lane, whatever the width of
  /// a load is.
  template <AccessMode access, int warps, int items>
  using Row = Shape<warps, 32, access == AccessMode::scalar ? items * wide : chunks(items),
                    access == AccessMode::scalar ? 1 : wide, access,
                    resident_teams(warps, chunks(items) * items_per_chunk, access)>;
  template <AccessMode access>
  using WholeItemRows = decltype(
      ShapeList<Row<access, 2, 4>, Row<access, 2, 5>, Row<access, 2, 6>, Row<access, 2, 7>,
                Row<access, 2, 8>, Row<access, 4, 5>, Row<access, 4, 6>, Row<access, 4, 7>,
                Row<access, 4, 8>>{} +
      std::conditional_t<sizeof(T) == 8, ShapeList<Row<access, 4, 9>>, ShapeList<>>{} +
      ShapeList<Row<access, 8, 5>, Row<access, 8, 6>, Row<access, 8, 7>, Row<access, 8, 8>,  //
                Row<access, 16, 5>, Row<access, 16, 6>, Row<access, 16, 7>, Row<access, 16, 8>>{});
  template <AccessMode access>
  using WideningRows =
      ShapeList<Row<access, 2, 4>, Row<access, 2, 6>, Row<access, 2, 8>, Row<access, 4, 6>,
                Row<access, 4, 8>, Row<access, 8, 5>, Row<access, 8, 6>, Row<access, 8, 8>,
                Row<access, 16, 6>, Row<access, 16, 8>>;
  /// If a chunk takes two items, there are fewer numbers of chunks to choose from, but more team
  /// sizes.
  template <AccessMode access>
  using HalfRows =
      ShapeList<Row<access, 2, 4>, Row<access, 2, 6>, Row<access, 2, 8>, Row<access, 2, 10>,
                Row<access, 3, 8>, Row<access, 4, 8>, Row<access, 4, 10>, Row<access, 6, 8>,
                Row<access, 8, 8>, Row<access, 8, 10>, Row<access, 12, 8>, Row<access, 14, 8>,
                Row<access, 16, 8>>;
  template <AccessMode access>
  using Rows = std::conditional_t<
      output_is_wider<V>, WideningRows<access>,
      std::conditional_t<items_per_chunk == 1, WholeItemRows<access>, HalfRows<access>>>;
  /// Not for half types, which are as fast or faster with guards: without guards, the compiler
  /// takes all registers.
  using ExactRows = std::conditional_t<
      is_full_precision<V>,
      ShapeList<Row<AccessMode::full_tile, 2, 4>, Row<AccessMode::full_tile, 2, 8>,
                Row<AccessMode::full_tile, 4, 8>, Row<AccessMode::full_tile, 8, 8>,
                Row<AccessMode::full_tile, 16, 8>>,
      ShapeList<>>;
  using FusedRegisters =
      std::conditional_t<sizeof(T) == 8, decltype(ExactRows{} + Rows<AccessMode::scalar>{}),
                         decltype(ExactRows{} + Rows<AccessMode::guarded_vectors>{} +
                                  Rows<AccessMode::peeled_vectors>{})>;

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

  // ---- For logsumexp, which reads rows and writes almost nothing, so that the number of
  // instructions matters.

  /// Rows of doubles in few lanes: the instructions that a row takes besides its exponentials are
  /// shared by more exponentials per lane. The number of teams leaves enough registers for that.
  static constexpr int lse_dense_teams(int entries) {
    return entries > 16 ? 5 : entries == 16 ? 6 : 7;
  }
  template <int lanes, int items>
  using LseDense = Shape<128 / lanes, lanes, items, wide, AccessMode::guarded_vectors,
                         lse_dense_teams(items* wide)>;
  template <int lanes, int entries>
  using LseDenseAnyAlignment =
      Shape<128 / lanes, lanes, entries, 1, AccessMode::scalar, lse_dense_teams(entries)>;
  using ReducedSubgroup = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                LseDense<4, 8>, LseDense<8, 6>, LseDense<8, 8>, LseDense<16, 6>, LseDense<16, 8>,
                LseDense<32, 6>, LseDense<32, 8>,  //
                Scalar<1, 2, 4>, Scalar<1, 3, 4>, Scalar<1, 4, 2>, Scalar<1, 6, 2>, Scalar<1, 8, 1>,
                Scalar<2, 8, 1>, Scalar<4, 8, 1>, Scalar<8, 8, 1>,  //
                LseDenseAnyAlignment<8, 12>, LseDenseAnyAlignment<8, 16>,
                LseDenseAnyAlignment<16, 12>, LseDenseAnyAlignment<16, 16>,
                LseDenseAnyAlignment<32, 10>, LseDenseAnyAlignment<32, 12>,
                LseDenseAnyAlignment<32, 14>, LseDenseAnyAlignment<32, 16>,
                LseDenseAnyAlignment<32, 20>, LseDenseAnyAlignment<32, 26>>,
      Subgroup>;

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
  using ReducedColumn = ShapeList<Strided<2, 8, 0>, Strided<8, 8, 4>, Strided<16, 24, 2>>;

  /// For many strided rows: as few threads as hold a row. What a thread does once is then little
  /// compared with the work on its entries, and a single thread doesn't wait for others. The number
  /// of teams leaves a lane enough registers.
  static constexpr int teams_beside(int registers, int warps) {
    const int all = registers <= 24 && sizeof(T) < 8 ? 32
                    : registers <= 48                ? 24
                    : registers <= 64                ? 18
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
  using ManyColumnsOfFloats = ShapeList<
      VectorLoads<1, 2, 4>, VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>, VectorLoads<1, 12, 4>,
      VectorLoads<1, 16, 2>, VectorLoads<1, 24, 2>, VectorLoads<1, 32, 2>, VectorLoads<2, 24, 2>,
      VectorLoads<2, 32, 2>, VectorLoads<4, 24, 2>, VectorLoads<4, 32, 2>, VectorLoads<8, 24, 2>,
      VectorLoads<8, 32, 2>, VectorLoads<16, 24, 2>, VectorLoads<16, 32, 2>,  //
      ScalarLoads<1, 12, 2>, ScalarLoads<1, 16, 2>, ScalarLoads<1, 24, 2>, ScalarLoads<1, 32, 2>,
      ScalarLoads<2, 32, 2>, ScalarLoads<4, 32, 2>, ScalarLoads<8, 32, 2>>;
  using ManyColumnsOfHalfs = ShapeList<
      VectorLoads<1, 2, 8>, VectorLoads<1, 4, 8>, VectorLoads<1, 8, 4>, VectorLoads<1, 12, 4>,
      VectorLoads<1, 16, 4>, VectorLoads<2, 12, 4>, VectorLoads<2, 16, 4>, VectorLoads<4, 12, 4>,
      VectorLoads<4, 16, 4>, VectorLoads<4, 24, 2>, VectorLoads<4, 32, 2>, VectorLoads<8, 24, 2>,
      VectorLoads<8, 32, 2>,  //
      ScalarLoads<1, 12, 2>, ScalarLoads<1, 16, 2>, ScalarLoads<1, 24, 2>, ScalarLoads<2, 16, 2>,
      ScalarLoads<2, 32, 2>, ScalarLoads<4, 32, 2>, ScalarLoads<8, 32, 2>>;
  using ManyWidenedColumns =
      ShapeList<VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>, VectorLoads<1, 16, 4>,
                VectorLoads<2, 16, 4>, VectorLoads<4, 16, 4>, VectorLoads<4, 32, 2>,
                VectorLoads<8, 32, 2>,  //
                ScalarLoads<1, 16, 2>, ScalarLoads<2, 16, 2>, ScalarLoads<2, 32, 2>,
                ScalarLoads<4, 32, 2>, ScalarLoads<8, 32, 2>>;
  using ManyColumnsOfDoubles =
      ShapeList<VectorLoads<1, 2, 2>, VectorLoads<1, 4, 2>,  //
                ScalarLoads<1, 6, 1>, ScalarLoads<1, 8, 1>, ScalarLoads<1, 12, 1>,
                ScalarLoads<1, 16, 1>, ScalarLoads<2, 12, 1>, ScalarLoads<2, 16, 1>,
                ScalarLoads<4, 12, 1>, ScalarLoads<4, 16, 1>, ScalarLoads<8, 12, 1>,
                ScalarLoads<8, 16, 1>>;
  using ManyColumnsHeld = std::conditional_t<
      sizeof(T) == 8, ManyColumnsOfDoubles,
      std::conditional_t<
          is_full_precision<V>, ManyColumnsOfFloats,
          std::conditional_t<output_is_wider<V>, ManyWidenedColumns, ManyColumnsOfHalfs>>>;
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
      sizeof(T) == 8, ShapeList<ScalarLoads<1, 6, 1>, ScalarLoads<1, 8, 1>, ScalarLoads<1, 12, 1>>,
      ShapeList<VectorLoads<1, 2, 4>, VectorLoads<1, 4, 4>, VectorLoads<1, 8, 4>,
                VectorLoads<1, 12, 4>, VectorLoads<1, 16, 4>, VectorLoads<1, 24, 2>,
                LastReducedColumns,  //
                ScalarLoads<1, 12, 2>, ScalarLoads<1, 24, 2>, ScalarLoads<1, 16, 2>>>;
  /// Each lane has several slots, whose loads are neighbours. Otherwise most cache lines of rows at
  /// odd addresses would be read by two vectors. Doubles have no registers left for that. Half
  /// types take more computation per byte, so that they need more lanes.
  using SplitColumn = std::conditional_t<is_full_precision<V> && sizeof(T) == 4,
                                         ShapeList<Shape<16, 32, 24, 1, AccessMode::scalar, 1, 4>>,
                                         ShapeList<Strided<16, 16, 2>>>;
};

/// For float and double on hosts, where the tests run the GPU schedules with teams of one thread.
/// The shapes are as small as possible while they still cover all of the code, because every item
/// is unrolled.
template <class V>
struct HostShapes {
  static constexpr int wide = widest<typename V::X>;
  using Guarded = Shape<1, 1, 16 / wide, wide, AccessMode::guarded_vectors>;
  using Scalar = Shape<1, 1, 16, 1, AccessMode::scalar>;
  template <int columns>
  using DenseRows = Shape<1, 1, columns / wide, wide, AccessMode::dense_rows, 0, wide>;
  using Packed = ShapeList<DenseRows<16>, DenseRows<64>>;  // in registers; in scratch memory
  using Subgroup = ShapeList<Guarded, Scalar>;
  using FusedRegisters = ShapeList<Guarded, Scalar>;
  using SubgroupFew = ShapeList<>;
  using FusedRegistersFew = ShapeList<>;
  using FusedScratch = ShapeList<Shape<1, 1, 2, wide, AccessMode::guarded_vectors>,
                                 Shape<1, 1, 4, 1, AccessMode::scalar>>;
  using Online = FusedScratch;
  using ReducedOnline = Online;
  using ReducedSubgroup = Subgroup;
  /// Segments are whole cache lines.
  using Line = Shape<1, 1, 128 / sizeof(typename V::X), 1, AccessMode::scalar>;
  using SplitOnce = ShapeList<Shape<1, 1, 8, wide, AccessMode::guarded_vectors>, Line>;
  using Split = FusedScratch;
  using SplitOnline = FusedScratch;
  using ReducedSplitOnline = SplitOnline;
  using ColumnHeld = ShapeList<Scalar>;
  using LongColumn = ShapeList<Shape<1, 1, 4, 1, AccessMode::scalar>>;
  using ReducedColumn = LongColumn;
  using ManyColumnsHeld = ShapeList<Shape<1, 1, 16, 2, AccessMode::vectors_across_rows>,
                                    Shape<1, 1, 16, 1, AccessMode::scalar, 0, 2>>;
  using ManyLongColumns = ShapeList<Shape<1, 1, 4, 2, AccessMode::vectors_across_rows>,
                                    Shape<1, 1, 4, 1, AccessMode::scalar, 0, 2>>;
  using ManyReducedColumns = ManyLongColumns;
  using SplitColumn = LongColumn;
  using Cluster = ShapeList<>;
};

/// For half types on hosts, which are computed by the algorithm `host` alone.
struct NoShapes {
  using SubgroupFew = ShapeList<>;
  using FusedRegistersFew = ShapeList<>;
  using Packed = ShapeList<>;
  using Subgroup = ShapeList<>;
  using FusedRegisters = ShapeList<>;
  using FusedScratch = ShapeList<>;
  using Online = ShapeList<>;
  using ReducedOnline = ShapeList<>;
  using ReducedSubgroup = ShapeList<>;
  using SplitOnce = ShapeList<>;
  using Split = ShapeList<>;
  using SplitOnline = ShapeList<>;
  using ReducedSplitOnline = ShapeList<>;
  using ColumnHeld = ShapeList<>;
  using LongColumn = ShapeList<>;
  using ReducedColumn = ShapeList<>;
  using ManyColumnsHeld = ShapeList<>;
  using ManyLongColumns = ShapeList<>;
  using ManyReducedColumns = ShapeList<>;
  using SplitColumn = ShapeList<>;
  using Cluster = ShapeList<>;
};

template <class Exec, class V>
using ShapesOf =
    std::conditional_t<!is_host_space<Exec>, Shapes<Exec, V>,
                       std::conditional_t<is_full_precision<V>, HostShapes<V>, NoShapes>>;

// ---- For searches (KokkosSoftmax_TUNING_SHAPES): shapes in addition to those of the rule, each
// with one constant changed. The rule never takes them, but a tuning table can.

/// Whether a shape has one lane, as on a host, where there are neither threads nor registers to
/// divide.
template <class S>
inline constexpr bool one_lane = S::threads* S::lanes == 1;

constexpr int fewer_teams(int teams, int team) {
  return teams == 0 ? std::min(32, 1024 / team) : teams * 3 / 4;
}
constexpr int more_teams(int teams, int team) {
  return std::min(32, teams == 0 ? 1536 / team : std::max(teams + 1, teams * 5 / 4));
}
template <class S, int teams>
using WithTeams = Shape<S::threads, S::lanes, S::items, S::width, S::access,
                        one_lane<S> ? S::min_teams : teams, S::rows_per_thread>;
template <class S>
using FewerTeams = WithTeams<S, fewer_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreTeams = WithTeams<S, more_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreThreads = Shape<one_lane<S> ? 1 : 2 * S::threads, S::lanes, S::items, S::width, S::access,
                          S::min_teams / 2, S::rows_per_thread>;
template <class S>
using FewerItems = Shape<S::threads, S::lanes, S::items / 2, S::width, S::access, S::min_teams,
                         S::rows_per_thread>;
template <class S>
using MoreItems = Shape<S::threads, S::lanes, 2 * S::items, S::width, S::access, S::min_teams,
                        S::rows_per_thread>;
template <class S>
using MoreRows = Shape<S::threads, S::lanes, S::items, S::width, S::access, S::min_teams,
                       2 * S::rows_per_thread>;

template <template <class> class Change, class... S>
constexpr auto changed(ShapeList<S...>) {
  return ShapeList<Change<S>...>{};
}

/// The shapes that are compiled for a list of the rule: the shapes of the list, then the changed
/// ones.
template <template <class> class... Change, class List>
constexpr auto with_changes(List list) {
#if defined(KOKKOSSOFTMAX_TUNING_SHAPES)
  return (list + ... + changed<Change>(list));
#else
  return list;
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
