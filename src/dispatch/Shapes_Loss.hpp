// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_LOSS_HPP

/// \file
/// The shapes of LossSource for GPUs: as few as serve all widths. A row is read once, and nearly
/// nothing is written.

#include <dispatch/Shapes_General.hpp>

namespace KokkosSoftmax::Impl {

template <class V>
struct LossShapes : NoShapes {
  using Of = GeneralShapes<V>;
  template <int lanes, int entries, int warps = 4>
  using Peeled = typename Of::template PeeledOf<lanes, entries, warps, Of::teams_of_scalars(warps)>;
  template <int lanes, int entries, int warps = 4>
  using Scalar = typename Of::template Scalar<lanes, entries, warps>;
  /// Entries per lane: 64 bytes, or 128 of doubles.
  static constexpr int many = sizeof(typename V::X) == 2 ? 32 : 16;

  using Subgroup = ShapeList<Scalar<1, 8>, Scalar<1, 16>, Scalar<1, 24>, Scalar<8, 4>,
                             Peeled<8, 16>, Peeled<32, 16>, Scalar<32, 16>>;
  using ReducedSubgroup = Subgroup;
  using FusedRegisters = ShapeList<Peeled<32, many, 2>, Peeled<32, many, 4>, Peeled<32, many, 8>>;
  using ReducedOnline = ShapeList<Peeled<32, many, 8>, Scalar<32, 8, 16>>;
  using ReducedColumn = typename Of::ReducedColumn;
  using ManyReducedColumns = ShapeList<Scalar<32, 8, 2>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
