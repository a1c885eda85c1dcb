// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLITCOLUMN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLITCOLUMN_HPP

#include <OnlineSum.hpp>
#include <schedules/Column.hpp>
#include <split/Rounds.hpp>

namespace KokkosSoftmax::Impl {

/// Strided rows that lie side by side over groups of teams. As in ColumnKernel each lane has a row
/// of its own; a panel of neighbouring rows is split over the teams of a group, so that few rows
/// occupy the whole device. Read twice.
template <class Exec, class V, Operation operation, class Shape>
class SplitColumnTeam
    : public SplitRounds<
          SplitColumnTeam<Exec, V, operation, Shape>, V,
          RowGroup<Exec, typename V::Compute, Shape::threads, Shape::lanes, Shape::lanes>> {
 public:
  using T = typename V::Compute;
  using Group = RowGroup<Exec, T, Shape::threads, Shape::lanes, Shape::lanes>;
  using Rounds = SplitRounds<SplitColumnTeam, V, Group>;
  using Piece = ColumnTile<V, Shape>;
  using Row = typename Piece::Row;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;
  using typename Rounds::Member;
  using typename Rounds::State;

  KOKKOS_FORCEINLINE_FUNCTION SplitColumnTeam(const Member& member,
                                              const KernelArguments<V>& arguments,
                                              const SplitWorkspace& workspace,
                                              const SplitPlan& plan)
      : Rounds(member, lane_number<Shape::lanes>(member), arguments, workspace, plan) {}

 protected:
  friend Rounds;

  /// The row of this lane; behind the last one in a panel that isn't full.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of_lane(std::uint32_t panel) const {
    return std::int64_t(panel) * Shape::lanes + this->m_lane;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_row(std::int64_t r) const {
    return r < this->m_arguments.problem.rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION Row share_of(std::int64_t r) const {
    Row row(this->m_arguments, r);
    this->cut_to_share(row);
    return row;
  }

  KOKKOS_FORCEINLINE_FUNCTION State sum(std::uint32_t panel) const {
    OnlineSum<Exp, T> sum;
    const std::int64_t r = row_of_lane(panel);
    if (!is_row(r)) return sum.state();
    const Row row = share_of(r);
    for (std::int64_t first = this->begin(); first < row.end; first += Piece::chunks) {
      Piece piece;
      piece.load(this->m_arguments, row, first, this->m_member.team_rank());
      sum.add(piece);
    }
    return sum.state();
  }

  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint32_t panel, const State& all) const {
    const std::int64_t r = row_of_lane(panel);
    if (!is_row(r)) return;
    const Row row = share_of(r);
    const int thread = this->m_member.team_rank();
    if constexpr (Output::one_value_a_row) {
      if (this->m_group.index() == 0 && thread == 0)
        *row.y = static_cast<typename V::Y>(all.value());
    } else {
      const EntryEpilogue<Output, T> output(all, this->m_arguments.empty_rows);
      const std::int64_t tiles = (row.end - this->begin() + Piece::chunks - 1) / Piece::chunks;
      std::int64_t first = this->begin() + (tiles - 1) * Piece::chunks;
      for (; first >= this->begin(); first -= Piece::chunks) {
        Piece piece;
        piece.load(this->m_arguments, row, first, thread);
        piece.store(row, first, thread, output);
      }
    }
  }
};

template <class Exec, class V, Operation operation, class Shape>
using SplitColumnKernel = SplitKernel<SplitColumnTeam<Exec, V, operation, Shape>, V>;

}  // namespace KokkosSoftmax::Impl

#endif
