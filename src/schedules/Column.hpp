// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP

#include <OnlineSum.hpp>
#include <Tile.hpp>

namespace KokkosSoftmax::Impl {

/// What a lane works with where rows lie side by side and each lane of a vector has a row of its
/// own, so that a load is coalesced over the rows; the team's threads share the columns.
template <class V, class Shape>
using ColumnTile = Tile<V, Shape::items, 1, Shape::threads, Fill::scalar, true>;

/// One team's panel of neighbouring rows.
template <class Exec, class V, class Shape>
class ColumnTeam {
 public:
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Row = typename ColumnTile<V, Shape>::Row;
  using State = LogSumExpState<T>;
  static constexpr int rows = Shape::lanes;

  KOKKOS_FORCEINLINE_FUNCTION ColumnTeam(const Member& member, const KernelArguments<V>& arguments)
      : m_member(member),
        m_lane(lane_number<Shape::lanes>(member)),
        m_row(arguments.first_row + static_cast<std::int64_t>(member.league_rank()) * rows +
              m_lane),
        m_is_row(m_row < arguments.problem.rows),
        m_first_row(arguments.first_row) {}

  KOKKOS_FORCEINLINE_FUNCTION int thread() const { return m_member.team_rank(); }
  /// The last panel may have more lanes than rows.
  KOKKOS_FORCEINLINE_FUNCTION bool is_row() const { return m_is_row; }
  KOKKOS_FORCEINLINE_FUNCTION Row row(const KernelArguments<V>& arguments) const {
    return Row(arguments, m_is_row ? m_row : m_first_row);
  }

  /// The threads' states of each row, merged. Two barriers, so that each thread takes one
  /// exponential to rescale its own sum and none for those of the others.
  KOKKOS_FORCEINLINE_FUNCTION State merge(const State& mine) const {
    const Scratch maxima(m_member.team_scratch(0), Shape::threads * rows);
    const Scratch sums(m_member.team_scratch(0), Shape::threads * rows);
    const int place = thread() * rows + m_lane;
    maxima(place) = mine.max;
    m_member.team_barrier();
    State all;
    for (int t = 0; t < Shape::threads; ++t) all.max = larger(all.max, maxima(t * rows + m_lane));
    sums(place) = mine.sum * rescaling(mine.max, all.max);
    m_member.team_barrier();
    for (int t = 0; t < Shape::threads; ++t) all.sum += sums(t * rows + m_lane);
    return all;
  }
  static std::size_t scratch_bytes() { return 2 * Scratch::shmem_size(Shape::threads * rows); }

 private:
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  const Member& m_member;
  int m_lane;
  std::int64_t m_row;
  bool m_is_row;
  std::int64_t m_first_row;
};

/// Columns that fit the threads' registers: one read, one write.
template <class Exec, class V, Operation operation, class Shape>
struct ColumnHeldKernel {
  using Team = ColumnTeam<Exec, V, Shape>;
  using T = typename V::Compute;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;
  static constexpr int rows_per_team = Team::rows;
  static constexpr std::int64_t max_columns = ColumnTile<V, Shape>::chunks;

  KernelArguments<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const Team team(member, arguments);
    const auto row = team.row(arguments);
    ColumnTile<V, Shape> tile;
    tile.load(arguments, row, 0, team.thread());
    const T reference = Exp::reference(tile.max(-Kokkos::Experimental::infinity_v<T>));
    const T sum = tile.template sum<Output::keeps_weights>(Exp(reference));
    const auto all = team.merge({reference, sum});
    if (team.is_row())
      write_share(tile, row, team.thread(), team.thread() == 0,
                  Output(all, reference, arguments.empty_rows));
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) { return Team::scratch_bytes(); }
};

/// Columns of any length, read twice: the second time backwards, to find their end in the cache.
template <class Exec, class V, Operation operation, class Shape>
struct ColumnKernel {
  using Team = ColumnTeam<Exec, V, Shape>;
  using T = typename V::Compute;
  using Piece = ColumnTile<V, Shape>;
  using Output = Epilogue<operation, V>;
  static constexpr int rows_per_team = Team::rows;

  KernelArguments<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const Team team(member, arguments);
    const auto row = team.row(arguments);
    OnlineSum<typename Output::Exp, T> sum;
    for (std::int64_t first = 0; team.is_row() && first < row.columns; first += Piece::chunks) {
      Piece piece;
      piece.load(arguments, row, first, team.thread());
      sum.add(piece);
    }
    const auto all = team.merge(sum.state());
    if (!team.is_row()) return;
    if constexpr (Output::one_value_a_row) {
      if (team.thread() == 0) *row.y = static_cast<typename V::Y>(all.value());
    } else {
      const EntryEpilogue<Output, T> output(all, arguments.empty_rows);
      const std::int64_t last = (row.columns - 1) / Piece::chunks * Piece::chunks;
      for (std::int64_t first = last; first >= 0; first -= Piece::chunks) {
        Piece piece;
        piece.load(arguments, row, first, team.thread());
        piece.store(row, first, team.thread(), output);
      }
    }
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) { return Team::scratch_bytes(); }
};

}  // namespace KokkosSoftmax::Impl

#endif
