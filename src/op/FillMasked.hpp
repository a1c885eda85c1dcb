// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FILLMASKED_HPP
#define KOKKOSSOFTMAX_SRC_OP_FILLMASKED_HPP

/// \file
/// How the masked columns at the end of a row of y are written.

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <op/FinishRow.hpp>
#include <row/Row.hpp>

namespace KokkosSoftmax::Impl {

/// The result of the masked entries of a row. If no entry of the row counts, it is that of an empty
/// row.
template <RowOp Op, RowState State>
KOKKOS_FORCEINLINE_FUNCTION auto masked_result_of_row(const RowArgs<typename Op::Types>& arguments,
                                                      const State& state) {
  using Y = typename Op::Types::Y;
  using T = typename Op::Types::Compute;
  if (has_nan_results(state)) return masked_result<Op>(arguments.function);
  return with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
    const T kept = Output::keeps_exponentials ? T(0) : -Kokkos::Experimental::infinity_v<T>;
    return static_cast<Y>(Output(state, arguments.empty_rows)(kept));
  });
}

/// to[0] to to[count - 1] = value, by the thread number `thread` of `threads` threads, in stores of
/// 16 bytes where possible. `threads` is at least the number of entries of such a store.
template <class Y>
KOKKOS_FORCEINLINE_FUNCTION void fill(Y* to, std::int64_t count, Y value, int thread, int threads) {
  constexpr int width = widest<Y>;
  const int to_alignment = entries_to_alignment(to, width);
  const int head = count < to_alignment ? static_cast<int>(count) : to_alignment;
  if (thread < head) to[thread] = value;
  Chunk<Y, width> chunk;
  KOKKOSSOFTMAX_IMPL_UNROLL
  for (int k = 0; k < width; ++k) chunk.entry[k] = value;
  auto* const chunks = reinterpret_cast<Chunk<Y, width>*>(to + head);
  const std::int64_t size = (count - head) / width;
  for (std::int64_t c = thread; c < size; c += threads) store_whole(chunks + c, chunk);
  const std::int64_t last = head + size * width + thread;
  if (last < count) to[last] = value;
}

/// The same for entries that are `stride` apart.
template <class Y>
KOKKOS_FORCEINLINE_FUNCTION void fill_strided(Y* to, std::int64_t stride, std::int64_t count,
                                              Y value, int thread, int threads) {
  for (std::int64_t i = thread; i < count; i += threads) to[i * stride] = value;
}

/// Writes the columns of y after those of a row whose source limits rows, by the thread number
/// `thread` of `threads` threads.
template <RowOp Op, class Row, RowState State>
KOKKOS_FORCEINLINE_FUNCTION void fill_masked(const RowArgs<typename Op::Types>& arguments,
                                             const Row& row, const State& state, int thread,
                                             int threads) {
  const std::int64_t count = arguments.problem.columns - row.columns;
  if (count <= 0) return;
  const auto value = masked_result_of_row<Op>(arguments, state);
  auto* const to = row.y + row.columns * row.y_stride;
  if (row.y_stride == 1)
    fill(to, count, value, thread, threads);
  else
    fill_strided(to, row.y_stride, count, value, thread, threads);
}

/// Writes the places of a strided row from number `first` to the end of the part that is worked on.
/// All of them are masked.
template <RowOp Op, class Row, RowState State>
KOKKOS_FORCEINLINE_FUNCTION void fill_after_tiles(const RowArgs<typename Op::Types>& arguments,
                                                  const Row& row, std::int64_t first,
                                                  const State& state, int thread, int threads) {
  const std::int64_t count = row.end - first;
  if (count <= 0) return;
  fill_strided(row.y + first * row.y_stride, row.y_stride, count,
               masked_result_of_row<Op>(arguments, state), thread, threads);
}

/// As finish_masked(), for a tile of a strided row whose source limits rows. The masked places have
/// been written as if they had entries that are -inf.
template <RowOp Op, class Tile, RowState State>
KOKKOS_FORCEINLINE_FUNCTION void finish_masked_end(const RowArgs<typename Op::Types>& arguments,
                                                   const typename Tile::Row& row,
                                                   std::int64_t first, int thread,
                                                   const State& state) {
  if (!has_nan_results(state)) return;
  const auto value = masked_result<Op>(arguments.function);
  const std::int64_t last = row.end - first < Tile::chunks ? row.end : first + Tile::chunks;
  for (std::int64_t c = first + thread; c < last; c += Tile::threads)
    if (c >= row.columns) row.y[c * row.y_stride] = value;
}

}  // namespace KokkosSoftmax::Impl

#endif
