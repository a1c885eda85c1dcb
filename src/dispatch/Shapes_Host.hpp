// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HOST_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_HOST_HPP

/// \file
/// The shapes for hosts.

#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// For hosts that have the algorithm `host` alone: half types, and all types in libraries without
/// tests.
struct NoShapes {
  using SubgroupFew = ShapeList<>;
  using FusedRegistersFew = ShapeList<>;
  using Packed = ShapeList<>;
  using PackedPairs = ShapeList<>;
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
  using ManyColumnsOffSectors = ShapeList<>;
  using ManyLongColumnsOffSectors = ShapeList<>;
  using ClusterColumn = ShapeList<>;
  using ClusterColumnOffSectors = ShapeList<>;
  using ClusterColumnInPairs = ShapeList<>;
  using ManyLongColumns = ShapeList<>;
  using ManyReducedColumns = ShapeList<>;
  using SplitColumn = ShapeList<>;
  using TwoPassColumn = ShapeList<>;
  using ReducedTwoPassColumn = ShapeList<>;
  using Cluster = ShapeList<>;
};

/// For float and double on hosts, where the tests run the GPU schedules with teams of one thread.
/// The shapes are as small as possible while they still cover all of the code, because every item
/// is unrolled.
template <class V>
struct HostShapes : NoShapes {
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
  /// More rows than the entries of a sector.
  using ManyColumnsOffSectors = ShapeList<Shape<1, 1, 8, 1, AccessMode::whole_sectors, 0, 16>>;
  using ManyLongColumnsOffSectors = ShapeList<Shape<1, 1, 4, 1, AccessMode::whole_sectors, 0, 16>>;
  using ManyLongColumns = ShapeList<Shape<1, 1, 4, 2, AccessMode::vectors_across_rows>,
                                    Shape<1, 1, 4, 1, AccessMode::scalar, 0, 2>>;
  using ManyReducedColumns = ManyLongColumns;
  using SplitColumn = LongColumn;
  using TwoPassColumn = ShapeList<Shape<1, 1, 4, 2, AccessMode::phase_vectors>>;
  using ReducedTwoPassColumn = TwoPassColumn;
};

/// The same for GeneralSource.
template <class V>
struct HostGeneralShapes : NoShapes {
  using Subgroup = ShapeList<Shape<1, 1, 16, 1, AccessMode::scalar>>;
  using ReducedSubgroup = Subgroup;
  using FusedRegisters = Subgroup;
  using Online = ShapeList<Shape<1, 1, 4, 1, AccessMode::scalar>>;
  using ReducedOnline = Online;
  using SplitOnline = Online;
  using ReducedSplitOnline = Online;
  template <int items>
  using InPairs = ShapeList<Shape<1, 1, items, 2, AccessMode::vectors_across_rows>>;
  using ColumnHeld = decltype(InPairs<16>{} + Subgroup{});
  using LongColumn = decltype(InPairs<4>{} + Online{});
  using ReducedColumn = LongColumn;
  using SplitColumn = Online;
  using TwoPassColumn = Online;
  using ReducedTwoPassColumn = Online;
  using FusedScratch = Online;
  using Split = Online;
};

/// The same for WeightedSource, whose rows are only reduced.
template <class V>
struct HostWeightedShapes : NoShapes {
  using General = HostGeneralShapes<V>;
  using ReducedSubgroup = typename General::ReducedSubgroup;
  using FusedRegisters = typename General::FusedRegisters;
  using ReducedOnline = typename General::ReducedOnline;
  using ReducedSplitOnline = typename General::ReducedSplitOnline;
  using ReducedColumn = typename General::Online;
  using SplitColumn = typename General::SplitColumn;
};

/// The same for BackwardSource.
template <class V>
struct HostBackwardShapes : NoShapes {
  static constexpr int wide = widest<typename V::X>;
  using Guarded = Shape<1, 1, 16 / wide, wide, AccessMode::guarded_vectors>;
  using Scalar = Shape<1, 1, 16, 1, AccessMode::scalar>;
  using Subgroup = ShapeList<Guarded, Scalar>;
  using FusedRegisters = Subgroup;
  using Online = ShapeList<Shape<1, 1, 4, 1, AccessMode::scalar>>;
  using SplitOnline = Online;
  using ColumnHeld = ShapeList<Shape<1, 1, 16, 2, AccessMode::vectors_across_rows>, Scalar>;
  using LongColumn = Online;
  using SplitColumn = Online;
  using TwoPassColumn = Online;
};

/// The same for LossSource.
template <class V>
struct HostLossShapes : NoShapes {
  using Subgroup = ShapeList<Shape<1, 1, 16, 1, AccessMode::scalar>>;
  using ReducedSubgroup = Subgroup;
  using FusedRegisters = Subgroup;
  using Online = ShapeList<Shape<1, 1, 4, 1, AccessMode::scalar>>;
  using ReducedOnline = Online;
  using LongColumn = Online;
  using ReducedColumn = Online;
};

}  // namespace KokkosSoftmax::Impl

#endif
