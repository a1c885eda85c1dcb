// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_BACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_BACKWARD_HPP

/// \file
/// The shapes of BackwardSource for GPUs.

#include <dispatch/Shapes_Host.hpp>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// A lane holds two numbers per entry, so that it has half of the entries that it has in forward
/// passes.
template <class V>
struct BackwardShapes : NoShapes {
  static constexpr int wide = ShapeUnits<V>::wide;
  static constexpr int computed_bytes = static_cast<int>(sizeof(typename V::Compute));
  /// Entries per lane whose pairs take 32 registers.
  static constexpr int some = 64 / computed_bytes;

  static constexpr bool has_halfs = sizeof(typename V::X) == 2;

  /// The number of teams for which a lane has 64 registers, or 96 if it has twice as many entries.
  /// 80 are enough for half types, which stay as they are in memory until all are loaded, and whose
  /// kernels are limited by instructions.
  static constexpr int teams(int warps, int entries) {
    const int resident = entries <= some ? 32 : has_halfs ? 24 : 20;
    return warps > resident ? 1 : resident / warps;
  }
  /// So few lanes that they can't hold the peeled entries of wide chunks have narrower ones.
  static constexpr int width(int lanes) { return lanes < 2 * (wide - 1) ? wide / 2 : wide; }
  template <int lanes, int entries, int warps = 4>
  using Guarded = Shape<warps * 32 / lanes, lanes, entries / wide, wide,
                        AccessMode::guarded_vectors, teams(warps, entries)>;
  template <int lanes, int entries, int warps = 4>
  using Peeled = Shape<warps * 32 / lanes, lanes, entries / width(lanes), width(lanes),
                       AccessMode::peeled_vectors, teams(warps, entries)>;
  template <int lanes, int entries, int warps = 4>
  using Scalar =
      Shape<warps * 32 / lanes, lanes, entries, 1, AccessMode::scalar, teams(warps, entries)>;

  using Subgroup = ShapeList<Guarded<2, wide>, Guarded<4, some / 2>, Guarded<8, some>,
                             Guarded<16, some>, Guarded<32, some>, Scalar<1, 8>, Scalar<8, 4>,
                             Peeled<8, some>, Peeled<16, some>, Peeled<32, some>, Scalar<32, some>>;
  template <class Halfs, class Others>
  using ByType = std::conditional_t<has_halfs, Halfs, Others>;
  /// Half types at any address have more entries per lane, which share what a lane computes for the
  /// row.
  using LongPeeled = ByType<ShapeList<Peeled<32, 2 * some, 4>, Peeled<32, 2 * some, 8>>,
                            ShapeList<Peeled<32, some, 8>, Peeled<32, some, 16>>>;
  using FusedRegisters =
      decltype(ShapeList<Guarded<32, some, 2>, Guarded<32, some, 4>, Guarded<32, some, 8>,
                         Guarded<32, some, 16>, Peeled<32, some, 2>, Peeled<32, some, 4>>{} +
               LongPeeled{} +
               ShapeList<Scalar<32, some, 2>, Scalar<32, some, 4>, Scalar<32, some, 8>,
                         Scalar<32, some, 16>>{});
  using Cluster = decltype(
      ShapeList<Guarded<32, some, 8>, Guarded<32, 2 * some, 8>, Guarded<32, 2 * some, 16>>{} +
      ByType<ShapeList<>, ShapeList<Peeled<32, some, 8>>>{} +
      ShapeList<Peeled<32, 2 * some, 8>, Peeled<32, 2 * some, 16>>{});
  using Online =
      ShapeList<Guarded<32, some / 2, 16>, Peeled<32, some / 2, 16>, Scalar<32, some / 2, 16>>;
  using SplitOnline = Online;
  using ColumnHeld = ShapeList<Scalar<32, some, 1>, Scalar<32, some, 4>, Scalar<32, some, 8>,
                               Scalar<32, some, 16>, Scalar<32, 2 * some, 16>>;
  using LongColumn = ShapeList<Scalar<32, some / 2, 16>>;
  using SplitColumn = LongColumn;
  using TwoPassColumn = ShapeList<Scalar<32, some, 4>>;
  using ClusterColumn = ShapeList<Scalar<32, some, 4>, Scalar<32, some, 8>, Scalar<32, some, 16>,
                                  Scalar<16, some, 16>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
