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
  using Subgroup =
      ShapeList<typename Of::template Scalar<1, 8>, typename Of::template Scalar<8, 4>,
                typename Of::template Peeled<8, 16>, typename Of::template Peeled<32, 16>,
                typename Of::template Scalar<32, 16>>;
  using ReducedSubgroup = Subgroup;
  using FusedRegisters = ShapeList<typename Of::template Peeled<32, 16, 4>>;
  using ReducedOnline = typename Of::ReducedOnline;
  using ReducedColumn = typename Of::ReducedColumn;
};

}  // namespace KokkosSoftmax::Impl

#endif
