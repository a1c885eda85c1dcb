// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP

#include <OnlineSum.hpp>
#include <Tile.hpp>

namespace KokkosSoftmax::Impl {

/// Rows whose entries lie apart while neighbouring rows lie side by side: each lane of a vector
/// works on a row of its own, so that a load is coalesced over the rows, and the team's threads
/// share the columns. What fits the threads' registers is read once, longer rows twice.
template <class Exec, class V, Operation operation, class Shape>
struct ColumnKernel {
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Piece = Tile<V, Shape::items, 1, Shape::threads, Fill::scalar>;
  using Row = typename Piece::Row;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;
  static constexpr int rows_per_team = Shape::lanes;

  KernelArguments<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int thread = member.team_rank();
    const std::int64_t r =
        arguments.first_row + static_cast<std::int64_t>(member.league_rank()) * lanes + lane;
    const bool there = r < arguments.problem.rows;
    const Row row(arguments, there ? r : arguments.first_row);
    const ScratchStates<Exec, T> states(member.team_scratch(0), Shape::threads * lanes);

    Piece piece;  // after the first pass: the last tile
    piece.clear();
    OnlineSum<Exp, T> sum;
    for (std::int64_t first = 0; there && first < row.columns; first += Piece::chunks) {
      piece.load(arguments, row, first, thread);
      sum.add(piece);
    }
    states(thread * lanes + lane) = sum.state();
    member.team_barrier();
    if (!there) return;
    LogSumExpState<T> all;
    for (int t = 0; t < Shape::threads; ++t) all.merge(states(t * lanes + lane));

    if constexpr (Output::one_value_a_row) {
      if (thread == 0) *row.y = static_cast<typename V::Y>(all.value());
    } else {
      const EntryEpilogue<Output, T> output(all, arguments.empty_rows);
      const std::int64_t last = (row.columns - 1) / Piece::chunks * Piece::chunks;
      piece.store(row, last, thread, output);
      for (std::int64_t first = last - Piece::chunks; first >= 0; first -= Piece::chunks) {
        piece.load(arguments, row, first, thread);
        piece.store(row, first, thread, output);
      }
    }
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) {
    return ScratchStates<Exec, T>::shmem_size(Shape::threads * Shape::lanes);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
