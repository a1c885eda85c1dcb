// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HPP

/// \file
/// The shapes that are compiled, one list a schedule. The first shape of a list that can serve a
/// problem is taken, so that lists run from small to large and from fast to general.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <backend/Hardware.hpp>
#include <backend/Schedule.hpp>
#include <row/Tile.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A list and what of another isn't in it.
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

/// PackedKernel works on rows in the place of their entries.
template <class V>
inline constexpr bool packs = std::is_same_v<typename V::X, typename V::Compute>;

/// Results of more bytes than the entries have: their pairs of types are compiled for fewer shapes,
/// as there are many pairs and a kernel more costs the build half a second.
template <class V>
inline constexpr bool widens = sizeof(typename V::Y) > sizeof(typename V::X);

/// For GPUs. A chunk is 16 bytes of the wider of x and y, whatever the types, so that a warp's
/// stores fill whole sectors; the items of chunks are counted in 16 bytes of registers (see
/// `chunks`), so that the numbers fit all types alike. Register arrays of
/// up to 8 such items (32 registers) leave room for everything else in the 40 to 64 registers a
/// lane that the minimum of teams keeps, up to 12 in the 80 to 128 of teams that use scratch
/// beside.
template <class Exec, class V>
struct Shapes {
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr int wide = std::min(widest<X>, widest<typename V::Y>);

  /// The chunks that `items` times 16 bytes of registers hold, rounded up: where an entry takes
  /// more bytes in registers than in memory, so does a chunk.
  static constexpr int items_per_chunk = wide / widest<T>;
  static constexpr int chunks(int items) { return divide_up(items, items_per_chunk); }

  template <int lanes, int items, int rows>
  using Guarded = Shape<128 / lanes, lanes, chunks(items), wide, Fill::guarded, 0, rows>;
  template <int lanes, int items, int rows = 1>
  using Scalar = Shape<128 / lanes, lanes, items, 1, Fill::scalar, 0, rows>;
  /// Contiguous rows at any address. A load of one double is half as wide as a load can be, and
  /// fast enough; the edges of a chunked row would cost registers. Few lanes hold the edges of
  /// narrower chunks alone.
  static constexpr int odd_width(int lanes) { return lanes < 2 * (wide - 1) ? wide / 2 : wide; }
  /// Teams that the registers of the edges leave room for: 72 a lane for 8 items, 64 for 6.
  static constexpr int odd_teams(int items) { return items == 8 ? 7 : items == 6 ? 8 : 0; }
  template <int lanes, int items>
  using Odd = std::conditional_t<sizeof(T) == 8, Scalar<lanes, items * wide>,
                                 Shape<128 / lanes, lanes, chunks(items) * wide / odd_width(lanes),
                                       odd_width(lanes), Fill::edges, odd_teams(items)>>;
  /// As many teams as leave registers for a lane's row. Every few columns have a shape of their own
  /// as long as rows are in registers, where places without an entry cost as much as the others.
  template <int items, int teams = 6>
  using Run = Shape<2, 32, items, wide, Fill::packed, teams>;
  using Packed = std::conditional_t<
      !packs<V>, ShapeList<>,
      std::conditional_t<sizeof(T) == 8,
                         ShapeList<Run<3, 16>, Run<4, 14>, Run<5, 14>, Run<7, 11>, Run<8, 10>,
                                   Run<10, 9>, Run<12>, Run<16>, Run<20>>,
                         ShapeList<Run<3, 16>, Run<4, 16>, Run<5, 14>, Run<6, 12>, Run<8, 11>,
                                   Run<9, 9>, Run<10, 9>, Run<12>, Run<16>>>>;
  using ShortRows =
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Guarded<8, 4, 1>, Guarded<16, 3, 1>, Guarded<16, 4, 1>, Guarded<32, 3, 1>,
                Guarded<32, 4, 1>, Guarded<32, 8, 1>,                                //
                Scalar<1, 2, 4>, Scalar<1, 3, 4>, Scalar<1, 4, 2>, Scalar<1, 6, 2>,  //
                Scalar<1, 8, 1>, Scalar<2, 8, 1>, Scalar<4, 8, 1>, Scalar<8, 8, 1>>;
  /// Short rows of an odd length: loads of one entry from many lanes are fast where few lanes have
  /// nothing to load, faster than edges beside few chunks.
  using OddShortRows = ShapeList<Scalar<8, 10>, Scalar<8, 12>, Odd<8, 4>, Scalar<16, 10>,
                                 Scalar<16, 12>, Scalar<16, 16>, Scalar<32, 10>, Scalar<32, 12>,
                                 Scalar<32, 14>, Scalar<32, 16>, Odd<32, 6>, Odd<32, 8>>;
  /// An entry of a half type is too small for a load of its own.
  using OddShortHalfRows =
      ShapeList<Odd<8, 4>, Odd<16, 3>, Odd<16, 4>, Odd<32, 3>, Odd<32, 4>, Odd<32, 6>, Odd<32, 8>,
                Scalar<32, 4>, Scalar<32, 8>, Scalar<32, 16>>;
  /// For double some odd ones are scalar ones, and rounding up makes some alike: each is taken
  /// once.
  using Subgroup = decltype(ShapeList<>{} + ShortRows{} +
                            std::conditional_t<packs<V>, OddShortRows, OddShortHalfRows>{});

  /// For few rows, which have the machine for themselves: as many lanes as there can be, so that
  /// each has little to do.
  template <Fill fill, int warps, int items>
  using Spread = Shape<warps, 32, fill == Fill::scalar ? items * wide : chunks(items),
                       fill == Fill::scalar ? 1 : wide, fill, 1>;
  static constexpr Fill odd_fill = sizeof(T) == 8 ? Fill::scalar : Fill::edges;
  template <Fill fill>
  using SpreadSubgroups = ShapeList<Spread<fill, 1, 1>>;
  template <Fill fill>
  using SpreadRows = decltype(
      ShapeList<>{} +
      ShapeList<Spread<fill, 4, 1>, Spread<fill, 4, 2>, Spread<fill, 8, 2>, Spread<fill, 16, 2>>{});
  template <class List>
  using UnlessWidening = std::conditional_t<widens<V>, ShapeList<>, List>;
  using SubgroupFew =
      UnlessWidening<decltype(SpreadSubgroups<Fill::guarded>{} + SpreadSubgroups<odd_fill>{})>;
  using FusedRegistersFew =
      UnlessWidening<decltype(SpreadRows<Fill::guarded>{} + SpreadRows<odd_fill>{})>;

  /// Threads per multiprocessor that leave a lane the registers it needs for `items` chunks. More
  /// threads would hide more latency, but spilled registers cost more than that brings.
  static constexpr int resident_threads(int items, Fill fill) {
    if (fill == Fill::scalar) return items <= 4 ? 1024 : items <= 6 ? 896 : 768;
    if (items <= 4) return 1280;
    if (items == 5) return 1152;
    if (items > 8) return 768;
    return items == 6 || (fill == Fill::guarded && sizeof(T) == 4) ? 1024 : 896;
  }
  static constexpr int resident_teams(int warps, int items, Fill fill) {
    return warps == 16 ? 2 : resident_threads(items, fill) / (32 * warps);
  }
  /// A row in a team; `items` counts 16 bytes a lane, whatever the width of a load is.
  template <Fill fill, int warps, int items>
  using Row = Shape<warps, 32, fill == Fill::scalar ? items * wide : chunks(items),
                    fill == Fill::scalar ? 1 : wide, fill,
                    resident_teams(warps, chunks(items) * items_per_chunk, fill)>;
  template <Fill fill>
  using WholeItemRows = decltype(
      ShapeList<Row<fill, 2, 4>, Row<fill, 2, 5>, Row<fill, 2, 6>, Row<fill, 2, 7>, Row<fill, 2, 8>,
                Row<fill, 4, 5>, Row<fill, 4, 6>, Row<fill, 4, 7>, Row<fill, 4, 8>>{} +
      std::conditional_t<sizeof(T) == 8, ShapeList<Row<fill, 4, 9>>, ShapeList<>>{} +
      ShapeList<Row<fill, 8, 5>, Row<fill, 8, 6>, Row<fill, 8, 7>, Row<fill, 8, 8>,  //
                Row<fill, 16, 5>, Row<fill, 16, 6>, Row<fill, 16, 7>, Row<fill, 16, 8>>{});
  template <Fill fill>
  using WideningRows = ShapeList<Row<fill, 2, 4>, Row<fill, 2, 6>, Row<fill, 2, 8>, Row<fill, 4, 6>,
                                 Row<fill, 4, 8>, Row<fill, 8, 5>, Row<fill, 8, 6>, Row<fill, 8, 8>,
                                 Row<fill, 16, 6>, Row<fill, 16, 8>>;
  /// With chunks of two items there are fewer numbers of chunks to choose from, and more of teams.
  template <Fill fill>
  using HalfRows = ShapeList<Row<fill, 2, 4>, Row<fill, 2, 6>, Row<fill, 2, 8>, Row<fill, 2, 10>,
                             Row<fill, 3, 8>, Row<fill, 4, 8>, Row<fill, 4, 10>, Row<fill, 6, 8>,
                             Row<fill, 8, 8>, Row<fill, 8, 10>, Row<fill, 12, 8>, Row<fill, 14, 8>,
                             Row<fill, 16, 8>>;
  template <Fill fill>
  using Rows = std::conditional_t<
      widens<V>, WideningRows<fill>,
      std::conditional_t<items_per_chunk == 1, WholeItemRows<fill>, HalfRows<fill>>>;
  /// Half types are as fast with guards, or faster: a compiler that may takes all registers.
  using ExactRows = std::conditional_t<
      packs<V>,
      ShapeList<Row<Fill::exact, 2, 4>, Row<Fill::exact, 2, 8>, Row<Fill::exact, 4, 8>,
                Row<Fill::exact, 8, 8>, Row<Fill::exact, 16, 8>>,
      ShapeList<>>;
  using FusedRegisters =
      std::conditional_t<sizeof(T) == 8, decltype(ExactRows{} + Rows<Fill::scalar>{}),
                         decltype(ExactRows{} + Rows<Fill::guarded>{} + Rows<Fill::edges>{})>;

  /// Rounded down: shares can be as small as one likes.
  template <int warps, int items, Fill fill, int teams>
  using Part = Shape<warps, 32, fill == Fill::scalar ? items : items / items_per_chunk,
                     fill == Fill::scalar ? 1 : wide, fill, teams>;
  template <int warps, int items, int teams>
  using OddPart = std::conditional_t<sizeof(T) == 8, Part<warps, items * wide, Fill::scalar, teams>,
                                     Part<warps, items, Fill::edges, teams>>;
  static constexpr int once_odd_items = sizeof(T) == 8 ? 8 : 7;
  using SplitOnce = ShapeList<Part<4, 8, Fill::guarded, 4>, Part<8, 8, Fill::guarded, 2>,
                              OddPart<4, once_odd_items, 4>, OddPart<8, once_odd_items, 2>>;
  /// What is loaded at one time is 20 to 25 KiB; scratch takes another 39.
  using Split =
      std::conditional_t<sizeof(T) == 8, ShapeList<Part<4, 12, Fill::guarded, 4>, OddPart<5, 8, 4>>,
                         ShapeList<Part<5, 10, Fill::guarded, 4>, OddPart<4, 12, 4>>>;
  /// Large teams, so that one group can have all that are resident.
  static constexpr int online_teams = sizeof(T) == 8 ? 1 : 2;
  using SplitOnline =
      ShapeList<Part<16, 4, Fill::guarded, 2>, Part<16, 4, Fill::edges, online_teams>,
                Part<16, 8, Fill::scalar, online_teams>>;

  /// Small teams, whose shares many rows can be under way in. Floats and half types at any address
  /// are as fast as aligned ones, and loads of one double as loads of two; large teams are for the
  /// longest rows of half types. What widens needs more registers for the same entries.
  using ClusterOfFloats = ShapeList<Part<8, 6, Fill::edges, 4>>;
  using ClusterOfDoubles = ShapeList<OddPart<8, 6, 3>, OddPart<5, 8, 4>>;
  using ClusterOfHalfs =
      std::conditional_t<widens<V>,
                         ShapeList<Part<4, 4, Fill::edges, 8>, Part<4, 6, Fill::edges, 7>>,
                         ShapeList<Part<4, 8, Fill::edges, 7>, Part<16, 8, Fill::guarded, 2>>>;
  using Cluster = std::conditional_t<
      !is_cuda<Exec>, ShapeList<>,
      std::conditional_t<sizeof(T) == 8, ClusterOfDoubles,
                         std::conditional_t<packs<V>, ClusterOfFloats, ClusterOfHalfs>>>;

  /// Doubles have more temporaries, and twice as much of a row in the same registers.
  using Scratch = std::conditional_t<sizeof(X) == 2, Part<16, 8, Fill::guarded, 2>,
                                     Part<12, 10, Fill::guarded, 2>>;
  using FusedScratch = std::conditional_t<
      sizeof(T) == 8, ShapeList<Part<8, 8, Fill::guarded, 2>, OddPart<8, 8, 2>, OddPart<8, 10, 2>>,
      ShapeList<Scratch, OddPart<12, 8, 2>, Part<8, 8, Fill::scalar, 2>>>;
  using Online =
      ShapeList<Shape<16, 32, chunks(4), wide, Fill::guarded, 2>,
                Shape<16, 32, chunks(4), wide, Fill::edges, 2>, Shape<8, 32, 8, 1, Fill::scalar>,
                Shape<1, 1, 8, 1, Fill::scalar>>;  // where a device has no room for any other

  // ---- For logsumexp, which reads rows and writes next to nothing, so that instructions count.

  /// Doubles in few lanes: what a row takes beside its exponentials is shared by more of them.
  /// Teams as leave registers for that.
  static constexpr int crowded_teams(int entries) {
    return entries > 16 ? 5 : entries == 16 ? 6 : 7;
  }
  template <int lanes, int items>
  using Crowded = Shape<128 / lanes, lanes, items, wide, Fill::guarded, crowded_teams(items* wide)>;
  template <int lanes, int entries>
  using CrowdedOdd = Shape<128 / lanes, lanes, entries, 1, Fill::scalar, crowded_teams(entries)>;
  using ReducedSubgroup = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Crowded<4, 8>, Crowded<8, 6>, Crowded<8, 8>, Crowded<16, 6>, Crowded<16, 8>,
                Crowded<32, 6>, Crowded<32, 8>,  //
                Scalar<1, 2, 4>, Scalar<1, 3, 4>, Scalar<1, 4, 2>, Scalar<1, 6, 2>, Scalar<1, 8, 1>,
                Scalar<2, 8, 1>, Scalar<4, 8, 1>, Scalar<8, 8, 1>,  //
                CrowdedOdd<8, 12>, CrowdedOdd<8, 16>, CrowdedOdd<16, 12>, CrowdedOdd<16, 16>,
                CrowdedOdd<32, 10>, CrowdedOdd<32, 12>, CrowdedOdd<32, 14>, CrowdedOdd<32, 16>,
                CrowdedOdd<32, 20>, CrowdedOdd<32, 26>>,
      Subgroup>;

  /// Small teams for many rows, by tuning tables: for the same reason, and because little of a
  /// row's last tile is empty. Entries of half types stay as they are in memory (PairTile).
  template <int warps>
  using SmallTeams =
      std::conditional_t<sizeof(T) == 8,
                         ShapeList<Shape<warps, 32, 6, wide, Fill::guarded, 28 / warps>,
                                   Shape<warps, 32, 6 * wide, 1, Fill::scalar, 28 / warps>>,
                         ShapeList<Shape<warps, 32, chunks(8), wide, Fill::guarded, 32 / warps>,
                                   Shape<warps, 32, chunks(8), wide, Fill::edges, 32 / warps>>>;
  using HalfOnline = ShapeList<Shape<16, 32, chunks(8), wide, Fill::guarded, 2>,
                               Shape<16, 32, chunks(8), wide, Fill::edges, 2>,
                               Shape<8, 32, 8, 1, Fill::scalar>, Shape<1, 1, 8, 1, Fill::scalar>>;
  using ReducedOnline = std::conditional_t<
      packs<V>,
      std::conditional_t<sizeof(T) == 8,
                         decltype(Online{} + SmallTeams<1>{} + SmallTeams<2>{} + SmallTeams<4>{}),
                         Online>,
      decltype(HalfOnline{} + SmallTeams<1>{} + SmallTeams<4>{} + SmallTeams<8>{})>;
  using ReducedSplitOnline =
      std::conditional_t<packs<V>, SplitOnline,
                         ShapeList<Part<16, 8, Fill::guarded, 2>, Part<16, 6, Fill::edges, 2>,
                                   Part<16, 8, Fill::scalar, online_teams>>>;

  /// Columns in which neighbouring lanes have neighbouring rows; `items` counts 4 bytes.
  template <int warps, int items, int teams>
  using Strided = Shape<warps, 32, items * 4 / sizeof(T), 1, Fill::scalar, teams>;
  /// 16 rows a team, in half a vector each: loads of half a cache line, but the column is read
  /// once.
  using Narrow = Shape<32, 16, 128 / sizeof(T), 1, Fill::scalar, 2>;
  using ColumnHeld = std::conditional_t<
      widens<V>, ShapeList<Strided<8, 8, 0>, Strided<16, 32, 2>, Narrow>,
      ShapeList<Shape<4, 32, 4, 1, Fill::scalar>, Shape<8, 32, 8, 1, Fill::scalar>,
                Strided<16, 16, 2>, Strided<16, 32, 2>, Narrow>>;
  using LongColumn = ShapeList<Strided<16, 24, 2>>;
  using ReducedColumn = ShapeList<Strided<2, 8, 0>, Strided<8, 8, 4>, Strided<16, 24, 2>>;

  /// Of many rows: as few threads as hold the column. What a thread does once is little beside its
  /// entries then, and one alone has nothing to wait for. Teams as leave a lane its registers.
  static constexpr int teams_beside(int registers, int warps) {
    const int all = registers <= 24 && sizeof(T) < 8 ? 32
                    : registers <= 48                ? 24
                    : registers <= 64                ? 18
                                                     : 16;
    return std::max(1, all / warps);
  }
  static constexpr int registers(int entries) { return entries * static_cast<int>(sizeof(T)) / 4; }
  /// Several neighbouring rows a lane, in one load: pieces of a column that are longer than a cache
  /// line, and fewer instructions for an entry of a half type.
  template <int warps, int items, int rows>
  using Chunked =
      Shape<warps, 32, items, rows, Fill::neighbours, teams_beside(registers(items* rows), warps)>;
  /// Several rows a lane, in loads of their own: the same pieces at any address.
  template <int warps, int items, int rows>
  using Apart = Shape<warps, 32, items, 1, Fill::scalar,
                      teams_beside(registers(items* rows) + (rows > 1 ? 16 : 0), warps), rows>;
  using ManyColumnsOfFloats =
      ShapeList<Chunked<1, 2, 4>, Chunked<1, 4, 4>, Chunked<1, 8, 4>, Chunked<1, 12, 4>,
                Chunked<1, 16, 2>, Chunked<1, 24, 2>, Chunked<1, 32, 2>, Chunked<2, 24, 2>,
                Chunked<2, 32, 2>, Chunked<4, 24, 2>, Chunked<4, 32, 2>, Chunked<8, 24, 2>,
                Chunked<8, 32, 2>, Chunked<16, 24, 2>, Chunked<16, 32, 2>,  //
                Apart<1, 12, 2>, Apart<1, 16, 2>, Apart<1, 24, 2>, Apart<1, 32, 2>, Apart<2, 32, 2>,
                Apart<4, 32, 2>, Apart<8, 32, 2>>;
  using ManyColumnsOfHalfs =
      ShapeList<Chunked<1, 2, 8>, Chunked<1, 4, 8>, Chunked<1, 8, 4>, Chunked<1, 12, 4>,
                Chunked<1, 16, 4>, Chunked<2, 12, 4>, Chunked<2, 16, 4>, Chunked<4, 12, 4>,
                Chunked<4, 16, 4>, Chunked<4, 24, 2>, Chunked<4, 32, 2>, Chunked<8, 24, 2>,
                Chunked<8, 32, 2>,  //
                Apart<1, 12, 2>, Apart<1, 16, 2>, Apart<1, 24, 2>, Apart<2, 16, 2>, Apart<2, 32, 2>,
                Apart<4, 32, 2>, Apart<8, 32, 2>>;
  using ManyWidenedColumns =
      ShapeList<Chunked<1, 4, 4>, Chunked<1, 8, 4>, Chunked<1, 16, 4>, Chunked<2, 16, 4>,
                Chunked<4, 16, 4>, Chunked<4, 32, 2>, Chunked<8, 32, 2>,  //
                Apart<1, 16, 2>, Apart<2, 16, 2>, Apart<2, 32, 2>, Apart<4, 32, 2>,
                Apart<8, 32, 2>>;
  using ManyColumnsOfDoubles =
      ShapeList<Chunked<1, 2, 2>, Chunked<1, 4, 2>,  //
                Apart<1, 6, 1>, Apart<1, 8, 1>, Apart<1, 12, 1>, Apart<1, 16, 1>, Apart<2, 12, 1>,
                Apart<2, 16, 1>, Apart<4, 12, 1>, Apart<4, 16, 1>, Apart<8, 12, 1>,
                Apart<8, 16, 1>>;
  using ManyColumnsHeld = std::conditional_t<
      sizeof(T) == 8, ManyColumnsOfDoubles,
      std::conditional_t<packs<V>, ManyColumnsOfFloats,
                         std::conditional_t<widens<V>, ManyWidenedColumns, ManyColumnsOfHalfs>>>;
  using ManyLongColumns = std::conditional_t<
      sizeof(T) == 8, ShapeList<>,
      std::conditional_t<packs<V>, ShapeList<Shape<16, 32, 24, 2, Fill::neighbours>>,
                         ShapeList<Shape<8, 32, 16, 2, Fill::neighbours, 3>>>>;
  /// The last one of a fill serves longer columns too, tile after tile: not the largest, by
  /// measurements on an H200.
  using ManyReducedColumns = std::conditional_t<
      sizeof(T) == 8, ShapeList<Apart<1, 6, 1>, Apart<1, 8, 1>, Apart<1, 12, 1>>,
      ShapeList<Chunked<1, 2, 4>, Chunked<1, 4, 4>, Chunked<1, 8, 4>, Chunked<1, 12, 4>,
                Chunked<1, 16, 4>, Chunked<1, 24, 2>, Chunked<1, 16, 2>,  //
                Apart<1, 12, 2>, Apart<1, 24, 2>, Apart<1, 16, 2>>>;
  /// Several rows a lane, whose loads are neighbours: most lines of rows at odd addresses would be
  /// read by two vectors otherwise. Doubles have no registers for that, and halves more to compute
  /// for a byte: they need more lanes.
  using SplitColumn = std::conditional_t<packs<V> && sizeof(T) == 4,
                                         ShapeList<Shape<16, 32, 24, 1, Fill::scalar, 1, 4>>,
                                         ShapeList<Strided<16, 16, 2>>>;
};

/// For float and double on hosts, where teams of one thread run the GPU schedules for the tests: as
/// small as shows all of their code, since every item is unrolled.
template <class V>
struct HostShapes {
  static constexpr int wide = widest<typename V::X>;
  using Guarded = Shape<1, 1, 16 / wide, wide, Fill::guarded>;
  using Scalar = Shape<1, 1, 16, 1, Fill::scalar>;
  template <int columns>
  using Run = Shape<1, 1, columns / wide, wide, Fill::packed, 0, wide>;
  using Packed = ShapeList<Run<16>, Run<64>>;  // in registers, in scratch
  using Subgroup = ShapeList<Guarded, Scalar>;
  using FusedRegisters = ShapeList<Guarded, Scalar>;
  using SubgroupFew = ShapeList<>;
  using FusedRegistersFew = ShapeList<>;
  using FusedScratch =
      ShapeList<Shape<1, 1, 2, wide, Fill::guarded>, Shape<1, 1, 4, 1, Fill::scalar>>;
  using Online = FusedScratch;
  using ReducedOnline = Online;
  using ReducedSubgroup = Subgroup;
  /// Shares are whole cache lines.
  using Line = Shape<1, 1, 128 / sizeof(typename V::X), 1, Fill::scalar>;
  using SplitOnce = ShapeList<Shape<1, 1, 8, wide, Fill::guarded>, Line>;
  using Split = FusedScratch;
  using SplitOnline = FusedScratch;
  using ReducedSplitOnline = SplitOnline;
  using ColumnHeld = ShapeList<Scalar>;
  using LongColumn = ShapeList<Shape<1, 1, 4, 1, Fill::scalar>>;
  using ReducedColumn = LongColumn;
  using ManyColumnsHeld =
      ShapeList<Shape<1, 1, 16, 2, Fill::neighbours>, Shape<1, 1, 16, 1, Fill::scalar, 0, 2>>;
  using ManyLongColumns =
      ShapeList<Shape<1, 1, 4, 2, Fill::neighbours>, Shape<1, 1, 4, 1, Fill::scalar, 0, 2>>;
  using ManyReducedColumns = ManyLongColumns;
  using SplitColumn = LongColumn;
  using Cluster = ShapeList<>;
};

/// For half types on hosts, which are computed by the host's algorithm alone.
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
using ShapesOf = std::conditional_t<!is_host_space<Exec>, Shapes<Exec, V>,
                                    std::conditional_t<packs<V>, HostShapes<V>, NoShapes>>;

// ---- For searches (KokkosSoftmax_TUNING_SHAPES): shapes beside those of the rule, each with one
// constant changed. The rule never takes them, a tuning table can.

/// On a host there are neither threads nor registers to divide.
template <class S>
inline constexpr bool one_lane = S::threads* S::lanes == 1;

constexpr int fewer_teams(int teams, int team) {
  return teams == 0 ? std::min(32, 1024 / team) : teams * 3 / 4;
}
constexpr int more_teams(int teams, int team) {
  return std::min(32, teams == 0 ? 1536 / team : std::max(teams + 1, teams * 5 / 4));
}
template <class S, int teams>
using WithTeams = Shape<S::threads, S::lanes, S::items, S::width, S::fill,
                        one_lane<S> ? S::min_teams : teams, S::rows_per_thread>;
template <class S>
using FewerTeams = WithTeams<S, fewer_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreTeams = WithTeams<S, more_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreThreads = Shape<one_lane<S> ? 1 : 2 * S::threads, S::lanes, S::items, S::width, S::fill,
                          S::min_teams / 2, S::rows_per_thread>;
template <class S>
using FewerItems =
    Shape<S::threads, S::lanes, S::items / 2, S::width, S::fill, S::min_teams, S::rows_per_thread>;
template <class S>
using MoreItems =
    Shape<S::threads, S::lanes, 2 * S::items, S::width, S::fill, S::min_teams, S::rows_per_thread>;
template <class S>
using MoreRows =
    Shape<S::threads, S::lanes, S::items, S::width, S::fill, S::min_teams, 2 * S::rows_per_thread>;

template <template <class> class Change, class... S>
constexpr auto changed(ShapeList<S...>) {
  return ShapeList<Change<S>...>{};
}

/// The shapes that are compiled for a list of the rule: the list itself, then the others.
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
