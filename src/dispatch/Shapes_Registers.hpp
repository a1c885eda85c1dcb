// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_REGISTERS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_REGISTERS_HPP

/// \file
/// The shapes of `packed`, `subgroup` and `fused_registers` for GPUs: rows that one team holds in
/// registers (or, in `packed`, several rows in its scratch memory).

#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

template <class V>
struct RegisterShapes : ShapeUnits<V> {
  using Units = ShapeUnits<V>;
  using typename Units::T;
  using Units::chunks;
  using Units::items_per_chunk;
  using Units::wide;

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
  static constexpr bool gives_halfs = sizeof(typename V::Y) == 2;
  /// The number of teams for which there are enough registers in spite of the peeled entries: 72
  /// per lane for 8 items (64 for half types), 64 for 6.
  static constexpr int any_alignment_teams(int items) {
    return items == 8 ? (gives_halfs ? 8 : 7) : items == 6 ? 8 : 0;
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
  using PackedFullPrecision = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<DenseRows<3, 16>, DenseRows<4, 14>, DenseRows<5, 14>, DenseRows<7, 11>,
                DenseRows<8, 10>, DenseRows<10, 9>, DenseRows<12>, DenseRows<16>, DenseRows<20>>,
      ShapeList<DenseRows<3, 16>, DenseRows<4, 16>, DenseRows<5, 14>, DenseRows<6, 12>,
                DenseRows<8, 11>, DenseRows<9, 9>, DenseRows<10, 9>, DenseRows<12>, DenseRows<16>>>;
  /// Rows of a few half types are so short that a team must have several per lane.
  template <int items, int rows>
  using SeveralDenseRows = Shape<2, 32, items, wide, AccessMode::dense_rows, 16, rows>;
  using PackedHalfs = ShapeList<SeveralDenseRows<1, 8>, SeveralDenseRows<2, 4>, DenseRows<3, 16>,
                                DenseRows<4, 12>, DenseRows<5, 10>>;
  using Packed =
      std::conditional_t<is_full_precision<V>, PackedFullPrecision,
                         std::conditional_t<output_is_wider<V>, ShapeList<>, PackedHalfs>>;
  /// Longer rows of half types, in few lanes, which share what a row takes besides its entries.
  /// (The numbers of lanes, pairs and teams were measured on an H200.)
  template <int lanes, int pairs, int teams>
  using DensePairs = Shape<64 / lanes, lanes, pairs, 2, AccessMode::dense_pairs, teams>;
  using PackedPairs = std::conditional_t<
      gives_halfs,
      ShapeList<DensePairs<2, 13, 16>, DensePairs<2, 16, 14>, DensePairs<2, 24, 10>,
                DensePairs<4, 13, 16>, DensePairs<4, 16, 14>, DensePairs<4, 25, 10>>,
      ShapeList<>>;
  /// Four rows of three doubles take as many registers as two rows of four, and are slower.
  using ThreeEntries = std::conditional_t<sizeof(T) == 8, ShapeList<>, ShapeList<Scalar<1, 3, 4>>>;
  /// Half types have such rows in `packed`, except if there are gaps between rows.
  using SeveralRows =
      std::conditional_t<gives_halfs, ShapeList<>, ShapeList<Scalar<1, 4, 2>, Scalar<1, 6, 2>>>;
  using ShortAlignedRows =
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Guarded<8, 4, 1>, Guarded<16, 3, 1>, Guarded<16, 4, 1>, Guarded<32, 3, 1>,
                Guarded<32, 4, 1>, Guarded<32, 8, 1>>;
  using ShortScalarRows = decltype(ShapeList<Scalar<1, 2, 4>>{} + ThreeEntries{} + SeveralRows{} +
                                   ShapeList<Scalar<1, 8, 1>, Scalar<2, 8, 1>, Scalar<4, 8, 1>>{});
  /// For short rows of odd length. Loads of one entry by many lanes are fast if few lanes have
  /// nothing to load. They are then faster than a few chunks with peeled entries.
  using AnyAlignmentShortRows =
      ShapeList<Scalar<8, 8>, Scalar<8, 10>, Scalar<8, 12>, AnyAlignment<8, 4>, Scalar<16, 10>,
                Scalar<16, 12>, Scalar<16, 16>, Scalar<32, 10>, Scalar<32, 12>, Scalar<32, 16>,
                AnyAlignment<32, 6>, AnyAlignment<32, 8>>;
  /// For half types, whose entries are too small for loads of one entry.
  using ScalarHalfRows = ShapeList<Scalar<8, 8>, Scalar<32, 4>, Scalar<32, 8>, Scalar<32, 16>>;
  template <int lanes, int entries, int width, int teams>
  using PeeledHalfs =
      Shape<128 / lanes, lanes, entries / width, width, AccessMode::peeled_vectors, teams>;
  /// So few lanes that each has 16 to 32 entries, in chunks that are narrow if lanes are few.
  using AnyAlignmentShortHalfRows = decltype(
      ShapeList<PeeledHalfs<4, 20, 2, 9>, PeeledHalfs<8, 16, 4, 10>, PeeledHalfs<16, 16, 8, 10>,
                PeeledHalfs<16, 24, 8, 8>, PeeledHalfs<32, 16, 8, 10>, PeeledHalfs<32, 24, 8, 9>,
                PeeledHalfs<32, 32, 8, 8>>{} +
      ScalarHalfRows{});
  using AnyAlignmentShortWideningRows =
      decltype(ShapeList<Scalar<8, 8>, AnyAlignment<8, 4>, AnyAlignment<16, 3>, AnyAlignment<16, 4>,
                         AnyAlignment<32, 3>, AnyAlignment<32, 4>, AnyAlignment<32, 8>>{} +
               ScalarHalfRows{});
  /// For double, some shapes for any alignment are scalar ones, and rounding up makes some shapes
  /// equal. Each shape is taken once.
  using AnySubgroup = decltype(
      ShapeList<>{} + ShortAlignedRows{} + ShortScalarRows{} +
      std::conditional_t<is_full_precision<V>, AnyAlignmentShortRows,
                         std::conditional_t<output_is_wider<V>, AnyAlignmentShortWideningRows,
                                            AnyAlignmentShortHalfRows>>{});

  /// The number of teams of 128 lanes for which a lane has the registers to hold `entries` entries.
  /// Without such a bound the compiler may take twice as many (163 in place of 98 for 16 doubles,
  /// depending on the code after the stores).
  static constexpr int subgroup_teams(int entries, int width, int rows) {
    if constexpr (sizeof(T) == 8) {
      if (rows == 1) return entries <= 8 ? 8 : entries <= 10 ? 7 : entries <= 12 ? 6 : 5;
      return entries > 8 ? 7 : rows == 2 ? 8 : 9;
    } else if constexpr (gives_halfs) {
      return entries < 16 || (entries == 16 && width > 1) ? 10 : entries <= 24 ? 9 : 8;
    } else {
      return entries <= 16 ? 10 : 7;
    }
  }
  template <class S>
  using Bounded = std::conditional_t<
      S::min_teams != 0, S,
      Shape<S::threads, S::lanes, S::items, S::width, S::access,
            subgroup_teams(S::items* S::width* S::rows_per_thread, S::width, S::rows_per_thread),
            S::rows_per_thread>>;
  template <class... S>
  static ShapeList<Bounded<S>...> bounded(ShapeList<S...>);
  /// Kernels for results that are wider than the entries don't need the bound.
  using Subgroup =
      std::conditional_t<output_is_wider<V>, AnySubgroup, decltype(bounded(AnySubgroup{}))>;

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
    if (items > 8) return gives_halfs ? 1024 : 768;
    return items == 6 || (access == AccessMode::guarded_vectors && sizeof(T) == 4) ? 1024 : 896;
  }
  static constexpr int resident_teams(int warps, int items, AccessMode access) {
    // Half types alone have such teams. Without a third one, the compiler takes 63 registers in
    // place of 56, for which there is no room.
    if (warps == 12 && access == AccessMode::guarded_vectors) return 3;
    return warps == 16 ? 2 : resident_threads(items, access) / (32 * warps);
  }
  /// A shape for one row per team. `items` counts units of 16 bytes per lane, whatever the width of
  /// a load is.
  template <AccessMode access, int warps, int items>
  using Row = Shape<warps, 32, access == AccessMode::scalar ? items * wide : chunks(items),
                    access == AccessMode::scalar ? 1 : wide, access,
                    resident_teams(warps, chunks(items) * items_per_chunk, access)>;
  /// Teams of `warps` warps whose lanes have 5 to 8 items.
  template <AccessMode access, int warps, bool has_seven>
  using WholeItems =
      decltype(ShapeList<Row<access, warps, 5>, Row<access, warps, 6>>{} +
               std::conditional_t<has_seven, ShapeList<Row<access, warps, 7>>, ShapeList<>>{} +
               ShapeList<Row<access, warps, 8>>{});
  /// With peeled entries, 7 items are as slow as 8, except for the largest teams.
  static constexpr bool has_seven(AccessMode access) {
    return access != AccessMode::peeled_vectors;
  }
  template <AccessMode access>
  using WholeItemRows = decltype(
      WholeItems<access, 2, has_seven(access)>{} + WholeItems<access, 4, has_seven(access)>{} +
      std::conditional_t<sizeof(T) == 8, ShapeList<Row<access, 4, 9>>, ShapeList<>>{} +
      WholeItems<access, 8, has_seven(access)>{} + WholeItems<access, 16, true>{});
  template <AccessMode access>
  using WideningRows =
      ShapeList<Row<access, 2, 6>, Row<access, 2, 8>, Row<access, 4, 6>, Row<access, 4, 8>,
                Row<access, 8, 5>, Row<access, 8, 6>, Row<access, 8, 8>, Row<access, 16, 8>>;
  /// If a chunk takes two items, there are fewer numbers of chunks to choose from, but more team
  /// sizes.
  template <AccessMode access>
  using HalfRows =
      ShapeList<Row<access, 2, 6>, Row<access, 2, 8>, Row<access, 2, 10>, Row<access, 3, 8>,
                Row<access, 4, 8>, Row<access, 4, 10>, Row<access, 6, 8>, Row<access, 8, 8>,
                Row<access, 8, 10>, Row<access, 12, 8>, Row<access, 16, 8>>;
  template <AccessMode access>
  using Rows = std::conditional_t<
      output_is_wider<V>, WideningRows<access>,
      std::conditional_t<items_per_chunk == 1, WholeItemRows<access>, HalfRows<access>>>;
  /// Not for half types, which are as fast or faster with guards: without guards, the compiler
  /// takes all registers.
  using ExactRows = std::conditional_t<
      is_full_precision<V>,
      decltype(std::conditional_t<sizeof(T) == 8, ShapeList<>,
                                  ShapeList<Row<AccessMode::full_tile, 2, 8>>>{} +
               ShapeList<Row<AccessMode::full_tile, 4, 8>, Row<AccessMode::full_tile, 8, 8>,
                         Row<AccessMode::full_tile, 16, 8>>{}),
      ShapeList<>>;
  /// For ReductionOrder: its numbers of warps, and its entries per lane. Doubles have such shapes.
  template <int warps, int entries>
  using InOrder = Shape<warps, 32, entries, 1, AccessMode::scalar,
                        resident_teams(warps, entries / widest<T>, AccessMode::scalar)>;
  using RowsInOrder = ShapeList<InOrder<2, 16>, InOrder<4, 16>, InOrder<8, 16>, InOrder<16, 16>>;
  using FusedRegisters =
      std::conditional_t<sizeof(T) == 8, decltype(ExactRows{} + Rows<AccessMode::scalar>{}),
                         decltype(ExactRows{} + Rows<AccessMode::guarded_vectors>{} +
                                  Rows<AccessMode::peeled_vectors>{} + RowsInOrder{})>;

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
  /// The number of teams leaves a lane the registers that it needs.
  static constexpr int lse_half_teams(int entries) { return entries > 32 ? 8 : 10; }
  /// Aligned rows of half types, in loads of 16 bytes whatever the type of the results is. A lane
  /// has 32 or 64 entries, also if half of the slots are empty: so few lanes share what a row takes
  /// besides its entries.
  template <int lanes, int entries, int rows = 1>
  using LseHalfs = Shape<128 / lanes, lanes, entries / widest<typename V::X>, widest<typename V::X>,
                         AccessMode::guarded_vectors, lse_half_teams(entries), rows>;
  using ShortAlignedHalfRows =
      ShapeList<Guarded<1, 2, 2>, LseHalfs<1, 16, 2>, LseHalfs<1, 32>, LseHalfs<2, 32>,
                LseHalfs<4, 32>, LseHalfs<8, 32>, LseHalfs<8, 64>, LseHalfs<16, 64>>;
  /// The same at any address.
  using ShortHalfRowsAtAnyAddress =
      ShapeList<PeeledHalfs<4, 16, 2, 10>, PeeledHalfs<4, 20, 2, 9>, PeeledHalfs<8, 16, 4, 10>,
                PeeledHalfs<8, 24, 4, 10>, PeeledHalfs<8, 32, 4, 10>, PeeledHalfs<8, 64, 4, 8>,
                PeeledHalfs<16, 64, 8, 8>, Scalar<8, 8>, Scalar<32, 8>, Scalar<32, 16>>;
  /// Floats gain nothing from a shape for each number of items.
  using ReducedFloats = decltype(
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Guarded<8, 4, 1>, Guarded<16, 4, 1>, Guarded<32, 4, 1>, Guarded<32, 8, 1>>{} +
      ShortScalarRows{} + AnyAlignmentShortRows{});
  using ReducedHalfs = decltype(ShortAlignedHalfRows{} + ShortScalarRows{} +
                                ShortHalfRowsAtAnyAddress{});
  using ReducedSubgroup = std::conditional_t<
      sizeof(T) == 8,
      ShapeList<Guarded<1, 2, 2>, Guarded<1, 4, 1>, LseDense<1, 8>, LseDense<2, 6>, LseDense<2, 8>,
                LseDense<4, 6>, LseDense<4, 8>, LseDense<8, 6>, LseDense<8, 8>, LseDense<16, 6>,
                LseDense<16, 8>, LseDense<32, 6>, LseDense<32, 8>,  //
                Scalar<1, 2, 4>, Scalar<1, 3, 4>, Scalar<1, 4, 2>, Scalar<1, 6, 2>, Scalar<1, 8, 1>,
                Scalar<2, 8, 1>, Scalar<4, 8, 1>, Scalar<8, 8, 1>,  //
                LseDenseAnyAlignment<8, 12>, LseDenseAnyAlignment<8, 16>,
                LseDenseAnyAlignment<16, 12>, LseDenseAnyAlignment<16, 16>,
                LseDenseAnyAlignment<32, 10>, LseDenseAnyAlignment<32, 12>,
                LseDenseAnyAlignment<32, 14>, LseDenseAnyAlignment<32, 16>,
                LseDenseAnyAlignment<32, 20>, LseDenseAnyAlignment<32, 26>>,
      std::conditional_t<sizeof(typename V::X) == 2, ReducedHalfs, ReducedFloats>>;
  /// Tuning tables have other algorithms for many rows of double. Few rows gain little from a shape
  /// for each number of items.
  template <int warps, int items>
  using LseRow = Row<AccessMode::scalar, warps, items>;
  using ReducedFusedRegisters =
      std::conditional_t<sizeof(T) == 8,
                         decltype(ExactRows{} +
                                  ShapeList<LseRow<2, 8>, LseRow<4, 6>, LseRow<4, 8>, LseRow<8, 6>,
                                            LseRow<8, 8>, LseRow<16, 8>>{}),
                         FusedRegisters>;
};

}  // namespace KokkosSoftmax::Impl

#endif
