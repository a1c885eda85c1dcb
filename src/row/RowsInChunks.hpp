// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROWSINCHUNKS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROWSINCHUNKS_HPP

#include <cstdint>

namespace KokkosSoftmax::Impl {

/// Whether the rows of an array that are neighbours along its last outer axis lie side by side, in
/// chunks of `width` rows that are aligned in each column (AccessMode::vectors_across_rows).
/// `outer_stride(d)` is the stride along the outer axis number d; strides are in entries.
template <class OuterStride>
bool are_rows_in_chunks(const void* data, int entry_bytes, std::int64_t column_stride,
                        int outer_rank, const OuterStride& outer_stride, int width) {
  const int fastest = outer_rank - 1;
  // only the low bits matter, so that all distances are combined by bitwise or
  std::uint64_t offsets = reinterpret_cast<std::uintptr_t>(data) / entry_bytes |
                          static_cast<std::uint64_t>(column_stride);
  for (int d = 0; d < fastest; ++d) offsets |= static_cast<std::uint64_t>(outer_stride(d));
  return outer_stride(fastest) == 1 && offsets % static_cast<std::uint64_t>(width) == 0;
}

}  // namespace KokkosSoftmax::Impl

#endif
