// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LIMITED_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LIMITED_HPP

/// \file
/// The shapes for GPUs of calls whose only operands are lengths and a causal limit.

#include <dispatch/Shapes_General.hpp>

namespace KokkosSoftmax::Impl {

/// The shapes of LimitedSource. Contiguous rows end at any column, so that vectors have peeled
/// entries.
template <class V>
struct LimitedShapes {
  using General = GeneralShapes<V>;
  static constexpr int wide = General::wide;
  static constexpr bool computes_in_double = General::computes_in_double;
  static constexpr bool has_floats = !computes_in_double && !General::has_halfs;  // x or y

  /// 16 entries per lane, and registers for `teams` teams per multiprocessor
  template <int warps, int teams>
  using Entries16 =
      std::conditional_t<computes_in_double, Shape<warps, 32, 16, 1, AccessMode::scalar, teams>,
                         Shape<warps, 32, 16 / wide, wide, AccessMode::peeled_vectors, teams>>;

  /// The small teams are for short rows, see Rule::fits_small_team().
  using Cluster = std::conditional_t<
      computes_in_double, ShapeList<Entries16<2, 10>, Entries16<5, 4>>,
      std::conditional_t<has_floats, ShapeList<Entries16<2, 16>, Entries16<4, 8>, Entries16<8, 4>>,
                         ShapeList<Entries16<1, 32>, Entries16<2, 16>, Entries16<4, 8>>>>;

  /// For strided rows. Each lane has one row, because neighbours end at different columns.
  template <int warps, int items, int teams>
  using Strided = Shape<warps, 32, items, 1, AccessMode::scalar, teams>;
  using ColumnHeld =
      std::conditional_t<computes_in_double, ShapeList<Strided<4, 16, 6>, Strided<8, 16, 3>>,
                         ShapeList<Strided<4, 32, 5>, Strided<8, 32, 3>>>;
  /// For half types alone: others are faster in clusters, or hardly slower in two passes (measured
  /// on H100 and H200). The second read is of rows that are still in the cache, because the teams
  /// are few.
  using LongColumn =
      std::conditional_t<General::has_halfs, ShapeList<Strided<16, 16, 2>>, ShapeList<>>;
  using TwoPassColumn = ShapeList<Strided<2, 16, computes_in_double ? 8 : 16>>;
  using ClusterColumn =
      std::conditional_t<computes_in_double, ShapeList<Strided<8, 16, 4>, Strided<16, 16, 2>>,
                         std::conditional_t<has_floats, ShapeList<Strided<8, 32, 4>>, ShapeList<>>>;
  /// The rows of teams overlap, see ColumnShapes. (On an H100, doubles of 512 columns would take
  /// 0.8 to 0.9 of the time, and those of 1000 columns 0.84 to 1.04. The number of kernels is
  /// limited.)
  template <int warps, int teams>
  using Overlapping = Shape<warps, 32, 32, 1, AccessMode::whole_sectors, teams, 1, 2>;
  using ClusterColumnOffSectors =
      std::conditional_t<sizeof(typename V::X) == sizeof(float),
                         ShapeList<Overlapping<4, 4>, Overlapping<8, 2>>, ShapeList<>>;

  // For logsumexp, see GeneralShapes
  using ReducedSubgroup =
      ShapeList<typename General::template Peeled<4, 16>, typename General::template Peeled<4, 32>,
                typename General::template Peeled<8, 32>,
                typename General::template Peeled<16, 32>>;
  using ReducedOnline =
      ShapeList<typename General::template Loop<1>, typename General::template Loop<4>>;
  static constexpr int resident_in_column = computes_in_double ? 24 : 32;
  using ReducedColumn = ShapeList<typename General::template InColumn<8, resident_in_column>>;
  using ManyReducedColumns = ShapeList<typename General::template InColumn<1, resident_in_column>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
