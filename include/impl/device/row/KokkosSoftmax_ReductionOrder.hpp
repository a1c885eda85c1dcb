// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_ROW_REDUCTIONORDER_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_ROW_REDUCTIONORDER_HPP

/// \file
/// The order in which GPUs add up a row if the result must not depend on who computes it: that of
/// calls with Options::reproducible, and of the calls inside kernels. docs/in_kernels.md describes
/// it.

#include <Kokkos_Core.hpp>
#include <cstdint>

namespace KokkosSoftmax::Impl {

/// The order depends on the number of columns, on the types V and on the number of inputs per entry
/// (2 in backward passes). A row is divided among `warps` virtual warps of 32 virtual lanes.
/// Virtual lane l of virtual warp w has the columns l + 32 w, l + 32 w + 32 warps, and so on. It
/// adds its entries to `accumulators` partial sums in turn. The sums of the lanes of a warp are
/// then added by halves, and last those of the warps.
///
/// Each virtual warp of a row that is held has its own reference. Virtual lanes of longer rows
/// have a running state each (OnlineSum).
template <class V, int inputs>
struct ReductionOrder {
  static constexpr int lanes = 32;
  static constexpr int most_warps = 16;

  /// The most entries per virtual lane of a row that is held.
  static constexpr int held_entries = inputs == 1 ? 16 : 64 / int(sizeof(typename V::Compute));

  /// The virtual warps of a longer row, and the number of entries that a lane adds in one step.
  static constexpr int online_warps = inputs == 1 ? 8 : 16;
  static constexpr int online_items = inputs == 1 ? 8 : held_entries / 2;

  /// The columns that `warps` virtual warps hold.
  static constexpr std::int64_t held_columns(int warps) {
    return std::int64_t(lanes) * held_entries * warps;
  }

  /// The number of virtual warps that hold a row of so many columns; 0 if it is longer.
  KOKKOS_FUNCTION static constexpr int held_warps(std::int64_t columns) {
    for (int warps = 1; warps <= most_warps; warps *= 2)
      if (columns <= std::int64_t(lanes) * held_entries * warps) return warps;
    return 0;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
