// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLITCOLUMN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLITCOLUMN_HPP

/// \file
/// The schedule `split_column`: panels of neighbouring strided rows that are divided over groups of
/// teams.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <op/RowOutputs.hpp>
#include <op/SecondRead.hpp>
#include <row/TileOf.hpp>
#include <schedules/split/PanelStates.hpp>
#include <schedules/split/RowLoop.hpp>
#include <utility>

namespace KokkosSoftmax::Impl {

/// The largest number of rows of a panel; the team must have as many lanes. With more rows, the
/// pieces of memory per read are longer, and more states are exchanged. The number is smaller if
/// there are more teams per multiprocessor.
template <class Shape>
inline constexpr int split_panel = std::min(panel_rows_per_multiprocessor /
                                                std::max(1, Shape::min_teams),
                                            Shape::threads* Shape::lanes);

template <class Exec, RowState State, class Shape>
using PanelGroup = TeamGroup<PanelStates<Exec, State, Shape::threads, Shape::lanes,
                                         split_panel<Shape>, Shape::rows_per_thread>>;

/// A team for strided rows that lie side by side. A panel of neighbouring rows is divided over the
/// teams of a group, so that a few rows occupy the whole device. Each lane has `slots` slots. The
/// slots of a team are assigned to the rows of the panel in turn, so that they read neighbouring
/// entries whatever the number of rows is. Of the n slots that share a row, slot s processes
/// columns s, s + n, s + 2n, ... of the team's segment. Rows are read twice.
template <class Exec, class Op, class Source, class Shape>
class SplitColumnTeam
    : public RowLoop<SplitColumnTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>,
                     PanelGroup<Exec, typename Op::State, Shape>> {
 public:
  static constexpr int slots = Shape::rows_per_thread;
  static_assert(Shape::items % slots == 0, "the items are divided among the slots");
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Group = PanelGroup<Exec, typename Op::State, Shape>;
  using Loop = RowLoop<SplitColumnTeam, ArgumentsOf<Source>, Group>;
  /// The tile of one slot. The columns of the slot are treated as a row.
  using RowTile = TileOf<Source, Shape::items / slots, 1, 1, AccessMode::scalar, Strides::any>;
  using Row = typename RowTile::Row;
  using typename Loop::Member;
  using typename Loop::Merged;

  KOKKOS_FORCEINLINE_FUNCTION SplitColumnTeam(const Member& member,
                                              const ArgumentsOf<Source>& arguments,
                                              const SplitWorkspace& workspace,
                                              const SplitPlan& plan)
      : Loop(member, lane_number<Shape::lanes>(member), arguments, workspace, plan) {}

 protected:
  friend Loop;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of_slot(std::uint32_t panel, int k) const {
    return std::int64_t(panel) * this->m_plan.panel.rows + this->m_group.states().row(k);
  }
  /// Whether slot k processes row r. The last panel can be smaller than the others, and some slots
  /// can be left over.
  KOKKOS_FORCEINLINE_FUNCTION bool is_row(std::int64_t r, int k) const {
    return r < this->m_arguments.problem.rows &&
           this->m_group.states().lane_in_row(k) < this->m_plan.panel.lanes_per_row;
  }

  /// The columns of slot k in the team's segment of its row, as a row.
  KOKKOS_FORCEINLINE_FUNCTION Row columns_of_slot(std::uint32_t panel, int k) const {
    const std::int64_t r = row_of_slot(panel, k);
    Row row(this->m_arguments, is_row(r, k) ? r : 0);
    this->cut_to_share(row);
    const int lanes_per_row = this->m_plan.panel.lanes_per_row;
    const std::int64_t first = this->begin() + this->m_group.states().lane_in_row(k);
    const bool has_columns = is_row(r, k) && first < row.end;
    row.x += first * row.x_stride;
    row.y += first * row.y_stride;
    row.numbers.set(first, lanes_per_row);
    row.x_stride *= lanes_per_row;
    row.y_stride *= lanes_per_row;
    row.end = has_columns ? divide_up(row.end - first, lanes_per_row) : 0;
    return row;
  }

  struct SlotRows {
    Row slot[slots];

    /// The end of the longest row. The lengths differ by at most one, except for slots without a
    /// row.
    KOKKOS_FORCEINLINE_FUNCTION std::int64_t end() const {
      std::int64_t end = slot[0].end;
      for (int k = 1; k < slots; ++k) end = slot[k].end > end ? slot[k].end : end;
      return end;
    }
  };
  template <std::size_t... k>
  KOKKOS_FORCEINLINE_FUNCTION SlotRows columns_of_slots(std::uint32_t panel,
                                                        std::index_sequence<k...>) const {
    return {{columns_of_slot(panel, static_cast<int>(k))...}};
  }
  KOKKOS_FORCEINLINE_FUNCTION SlotRows columns_of_slots(std::uint32_t panel) const {
    return columns_of_slots(panel, std::make_index_sequence<slots>{});
  }

  KOKKOS_FORCEINLINE_FUNCTION void load(const SlotRows& row, std::int64_t first,
                                        RowTile (&tile)[slots]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < slots; ++k) tile[k].load(this->m_arguments, row.slot[k], first, 0);
  }

  KOKKOS_FORCEINLINE_FUNCTION typename Group::Contribution sum(std::uint32_t panel) const {
    const SlotRows row = columns_of_slots(panel);
    auto contributed =
        with_output<Op>(this->m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
          return reduce<typename Output::Exp>(row);
        });
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < slots; ++k)
      second_read_of_thread<RowTile>(this->m_arguments, 0, 0, contributed.slot[k], [&] {
        std::uint32_t again = panel;
        make_opaque(again);
        return columns_of_slot(again, k);
      });
    return contributed;
  }

  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION typename Group::Contribution reduce(const SlotRows& row) const {
    OnlineSum<Exp, typename Op::State> sum[slots];
    const std::int64_t end = longest_read(this->m_arguments, row.slot, row.end());
    for (std::int64_t first = 0; first < end; first += RowTile::chunks) {
      RowTile tile[slots];
      load(row, first, tile);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < slots; ++k) sum[k].add(tile[k]);
    }
    typename Group::Contribution contributed;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < slots; ++k) contributed.slot[k] = sum[k].state();
    return contributed;
  }

  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint32_t panel, const Merged& all) const {
    if constexpr (!Op::writes_entries) {
      write_values(panel, all);
    } else {
      with_output<Op>(this->m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
        write_entries<EntryOutput<Op, Output>>(panel, all);
      });
      for_each_row(panel, all, [&](std::int64_t r, const auto& state) {
        finish_beside<Op>(this->m_arguments, r, state);
      });
    }
  }

  /// Calls finish(row, state) in one slot per row of the panel.
  template <class Finish>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_row(std::uint32_t panel, const Merged& all,
                                                const Finish& finish) const {
    if (this->m_group.index() != 0) return;
    for (int k = 0; k < slots; ++k) {
      const std::int64_t r = row_of_slot(panel, k);
      if (is_row(r, k) && this->m_group.states().lane_in_row(k) == 0)
        finish(r, all(this->m_group.states().row(k)));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_values(std::uint32_t panel, const Merged& all) const {
    for_each_row(panel, all, [&](std::int64_t r, const auto& state) {
      finish_row<Op>(this->m_arguments, state, Row(this->m_arguments, r).y);
    });
  }

  /// Reads backwards, because the end of the first read is still in the cache.
  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION void write_entries(std::uint32_t panel, const Merged& all) const {
    const SlotRows row = columns_of_slots(panel);
    const auto output_of = row_outputs<Output, slots>([&](int k) {
      return Output(all(this->m_group.states().row(k)), this->m_arguments.empty_rows);
    });
    const std::int64_t tiles = divide_up(row.end(), RowTile::chunks);
    for (std::int64_t first = (tiles - 1) * RowTile::chunks; first >= 0; first -= RowTile::chunks) {
      RowTile tile[slots];
      load(row, first, tile);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < slots; ++k) tile[k].store(row.slot[k], first, 0, output_of(k));
      if constexpr (knows_rows<Source>)
        for (int k = 0; k < slots; ++k)
          finish_masked<Op, RowTile>(this->m_arguments, row.slot[k], first, 0,
                                     all(this->m_group.states().row(k)));
    }
  }
};

template <class Exec, class Op, class Source, class Shape>
using SplitColumnKernel =
    SplitKernel<SplitColumnTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>>;

}  // namespace KokkosSoftmax::Impl

#endif
