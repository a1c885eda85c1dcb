// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SHAPES_HPP
#define KOKKOSSOFTMAX_SRC_SHAPES_HPP

/// \file
/// The shapes that are compiled, one list a schedule. The first shape of a list that can serve a
/// problem is taken, so that lists run from small to large and from fast to general.

#include <Schedule.hpp>

namespace KokkosSoftmax::Impl {

/// For GPUs. A chunk is 16 bytes, whatever the type, so that the numbers fit float and double
/// alike. Register arrays of up to 8 chunks (32 registers) leave room for everything else; the
/// minimum of teams keeps 40 to 64 registers a lane.
template <class Exec, class T>
struct Shapes {
  static constexpr int wide = widest<T>;

  template <int lanes, int items, int rows>
  using Guarded = Shape<128 / lanes, lanes, items, wide, Fill::guarded, 0, rows>;
  template <int lanes, int items>
  using Edges = Shape<128 / lanes, lanes, items, wide, Fill::edges>;
  template <int lanes, int items, int rows = 1>
  using Scalar = Shape<128 / lanes, lanes, items, 1, Fill::scalar, 0, rows>;
  using Subgroup =
      ShapeList<Guarded<1, 2, 2>, Guarded<2, 2, 2>, Guarded<2, 4, 1>, Guarded<4, 4, 1>,
                Guarded<8, 4, 1>, Guarded<16, 4, 1>, Guarded<32, 4, 1>, Guarded<32, 8, 1>,  //
                Scalar<1, 4, 2>, Scalar<2, 4, 2>, Scalar<2, 8, 1>, Scalar<4, 8, 1>,         //
                Edges<8, 2>, Edges<8, 4>, Edges<16, 4>, Edges<32, 4>, Edges<32, 8>,         //
                Scalar<8, 8, 1>, Scalar<32, 4>, Scalar<32, 8>, Scalar<32, 16>>;

  template <int warps, int items, int min_teams, Fill fill>
  using Row = Shape<warps, 32, items, wide, fill, min_teams>;
  using FusedRegisters = ShapeList<
      Row<2, 4, 20, Fill::exact>, Row<2, 4, 20, Fill::guarded>, Row<2, 4, 18, Fill::edges>,
      Row<2, 6, 16, Fill::guarded>, Row<2, 6, 16, Fill::edges>,  //
      Row<4, 4, 10, Fill::exact>, Row<4, 4, 10, Fill::guarded>, Row<4, 4, 9, Fill::edges>,
      Row<4, 6, 8, Fill::guarded>, Row<4, 6, 8, Fill::edges>,  //
      Row<4, 8, 7, Fill::exact>, Row<4, 8, 8, Fill::guarded>, Row<4, 8, 7, Fill::edges>,
      Row<8, 6, 4, Fill::guarded>, Row<8, 6, 4, Fill::edges>,  //
      Row<8, 8, 3, Fill::exact>, Row<8, 8, 4, Fill::guarded>, Row<8, 8, 3, Fill::edges>,
      Row<16, 6, 2, Fill::guarded>, Row<16, 6, 2, Fill::edges>,  //
      Row<16, 8, 2, Fill::exact>, Row<16, 8, 2, Fill::guarded>, Row<16, 8, 2, Fill::edges>>;

  using FusedScratch =
      ShapeList<Shape<8, 32, 4, wide, Fill::guarded>, Shape<8, 32, 4, wide, Fill::edges>,
                Shape<8, 32, 8, 1, Fill::scalar>>;
  using Online =
      ShapeList<Shape<16, 32, 4, wide, Fill::guarded, 2>, Shape<16, 32, 4, wide, Fill::edges, 2>,
                Shape<8, 32, 8, 1, Fill::scalar>>;
  using Column = ShapeList<Shape<4, 32, 4, 1, Fill::scalar>, Shape<8, 32, 8, 1, Fill::scalar>,
                           Shape<16, 32, 16, 1, Fill::scalar, 2>>;
};

/// For host execution spaces, where teams of one thread run the GPU schedules for the tests.
template <class T>
struct HostShapes {
  static constexpr int wide = widest<T>;
  using Guarded = Shape<1, 1, 64 / wide, wide, Fill::guarded>;
  using Scalar = Shape<1, 1, 64, 1, Fill::scalar>;
  using Subgroup = ShapeList<Guarded, Scalar>;
  using FusedRegisters = ShapeList<Guarded, Scalar>;
  using FusedScratch =
      ShapeList<Shape<1, 1, 8, wide, Fill::guarded>, Shape<1, 1, 8, 1, Fill::scalar>>;
  using Online = FusedScratch;
  using Column = ShapeList<Shape<1, 1, 8, 1, Fill::scalar>>;
};

}  // namespace KokkosSoftmax::Impl

#endif
