// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDSCRATCH_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_FUSEDSCRATCH_HPP

#include <CompensatedSum.hpp>
#include <RowReduction.hpp>
#include <Tile.hpp>

namespace KokkosSoftmax::Impl {

/// A row in the level-0 scratch memory of a team: its tiles go through registers, and are parked in
/// scratch between the passes. Each lane reads back only what it wrote, so that nothing but the
/// merge of the states needs a barrier.
template <class Exec, class V, Operation operation, class Shape>
struct FusedScratchKernel {
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Piece = Tile<V, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::fill>;
  using Row = typename Piece::Row;
  using Places = Kokkos::View<Chunk<T, Shape::width>*, typename Exec::scratch_memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Output = Epilogue<operation, T>;
  using Exp = typename Output::Exp;
  static constexpr int rows_per_team = 1;

  KernelArguments<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const int rank = member.team_rank() * lanes + lane;
    const Row row(arguments, arguments.first_row + member.league_rank());
    const int tiles = static_cast<int>(tile_count(row.columns));  // a row in scratch is short
    const Places places(member.team_scratch(0), tiles * Piece::chunks);
    const ScratchStates<Exec, T> states(member.team_scratch(0), Shape::threads);

    T edge = -Kokkos::Experimental::infinity_v<T>;  // belongs to no chunk, see Fill::edges
    T max = edge;
    for (int t = 0; t < tiles; ++t) {
      Piece piece;
      piece.load(arguments, row, t * Piece::chunks, rank);
      if (t == 0) edge = piece.edge;
      max = piece.max(max);
      park(piece, places, t, rank);
    }
    max = max_over_lanes<lanes>(member, max);

    LogSumExpState<T> mine{Exp::reference(max), T(0)};
    const Exp exp(mine.max);
    CompensatedSum<T> sum;
    for (int t = 0; t < tiles; ++t) {
      Piece piece = fetch(places, t, rank, edge);
      sum.add(piece.template sum<Output::keeps_weights>(exp));
      if (t == 0) edge = piece.edge;
      if constexpr (Output::keeps_weights) park(piece, places, t, rank);
    }
    mine.sum = sum_over_lanes<lanes>(member, sum.value());
    const auto all = merge_over_team<Shape::threads, lanes>(member, lane, states, mine);

    const Output output(all, mine.max, arguments.empty_rows);
    if constexpr (Output::one_value_a_row) {
      if (rank == 0) *row.y = static_cast<typename V::Y>(output.value);
    } else {
      for (int t = 0; t < tiles; ++t)
        fetch(places, t, rank, edge).store(row, t * Piece::chunks, rank, output);
    }
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Places::shmem_size(static_cast<std::size_t>(tile_count(columns) * Piece::chunks)) +
           ScratchStates<Exec, T>::shmem_size(Shape::threads);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t tile_count(std::int64_t columns) {
    constexpr std::int64_t size = Piece::chunks * Shape::width;
    return (columns + size - 1) / size;
  }

  KOKKOS_FORCEINLINE_FUNCTION static void park(const Piece& piece, const Places& places, int tile,
                                               int rank) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Piece::items; ++i) {
      Chunk<T, Shape::width> chunk;
      for (int k = 0; k < Shape::width; ++k) chunk.entry[k] = piece.value[i * Shape::width + k];
      places(tile * Piece::chunks + i * Piece::threads + rank) = chunk;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION static Piece fetch(const Places& places, int tile, int rank, T edge) {
    Piece piece;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Piece::items; ++i) {
      const auto chunk = places(tile * Piece::chunks + i * Piece::threads + rank);
      for (int k = 0; k < Shape::width; ++k) piece.value[i * Shape::width + k] = chunk.entry[k];
    }
    piece.edge = tile == 0 ? edge : -Kokkos::Experimental::infinity_v<T>;
    return piece;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
