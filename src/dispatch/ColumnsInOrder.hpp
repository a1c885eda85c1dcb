// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_COLUMNSINORDER_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_COLUMNSINORDER_HPP

/// \file
/// Which compiled kernels add up a row in ReductionOrder, so that a call with Options::reproducible
/// has the bits of a call inside a kernel.

#include <cstdint>
#include <dispatch/SharedKernels.hpp>
#include <impl/device/op/KokkosSoftmax_OpInOrder.hpp>
#include <impl/device/row/KokkosSoftmax_ReductionOrder.hpp>
#include <limits>
#include <row/LossSource.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Numbers of columns.
struct ColumnRange {
  std::int64_t first = 0;
  std::int64_t last = -1;  ///< the last one; less than `first` if the range is empty

  constexpr bool contains(std::int64_t columns) const {
    return first <= columns && columns <= last;
  }
};

/// Whether calls inside kernels can have the source's rows.
template <class Source>
inline constexpr bool is_ordered = !knows_rows<Source> && !has_labels<Source>;

/// The numbers of columns for which the kernel of a shape adds up a row in ReductionOrder. A kernel
/// of another state than RowInOrder's has other bits.
template <Algorithm algorithm, RowOp Op, int function, class Source, class Shape>
constexpr ColumnRange columns_in_order() {
  if constexpr (is_ordered<Source> && Shape::access == AccessMode::scalar) {
    using Order = ReductionOrder<typename Op::Types, has_two_inputs<Source> ? 2 : 1>;
    constexpr bool has_state =
        std::is_same_v<HeldState<KernelOp<Op, function, algorithm, Source, Shape>>,
                       HeldState<OpInOrder<Op, function>>>;
    constexpr int warps = Shape::threads;
    if (algorithm == Algorithm::subgroup && has_state) {
      // Up to 8 entries per lane are added by halves, whatever the number of lanes is.
      constexpr std::int64_t by_halves = 8 * Shape::lanes;
      return {0, Shape::lanes == Order::lanes ? Order::held_columns(1) : by_halves};
    }
    if (algorithm == Algorithm::fused_registers && Shape::lanes == Order::lanes && has_state &&
        Order::held_warps(Order::held_columns(warps)) == warps)
      return {Order::held_columns(warps / 2) + 1, Order::held_columns(warps)};
    if (algorithm == Algorithm::online && Shape::lanes == Order::lanes &&
        warps == Order::online_warps && Shape::items == Order::online_items)
      return {Order::held_columns(Order::most_warps) + 1, std::numeric_limits<std::int64_t>::max()};
  }
  return {};
}

}  // namespace KokkosSoftmax::Impl

#endif
