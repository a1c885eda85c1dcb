// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAREDKERNELS_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAREDKERNELS_HPP

/// \file
/// Which kernels the outputs of an operation share. A shared kernel saves the build time and the
/// size of another one. It branches twice per row, and has the code of all outputs, which a GPU
/// fetches from memory in each launch. docs/tuning.md has the measurements.

#include <KokkosSoftmax_Options.hpp>
#include <dispatch/Shapes_Units.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <row/Source.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Whether a kernel is as fast if it has the code of several outputs. (In `subgroup`, calls with
/// operands take up to 1.06 times as long, and those with a few columns up to 1.08. Strided doubles
/// with operands take up to 1.04 times as long. `fused_registers` of half types with loads of one
/// entry wasn't measured; it is for `reproducible`. The number of kernels is limited.)
template <class Source, class Shape>
constexpr bool outputs_share_kernel(Algorithm algorithm) {
  using V = typename Source::Types;
  constexpr bool computes_float = sizeof(typename V::Compute) == 4;
  constexpr bool halfs_throughout = sizeof(typename V::Y) == 2;
  constexpr int entries = Shape::items * Shape::width;  // per lane and row
  switch (algorithm) {
    case Algorithm::packed:
    case Algorithm::fused_scratch:
    case Algorithm::online:
    case Algorithm::split_online:
    case Algorithm::two_pass_column:
      return true;
    case Algorithm::column:
    case Algorithm::cluster_column:
      return computes_float || knows_rows<Source>;
    case Algorithm::cluster:
      return computes_float && !halfs_throughout;
    case Algorithm::fused_registers:  // not the shapes for few rows, whose launches are short
      return computes_float &&
             (Shape::access == AccessMode::scalar || (!halfs_throughout && entries > 8));
    case Algorithm::subgroup:
      // without operands, not rows in one lane or two, which have little work per row
      return computes_float && (knows_rows<Source> || ((!halfs_throughout || Shape::width == 1) &&
                                                       Shape::lanes > 2 && Shape::threads > 1));
    case Algorithm::split:  // peeled entries and both outputs would take too many registers
      return computes_float && output_is_wider<V> && Shape::access != AccessMode::peeled_vectors;
    default:  // split_column, whose teams wait for the slowest one
      return false;
  }
}

/// The operation of a kernel that computes the output of Op with the number `function`.
template <RowOp Op, int function, Algorithm algorithm, class Source, class Shape>
using KernelOp =
    std::conditional_t<Op::Outputs::size == 1 || outputs_share_kernel<Source, Shape>(algorithm), Op,
                       OneOutput<Op, function>>;

}  // namespace KokkosSoftmax::Impl

#endif
