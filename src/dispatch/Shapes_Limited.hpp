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
  static constexpr bool are_floats = !computes_in_double && !General::has_halfs;

  /// 16 entries per lane, and registers for `teams` teams per multiprocessor
  template <int warps, int teams>
  using Entries16 =
      std::conditional_t<computes_in_double, Shape<warps, 32, 16, 1, AccessMode::scalar, teams>,
                         Shape<warps, 32, 16 / wide, wide, AccessMode::peeled_vectors, teams>>;

  /// The small teams are for short rows, see Rule::fits_small_team().
  using Cluster = std::conditional_t<
      computes_in_double, ShapeList<Entries16<2, 10>, Entries16<5, 4>>,
      std::conditional_t<are_floats, ShapeList<Entries16<2, 16>, Entries16<4, 8>, Entries16<8, 4>>,
                         ShapeList<Entries16<1, 32>, Entries16<2, 16>, Entries16<4, 8>>>>;

  /// Each lane has one row, because neighbours end at different columns.
  using TwoPassColumn =
      ShapeList<Shape<2, 32, 16, 1, AccessMode::scalar, computes_in_double ? 8 : 16>>;

  // For logsumexp
  using ReducedSubgroup =
      ShapeList<typename General::template Peeled<8, 16>, typename General::template Peeled<16, 16>,
                typename General::template Peeled<32, 16>>;
  using ReducedOnline =
      ShapeList<typename General::template Loop<1>, typename General::template Loop<4>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
