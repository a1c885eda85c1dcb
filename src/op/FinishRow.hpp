// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP
#define KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP

#include <Kokkos_Core.hpp>

namespace KokkosSoftmax::Impl {

/// Writes the output of a row whose tile is still held: the thread's part of the row, or the row's
/// one value in the thread for which `first` is true.
template <class Share, class Output>
KOKKOS_FORCEINLINE_FUNCTION void write_share(const Share& share, const typename Share::Row& row,
                                             int thread_id, bool first, const Output& output) {
  if constexpr (Output::one_value_per_row) {
    if (first) *row.y = static_cast<typename Share::Y>(output.value);
  } else {
    share.store(row, 0, thread_id, output);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
