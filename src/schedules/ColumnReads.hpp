// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMNREADS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMNREADS_HPP

/// \file
/// The two reads of strided rows that no team holds, tile after tile, by the lanes of a ColumnTeam.

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FillMasked.hpp>
#include <op/FinishRow.hpp>
#include <op/RowOutputs.hpp>
#include <row/RowArgs.hpp>

namespace KokkosSoftmax::Impl {

/// Reduces the lane's rows over their first `columns` entries. `see(k, tile, first)` is called with
/// each tile of row k.
template <class Exp, class Team, class See>
KOKKOS_FORCEINLINE_FUNCTION void reduce_columns(const typename Team::Arguments& arguments,
                                                const Team& team, const typename Team::Rows& rows,
                                                std::int64_t columns,
                                                typename Team::State (&state)[Team::Tiles::rows],
                                                const See& see) {
  using Tiles = typename Team::Tiles;
  OnlineSum<Exp, typename Team::State> sum[Tiles::rows];
  const std::int64_t end = longest_read(arguments, rows.row, columns);
  for (std::int64_t first = 0; first < end; first += Tiles::chunks) {
    auto tiles = team.tiles();
    tiles.load(arguments, rows.row, first, team.thread());
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) {
      sum[k].add(tiles[k]);
      see(k, tiles[k], first);
    }
  }
  KOKKOSSOFTMAX_IMPL_UNROLL
  for (int k = 0; k < Tiles::rows; ++k) state[k] = sum[k].state();
}

/// Writes the output of the lane's rows in their first `columns` places, given the states of the
/// rows. The read goes backwards, because the end of the rows is still in the cache. The lanes of a
/// vector write as many tiles as the longest of their rows has, so that stores are coalesced. After
/// these, all places are masked.
template <class Op, class Output, class Team>
KOKKOS_FORCEINLINE_FUNCTION void write_columns(
    const typename Team::Arguments& arguments, const Team& team, const typename Team::Rows& rows,
    std::int64_t columns, const typename Team::State (&all)[Team::Tiles::rows]) {
  using Tiles = typename Team::Tiles;
  const auto output_of =
      row_outputs<Output, Tiles::rows>([&](int k) { return Output(all[k], arguments.empty_rows); });
  if constexpr (limits_rows<typename Team::Source>) {
    const std::int64_t longest = team.longest_of_lanes(rows);
    if (longest < columns) columns = longest;
  }
  const std::int64_t tiles_of_column = (columns + Tiles::chunks - 1) / Tiles::chunks;
  for (std::int64_t first = (tiles_of_column - 1) * Tiles::chunks; first >= 0;
       first -= Tiles::chunks) {
    auto tiles = team.tiles();
    tiles.load(arguments, rows.row, first, team.thread());
    tiles.store(rows.row, first, team.thread(), output_of, [&](int k) { return team.is_row(k); });
    team.template finish_masked_rows<Op>(rows, first, all);
  }
  if constexpr (limits_rows<typename Team::Source>) {
    static_assert(!Team::in_sectors, "fill_after_tiles() fills all rows of the team");
    if (team.is_row(0))
      fill_after_tiles<Op>(arguments, rows.row[0], tiles_of_column * Tiles::chunks, all[0],
                           team.thread(), Tiles::RowTile::threads);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
