// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_PARTSOFVECTORSKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_PARTSOFVECTORSKERNEL_HPP

/// \file
/// The kernel for ragged rows whose mean length suits a part of a vector's lanes.

#include <Kokkos_BitManipulation.hpp>
#include <schedules/ragged/ListedRow.hpp>
#include <schedules/ragged/Shape.hpp>
#include <schedules/ragged/TeamRows.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The lanes of a vector are divided into equal parts. Each part holds one row in registers. Then
/// the whole vector computes the rows that are too long for a part, one after the other. Rows that
/// are too long for a vector are listed.
template <class Exec, class Op, class RowShape, class Sizes>
class RaggedPartsOfVectorsKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = RowShape::lanes;
  static constexpr int lanes_of_part = RowShape::lanes_of_part;
  static constexpr int vectors = RowShape::OfTeams::threads;  // of a team
  static constexpr int parts = lanes / lanes_of_part;         // of a vector
  static constexpr int rows_per_team = vectors * parts;

  std::int64_t first_row = 0;  // of this launch

  explicit RaggedPartsOfVectorsKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int lane = lane_number<lanes>(member);
    const std::int64_t vector =
        static_cast<std::int64_t>(member.league_rank()) * vectors + member.team_rank();
    const RowPart row = row_number(first_row + vector * parts + lane / lanes_of_part);
    const bool is_short = row.end - row.begin <= RowShape::longest_of_part;
    compute_parts(member, is_short ? row : no_row(), lane % lanes_of_part);
    std::uint32_t longer = Intrinsics::ballot(!is_short && lane % lanes_of_part == 0);
    for (; longer != 0; longer &= longer - 1) {
      const int from = Kokkos::Experimental::countr_zero_builtin(longer);
      compute_or_list(member,
                      RowPart{Intrinsics::value_of_lane(row.row, from),
                              Intrinsics::value_of_lane(row.begin, from),
                              Intrinsics::value_of_lane(row.end, from)},
                      lane);
    }
  }

  static std::size_t scratch_bytes() { return 0; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static RowPart no_row() { return {-1, 0, 0}; }

  KOKKOS_FORCEINLINE_FUNCTION RowPart row_number(std::int64_t r) const {
    const auto& problem = m_arguments.problem;
    return r < problem.rows ? RowPart{r, problem.offset(r), problem.offset(r + 1)} : no_row();
  }

  /// Computes the rows of all parts in tiles that aren't much longer than the longest one of them.
  KOKKOS_FORCEINLINE_FUNCTION void compute_parts(const Member& member, const RowPart& row,
                                                 int lane) const {
    constexpr int items = RowShape::items;
    const auto is_any_longer_than = [&](std::int64_t longest) {
      return Intrinsics::any_lane(row.end - row.begin > longest);
    };
    if (!Intrinsics::any_lane(row.row >= 0)) return;
    if (items >= 4 && !is_any_longer_than(RowShape::longest_of_part / 4))
      compute_in<lanes_of_part, (items + 3) / 4>(member, row, lane);
    else if (!is_any_longer_than(RowShape::longest_of_part / 2))
      compute_in<lanes_of_part, (items + 1) / 2>(member, row, lane);
    else
      compute_in<lanes_of_part, items>(member, row, lane);
  }

  KOKKOS_FORCEINLINE_FUNCTION void compute_or_list(const Member& member, const RowPart& row,
                                                   int lane) const {
    if (row.end - row.begin <= RowShape::longest_of_team)
      compute_in<lanes, RowShape::items>(member, row, lane);
    else
      list_row<Sizes, lanes>(m_arguments, row, lane);
  }

  /// Computes a row in the registers of `lanes_of_row` lanes. All lanes of the vector call it
  /// together. Nothing is written for row -1.
  template <int lanes_of_row, int items>
  KOKKOS_FORCEINLINE_FUNCTION void compute_in(const Member& member, const RowPart& part,
                                              int lane) const {
    using Tile =
        TileOf<typename Op::Source, items, RowShape::width, lanes_of_row, RowShape::access>;
    using State = typename RaggedRowState<Op>::type;
    using T = typename Op::T;
    const auto arguments = m_arguments.row(part.begin, part.end);
    const typename Tile::Row row(arguments, part.row, m_arguments.pointers(part.begin));
    Tile tile;
    tile.load(arguments, row, 0, lane);
    State state = reduce_tile<typename Op::Rows, State, lanes_of_row>(member, tile, 0);
    second_read_of_lanes<Tile, lanes_of_row, EntryNumber::few>(member, arguments, 0, lane, state,
                                                               [&] { return row; });
    if (part.row >= 0) Op::write_row(m_arguments, tile, row, lane, part.row, state, T(1));
  }

  Arguments m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
