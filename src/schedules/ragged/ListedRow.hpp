// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_LISTEDROW_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_LISTEDROW_HPP

#include <row/RaggedWindow.hpp>
#include <row/RaggedWork.hpp>

namespace KokkosSoftmax::Impl {

/// Adds a row to the lists of RaggedTeamsKernel: as a whole, or in parts if it is long. All
/// `threads` threads of the team or vector that has the row call it.
///
/// \tparam Sizes  the sizes of the kernels that read the lists
template <class Sizes, int threads, class Arguments>
KOKKOS_FORCEINLINE_FUNCTION void list_row(const Arguments& arguments, const RowPart& row,
                                          int thread_id) {
  const RaggedLists& lists = arguments.work;
  if (row.end - row.begin <= Sizes::longest_of_team) {
    if (thread_id == 0) lists.add(row);
    return;
  }
  const RaggedWindows windows(arguments.problem.offset, arguments.problem.rows, Sizes::window);
  if (thread_id == 0) lists.add_long_row(windows, row.row);
  const std::int64_t first = windows.window_of(row.row);
  const std::int64_t last = first + windows.continuations(row.row);
  for (std::int64_t w = first + 1 + thread_id; w <= last; w += threads) {
    const RowPart part = windows.continued_part(w, row.row);
    if (part.begin < part.end) lists.add(LongRowPart{part, w, first});
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
