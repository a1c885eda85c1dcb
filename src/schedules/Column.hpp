// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_COLUMN_HPP

/// \file
/// The schedule `column`: strided rows whose neighbours lie side by side in memory, worked on by
/// the lanes of one team.

#include <op/CrossEntropy.hpp>
#include <op/FillMasked.hpp>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <row/AlignedTiles.hpp>
#include <row/ColumnTiles.hpp>
#include <row/NeighbourPairs.hpp>
#include <row/SectorTiles.hpp>
#include <schedules/ColumnReads.hpp>

namespace KokkosSoftmax::Impl {

/// In place of SectorPanels and SectorPanel: the rows of teams follow one another.
struct RowsInOrder {};

/// How the rows of a call are divided among teams, and the rows of one team.
template <class V, class Shape>
using PanelsOf = std::conditional_t<Shape::access == AccessMode::whole_sectors,
                                    SectorPanels<typename V::Y>, RowsInOrder>;
template <class V, class Shape>
using PanelOf = std::conditional_t<Shape::access == AccessMode::whole_sectors,
                                   SectorPanel<typename V::Y>, RowsInOrder>;

/// The tiles of the rows of a lane, as a type in an std::type_identity.
template <class Source, class Shape, class Panel>
constexpr auto tiles_of_lane() {
  if constexpr (Shape::access == AccessMode::whole_sectors)
    return std::type_identity<SectorTiles<Source, Shape>>{};
  else if constexpr (Shape::access == AccessMode::phase_vectors)
    return std::type_identity<AlignedTiles<Source, Shape, Panel>>{};
  else if constexpr (Shape::access == AccessMode::vectors_across_rows && has_two_inputs<Source>)
    return std::type_identity<NeighbourPairs<Source, Shape>>{};
  else
    return std::type_identity<ColumnTiles<Source, Shape>>{};
}

/// The panel of neighbouring rows that one team works on. Each lane of a vector has its own rows,
/// so that a load is coalesced over the rows. The rows of a lane are either neighbours, which one
/// load moves together, or they are `Shape::lanes` rows apart. A team can have several groups of
/// threads (`Shape::panels`), each with rows of its own. `Member_` is a team of Kokkos or of a
/// cluster. `Panel_` has the rows of the team: a RowsInOrder, a SectorPanel or a PassPart.
template <class Exec, RowState State_, class Source_, class Shape,
          class Member_ = typename Kokkos::TeamPolicy<Exec>::member_type,
          class Panel_ = PanelOf<typename Source_::Types, Shape>>
class ColumnTeam {
 public:
  using Source = Source_;
  using Arguments = ArgumentsOf<Source>;
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Member = Member_;
  using Panel = Panel_;
  static constexpr bool in_sectors = Shape::access == AccessMode::whole_sectors;
  static constexpr bool has_panel = !std::is_same_v<Panel, RowsInOrder>;
  static constexpr bool in_phases = Shape::access == AccessMode::phase_vectors;
  static_assert(!limits_rows<Source> || !in_phases,
                "a lane loads rows that end elsewhere together");
  using Tiles = typename decltype(tiles_of_lane<Source, Shape, Panel>())::type;
  using Row = typename Tiles::Row;
  using State = State_;
  static constexpr int rows_per_lane = Tiles::rows;
  static constexpr int rows_of_group = Shape::lanes * rows_per_lane;
  static constexpr int rows = Shape::panels * rows_of_group;

  KOKKOS_FORCEINLINE_FUNCTION ColumnTeam(const Member& member, const Arguments& arguments,
                                         const Panel& panel)
      : m_member(member),
        m_arguments(arguments),
        m_panel(panel),
        m_lane(lane_number<Shape::lanes>(member)),
        m_row(first_row() + index(0)) {}

  /// The number of the thread among those that share rows.
  KOKKOS_FORCEINLINE_FUNCTION int thread() const {
    return Shape::panels == 1 ? m_member.team_rank() : m_member.team_rank() % Shape::threads;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_number(int k) const {
    return m_row + k * distance_of_rows;
  }
  /// Whether row k of this lane exists. The last panel can extend beyond the last row.
  KOKKOS_FORCEINLINE_FUNCTION bool is_row(int k) const {
    if constexpr (has_panel)
      return m_panel.is_row(index(k));
    else
      return row_number(k) < m_arguments.problem.rows;
  }

  /// Whether one of the lane's rows exists.
  KOKKOS_FORCEINLINE_FUNCTION bool has_rows() const {
    return m_panel.has_some_of(index(0), rows_per_lane);
  }

  /// Tiles for the first columns of the lane's rows.
  KOKKOS_FORCEINLINE_FUNCTION Tiles tiles() const {
    if constexpr (in_sectors || in_phases)
      return Tiles(m_panel, index(0));
    else
      return Tiles();
  }

  /// The number of row k of this lane among the rows of the team, with one number per slot of a
  /// lane.
  KOKKOS_FORCEINLINE_FUNCTION int slot(int k) const {
    return group() * rows_of_group + k * Shape::lanes + m_lane;
  }

  /// The row that a slot without a row of its own reads. The entries are not used. On a host this
  /// is the team's first row, because another team may write to any other row at the same time. On
  /// a GPU it is the launch's first row, because the team's own would take another register.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t spare_row() const {
    KOKKOS_IF_ON_DEVICE((return m_arguments.first_row;))
    KOKKOS_IF_ON_HOST((return m_row;))
  }

  /// The lane's rows: one element per row or, if one load moves all of them, one element for the
  /// first row.
  struct Rows {
    Row row[Tiles::slots];
  };
  KOKKOS_FORCEINLINE_FUNCTION Rows lane_rows() const {
    if constexpr (in_phases)
      return rows_from_first_that_exists();
    else
      return lane_rows(std::make_integer_sequence<int, Tiles::slots>{});
  }

  /// How many columns count in the longest of the rows of the vector's lanes. All lanes call this,
  /// those without a row with their spare row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t longest_of_lanes(const Rows& rows) const requires
      limits_rows<Source> {
    static_assert(rows_per_lane == 1, "each row ends elsewhere");
    return combine_over_lanes<Shape::lanes, Kokkos::Max<std::int64_t>>(
        m_member, rows.row[0].columns,
        [](std::int64_t a, std::int64_t b) { return a < b ? b : a; });
  }

  /// The threads' states of the rows of this lane, merged.
  struct Merged {
    State all[rows_per_lane];
    T factor[rows_per_lane];  // makes this thread's terms relative to the reference of `all`
    T* copy = nullptr;        // of `all`, in scratch memory, if finish_beside_lane() needs it
  };

  /// With two barriers, each thread computes one exponential per row, to rescale its own sum, and
  /// none for the sums of the other threads.
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION Merged merge(const State (&mine)[rows_per_lane]) const {
    Merged merged;
    if constexpr (Shape::threads == 1) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows_per_lane; ++k) {
        merged.all[k] = mine[k];
        merged.factor[k] = T(1);
      }
      return merged;
    }
    const Scratch maxima(m_member.team_scratch(0), Shape::threads * rows);
    const Scratch sums(m_member.team_scratch(0), Shape::threads * rows);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows_per_lane; ++k) maxima(slot(thread(), k)) = Traits::max(mine[k]);
    m_member.team_barrier();
    T max[rows_per_lane];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows_per_lane; ++k) {
      max[k] = Traits::max(State{});
      for (int t = 0; t < Shape::threads; ++t) max[k] = larger(max[k], maxima(slot(t, k)));
      merged.factor[k] = factor_to(Traits::reference_of(max[k]), mine[k]);
      sums(slot(thread(), k)) = mine[k].sum * merged.factor[k];
    }
    m_member.team_barrier();
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows_per_lane; ++k) {
      T sum = T(0);
      for (int t = 0; t < Shape::threads; ++t) sum += sums(slot(t, k));
      merged.all[k] = Traits::make(max[k], sum);
      if constexpr (keeps_digits<State>)
        if (is_merged_near_zero(merged.all[k]))
          merged.all[k] = settled(merged.all[k], maxima, sums, k);
      if (copies_merged<Op> && thread() == 0) {  // all threads have read the maxima
        maxima(slot(0, k)) = max[k];
        maxima(slot(1, k)) = sum;
      }
    }
    merged.copy = maxima.data();
    return merged;
  }
  static std::size_t scratch_bytes() {
    return Shape::threads == 1 ? 0 : 2 * Scratch::shmem_size(Shape::threads * rows);
  }

  /// What `finish_beside` writes for the rows of this lane, in one thread of the team.
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void finish_beside_lane(const Merged& merged) const {
    finish_beside_lane<Op>([&](int k) {
      return copies_merged<Op> ? Traits::make(merged.copy[slot(0, k)], merged.copy[slot(1, k)])
                               : merged.all[k];
    });
  }
  /// The same if `merged_of(k)` is the state of row k.
  template <class Op, class MergedOf>
  requires std::is_invocable_v<MergedOf, int> KOKKOS_FORCEINLINE_FUNCTION void finish_beside_lane(
      const MergedOf& merged_of) const {
    if (!m_arguments.writes_beside || thread() != 0) return;
    State all[rows_per_lane];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < rows_per_lane; ++k) all[k] = merged_of(k);
    if constexpr (Tiles::in_chunks) {
      if (is_row(0)) finish_beside_rows<Op>(m_arguments, m_row, all);
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows_per_lane; ++k)
        if (writes_row(k)) finish_beside<Op>(m_arguments, row_number(k), all[k]);
    }
  }

  /// See finish_masked().
  template <class Op>
  KOKKOS_FORCEINLINE_FUNCTION void finish_masked_rows(
      [[maybe_unused]] const Rows& lane_rows, [[maybe_unused]] std::int64_t first,
      [[maybe_unused]] const State (&all)[rows_per_lane]) const {
    using Tile = typename Tiles::RowTile;
    if constexpr (masks_entries<Tile> || limits_rows<Source>) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows_per_lane; ++k) {
        if (!is_row(k)) continue;
        if constexpr (limits_rows<Source>) {
          static_assert(Tiles::slots == rows_per_lane, "each row has a Row");
          finish_masked_end<Op, Tile>(m_arguments, lane_rows.row[k], first, thread(), all[k]);
        } else if constexpr (Tiles::slots == rows_per_lane) {
          finish_masked<Op, Tile>(m_arguments, lane_rows.row[k], first, thread(), all[k]);
        } else if (has_nan_results(all[k])) {
          static_assert(!has_panel, "the row isn't cut to a part");
          auto row = row_again<typename Tile::Row>(m_arguments, row_number(k));
          row.end = lane_rows.row[0].end;
          finish_masked<Op, Tile>(m_arguments, row, first, thread(), all[k]);
        }
      }
    }
  }

 private:
  using Traits = StateTraits<State>;

  /// Whether the first thread copies the merged states to scratch memory for finish_beside_lane().
  /// Registers that hold them while the entries are written would be spilled. The output of
  /// log_softmax has the logarithm that finish_beside_lane() needs, and nvcc spills more with a
  /// copy.
  template <class Op>
  static constexpr bool copies_merged =
      Shape::threads > 1 && Op::writes_entries&& Op::Outputs::keep_exponentials;
  using Scratch = Kokkos::View<T*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  static constexpr int distance_of_rows = Tiles::in_chunks ? 1 : Shape::lanes;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row() const {
    if constexpr (has_panel)
      return m_panel.first_row();
    else
      return m_arguments.first_row + static_cast<std::int64_t>(m_member.league_rank()) * rows;
  }
  /// The number of row k of this lane among the rows of the team.
  KOKKOS_FORCEINLINE_FUNCTION int index(int k) const {
    return group() * rows_of_group + m_lane * Shape::width + k * distance_of_rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION int group() const {
    return Shape::panels == 1 ? 0 : m_member.team_rank() / Shape::threads;
  }
  /// Whether this team writes what is written once per row.
  KOKKOS_FORCEINLINE_FUNCTION bool writes_row(int k) const {
    if constexpr (has_panel)
      return is_row(k) && m_panel.has_row(index(k));
    else
      return is_row(k);
  }

  /// Made from the first row of the lane that exists, and moved back to the lane's first one.
  KOKKOS_FORCEINLINE_FUNCTION Rows rows_from_first_that_exists() const {
    const int before = m_panel.begin() - index(0);
    const int k = before > 0 && before < rows_per_lane ? before : 0;
    Rows rows = {{Row(m_arguments, is_row(k) ? row_number(k) : spare_row())}};
    rows.row[0].x -= k;
    rows.row[0].y -= k;
    return rows;
  }

  template <int... k>
  KOKKOS_FORCEINLINE_FUNCTION Rows lane_rows(std::integer_sequence<int, k...>) const {
    Rows rows = {{Row(m_arguments, is_row(k) ? row_number(k) : spare_row())...}};
    if constexpr (limits_rows<Source>) (rows.row[k].cover(m_arguments.problem.columns), ...);
    return rows;
  }

  /// The merged state of row k, which is near 0, given the states of the threads.
  KOKKOS_FORCEINLINE_FUNCTION State settled(const State& merged, const Scratch& maxima,
                                            const Scratch& sums, int k) const {
    TermsNearZero<State> terms;
    for (int t = 0; t < Shape::threads; ++t)
      terms.add(TermsNearZero<State>::of_part(merged.max, maxima(slot(t, k)), sums(slot(t, k))));
    return terms.settled(merged);
  }

  /// The place in scratch memory of a thread's state of row k of this lane.
  KOKKOS_FORCEINLINE_FUNCTION int slot(int thread, int k) const { return thread * rows + slot(k); }

  const Member& m_member;
  const Arguments& m_arguments;
  [[no_unique_address]] Panel m_panel;
  int m_lane;
  std::int64_t m_row;
};

/// The members of a kernel: the arguments, and how the rows are divided among teams. There is a
/// specialization without the second one, because kernels with an empty member that has
/// [[no_unique_address]] access invalid addresses (nvcc 13.0).
template <class Team, class Shape, class Panels = PanelsOf<typename Team::V, Shape>>
struct ColumnMembers {
  static constexpr int rows_per_team = Team::rows;

  typename Team::Arguments arguments;

  explicit ColumnMembers(const typename Team::Arguments& arguments_)
      : arguments(arguments_), m_panels(arguments.problem, rows_per_team) {}
  /// The rows of a team.
  KOKKOS_FORCEINLINE_FUNCTION typename Team::Panel panel(
      const typename Team::Member& member) const {
    return typename Team::Panel(m_panels, member.league_rank(), rows_per_team);
  }
  /// The number of teams of a call.
  std::int64_t teams() const { return m_panels.teams(); }

 private:
  Panels m_panels;
};
template <class Team, class Shape>
struct ColumnMembers<Team, Shape, RowsInOrder> {
  static constexpr int rows_per_team = Team::rows;

  typename Team::Arguments arguments;

  explicit ColumnMembers(const typename Team::Arguments& arguments_) : arguments(arguments_) {}
  KOKKOS_FORCEINLINE_FUNCTION RowsInOrder panel(const typename Team::Member&) const { return {}; }
};

/// Stores the output of a lane's entries that are in registers, as store_output() does for one row.
/// The first column is number `first`. Results of many entries are computed between the stores
/// (output_map), so that the stores aren't made all at once. Results of few entries are computed in
/// place: the maps of many rows would take as many registers as the entries.
template <class Op, class Team>
KOKKOS_FORCEINLINE_FUNCTION void write_held_columns(
    const ArgumentsOf<typename Team::Source>& arguments, const Team& team,
    const typename Team::Rows& rows, std::int64_t first, typename Team::Tiles& tiles,
    const typename Team::Merged& merged) {
  using Tiles = typename Team::Tiles;
  const auto store = [&](const auto& map_of) {
    tiles.store(rows.row, first, team.thread(), map_of, [&](int k) { return team.is_row(k); });
  };
  const auto map_of = [&](int k) {
    return output_map<Op>(arguments, merged.all[k], merged.factor[k]);
  };
  if constexpr (Op::Outputs::size == 1 || Tiles::items >= 32) {
    store(map_of);
  } else {
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Tiles::rows; ++k)
        tiles[k].transform(Output(merged.all[k], merged.factor[k], arguments.empty_rows));
    });
    const auto unchanged = [](int) { return [](typename Team::T v) { return v; }; };
    store(unchanged);
  }
  team.template finish_masked_rows<Op>(rows, first, merged.all);
}

/// Rows that fit the registers of a team's threads: one read, one write.
template <class Exec, class Op, class Source, class Shape>
struct ColumnHeldKernel : ColumnMembers<ColumnTeam<Exec, HeldState<Op>, Source, Shape>, Shape> {
  using V = typename Source::Types;
  using Team = ColumnTeam<Exec, HeldState<Op>, Source, Shape>;
  using Members = ColumnMembers<Team, Shape>;
  using Tiles = typename Team::Tiles;
  using State = typename Team::State;
  static_assert(Op::writes_entries, "columns that are read once needn't be held");
  static constexpr std::int64_t max_columns = Tiles::chunks;

  using Members::arguments;
  using Members::Members;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const Team team(member, arguments, Members::panel(member));
    const auto rows = team.lane_rows();
    auto tiles = team.tiles();
    tiles.load(arguments, rows.row, 0, team.thread());
    State mine[Tiles::rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k)
      mine[k] = reduce_tile<Op, State, 1>(member, tiles[k], arguments.function);
    const auto merged = team.template merge<Op>(mine);
    write_held_columns<Op>(arguments, team, rows, 0, tiles, merged);
    team.template finish_beside_lane<Op>(merged);
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) { return Team::scratch_bytes(); }
};

/// Rows of any length, which are read twice. The second read goes backwards, because the end of the
/// rows is still in the cache.
template <class Exec, class Op, class Source, class Shape>
struct ColumnKernel : ColumnMembers<ColumnTeam<Exec, typename Op::State, Source, Shape>, Shape> {
  using V = typename Source::Types;
  using Team = ColumnTeam<Exec, typename Op::State, Source, Shape>;
  using Members = ColumnMembers<Team, Shape>;
  using Tiles = typename Team::Tiles;
  using State = typename Team::State;
  static_assert(Op::writes_entries || !Team::in_sectors, "nothing is written in sectors");

  using Members::arguments;
  using Members::Members;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    const Team team(member, arguments, Members::panel(member));
    const auto rows = team.lane_rows();
    const std::int64_t columns = team.is_row(0) ? arguments.problem.columns : 0;
    State mine[Tiles::rows];
    RowTotal<Op> total[Tiles::rows];
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      reduce<typename Output::Exp>(team, rows, columns, mine, total);
    });
    const auto merged = team.template merge<Op>(mine);
    if constexpr (is_loss<Op>)
      finish_losses(member, total, merged.all);
    else if constexpr (!Op::writes_entries)
      write_values(team, rows, merged.all);
    else
      with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
        write_columns<Op, EntryOutput<Op, Output>>(arguments, team, rows, columns, merged.all);
      });
    if constexpr (Op::writes_entries) team.template finish_beside_lane<Op>(merged);
  }

  static std::size_t scratch_bytes(std::int64_t /*columns*/) {
    return Team::scratch_bytes() + (is_loss<Op> ? TeamOfTotals::scratch_bytes() : 0);
  }

 private:
  using TeamOfTotals = ColumnTeam<Exec, PlainSum<typename V::Compute>, Source, Shape>;

  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION void reduce(const Team& team, const typename Team::Rows& rows,
                                          std::int64_t columns, State (&state)[Tiles::rows],
                                          RowTotal<Op> (&total)[Tiles::rows]) const {
    reduce_columns<Exp>(arguments, team, rows, columns, state,
                        [&](int k, const auto& tile, std::int64_t first) {
                          add_total(total[k], tile, rows.row, first, team.thread(), k);
                        });
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) settle(team, k, state[k]);
  }

  KOKKOS_FORCEINLINE_FUNCTION void settle(const Team& team, int k, State& state) const {
    second_read_of_thread<typename Tiles::RowTile>(arguments, 0, team.thread(), state, [&] {
      return row_again<typename Tiles::RowTile::Row>(
          arguments, team.is_row(k) ? team.row_number(k) : team.spare_row());
    });
  }

  template <class Tile, class Row, int slots>
  KOKKOS_FORCEINLINE_FUNCTION void add_total([[maybe_unused]] RowTotal<Op>& total,
                                             [[maybe_unused]] const Tile& tile,
                                             [[maybe_unused]] const Row (&row)[slots],
                                             [[maybe_unused]] std::int64_t first,
                                             [[maybe_unused]] int thread,
                                             [[maybe_unused]] int k) const {
    if constexpr (is_loss<Op>) total.add(tile, arguments, row[slots == 1 ? 0 : k], first, thread);
  }

  KOKKOS_FORCEINLINE_FUNCTION void finish_losses(const typename Team::Member& member,
                                                 const RowTotal<Op> (&total)[Tiles::rows],
                                                 const State (&all)[Tiles::rows]) const {
    const TeamOfTotals team(member, arguments, Members::panel(member));
    PlainSum<typename V::Compute> mine[Tiles::rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) mine[k] = total[k].state();
    const auto merged = team.template merge<Op>(mine);
    if (team.thread() != 0) return;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) {
      if (!team.is_row(k)) continue;
      LabelEntry<Op> label(arguments, team.row_number(k));
      label.load_entry(arguments);
      label.finish(arguments, all[k], merged.all[k].sum);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_values(const Team& team, const typename Team::Rows& rows,
                                                const State (&all)[Tiles::rows]) const {
    if (team.thread() != 0) return;
    const std::int64_t stride = arguments.problem.outer[arguments.problem.outer_rank - 1].y_stride;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Tiles::rows; ++k) {
      typename V::Y* y = Tiles::slots == 1 ? rows.row[0].y + k * stride : rows.row[k].y;
      if (team.is_row(k)) finish_row<Op>(arguments, all[k], y);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
