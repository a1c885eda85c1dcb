// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_SCHEDULES_ROWINORDER_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_SCHEDULES_ROWINORDER_HPP

#include <impl/device/op/KokkosSoftmax_OpInOrder.hpp>
#include <impl/device/row/KokkosSoftmax_RowEntries.hpp>
#include <impl/device/team/KokkosSoftmax_LaneGroup.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>

namespace KokkosSoftmax::Impl {

/// What a row is reduced to. The log-sum-exp is computed from it if the caller uses it.
template <class T>
struct RowTotals {
  T reference = T(0);
  T sum = T(0);
};

/// Computes a row inside a kernel, in ReductionOrder. Any number of lanes gets the same bits: a
/// group of lanes does the work of the virtual lanes of a virtual warp, and the groups take the
/// virtual warps in turn. `Team` is OneGroup or GroupsOfTeam.
///
/// All lanes of a team make the same object and call compute() together.
template <RowOp Op, int function, class Entries, class Group, class Team>
class RowInOrder {
  using T = typename Op::Types::Compute;
  using Order = typename Entries::Order;
  using Output =
      typename Op::Outputs::template at<std::size_t(Op::Outputs::size == 1 ? 0 : function)>;
  using Held = HeldState<OpInOrder<Op, function>>;
  using Running = typename Op::State;
  static constexpr bool has_pairs = !requires(const Entries& row) { row.value(0); };
  static constexpr bool keeps = Output::keeps_exponentials;
  static constexpr bool is_warp = Group::fixed == Order::lanes;

 public:
  KOKKOS_FORCEINLINE_FUNCTION RowInOrder(const Entries& row, const Group& group, const Team& team,
                                         EmptyRows empty_rows)
      : m_row(row), m_group(group), m_team(team), m_empty_rows(empty_rows) {}

  /// Writes the row's output. Returns what it was reduced to; lanes that are left over get nothing.
  /// A team passes one barrier.
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> compute() const {
    const int warps = Order::held_warps(m_row.columns());
    if (warps == 0) return online();
    if constexpr (Team::is_alone) {
      if constexpr (Group::holds_tiles)
        if (m_row.columns() <= Order::held_entries * m_group.lanes()) return in_one_tile();
      return by_virtual_lanes(warps);
    } else {
      return in_tiles(warps);
    }
  }

 private:
  template <RowState State, int size>
  using States = typename Team::template States<State, size>;
  template <int size>
  using HeldTile = typename Entries::template Tile<size, !is_warp>;
  template <int size>
  using Tile = typename Entries::template Tile<size, false>;

  /// The number that a virtual lane has in the row: that of its first column.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t virtual_lane(int warp, int k) const {
    return warp * Order::lanes + m_group.lane() + k * m_group.lanes();
  }

  /// One group holds the row in its tile: each lane has the entries of its virtual lanes, which are
  /// lanes() columns apart.
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> in_one_tile() const {
    const int step = m_group.lanes();
    if (m_row.columns() <= 4 * step) return in_one_tile_of<4>(step);
    if constexpr (Order::held_entries > 8)
      if (m_row.columns() > 8 * step) return in_one_tile_of<Order::held_entries>(step);
    return in_one_tile_of<8>(step);
  }
  template <int size>
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> in_one_tile_of(int step) const {
    HeldTile<size> tile;
    tile.load(m_row, m_group.lane(), step);
    const Held all = settled<EntryNumber::few>(0, 1, reduced(tile));
    if constexpr (Op::writes_entries) tile.store(m_row, m_group.lane(), step, output(all, all));
    return totals(all);
  }

  /// Each lane of a warp holds the entries of a virtual lane in its tile. The number of warps is no
  /// template parameter: kernels with the code for each number take up to twice as many registers.
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> in_tiles(int warps) const {
    const int step = warps * Order::lanes;
    if (m_row.columns() <= 4 * step) return in_tiles_of<4>(warps, step);
    if constexpr (Order::held_entries > 8)
      if (m_row.columns() > 8 * step) return in_tiles_of<Order::held_entries>(warps, step);
    return in_tiles_of<8>(warps, step);
  }

  template <int size>
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> in_tiles_of(int warps, int step) const {
    States<Held, Order::most_warps> states(m_team);
    HeldTile<size> tile;
    Held mine;
    int w = m_team.number();
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (; w < warps; w += m_team.groups()) {
      tile.load(m_row, first_of_tile(w), step);
      mine = settled<EntryNumber::few>(w, warps, reduced(tile));
      states.set(w, m_group.lane() == 0, mine);
    }
    m_team.barrier();
    if (!m_team.takes_part()) return {};
    const Held all = merged(states, warps);
    if constexpr (Op::writes_entries) {
      // Backwards: the last tile is still in registers. The others are loaded again.
      bool is_held = true;
      KOKKOSSOFTMAX_IMPL_NO_UNROLL
      for (w -= m_team.groups(); w >= 0; w -= m_team.groups()) {
        if (!is_held) {
          mine = states[w];
          tile.load(m_row, first_of_tile(w), step);
          if constexpr (keeps) tile.transform(typename Output::Exp(reference_of_state(mine)));
        }
        tile.store(m_row, first_of_tile(w), step, output(all, mine));
        is_held = false;
      }
    }
    return totals(all);
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_of_tile(int warp) const {
    return warp * Order::lanes + m_group.lane();
  }

  /// The state of the entries in the tiles of a group.
  template <class AnyTile>
  KOKKOS_FORCEINLINE_FUNCTION Held reduced(AnyTile& tile) const {
    using Traits = StateTraits<Held>;
    T max = -Kokkos::Experimental::infinity_v<T>;
    if constexpr (Traits::has_reference) max = m_group.max(tile.max(max));
    const typename Output::Exp exp(Traits::reference_of(max));
    return Traits::make(max, m_group.sum(tile.template sum<keeps>(exp)));
  }

  /// Few lanes read a row that they can't hold as often as they need it.
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> by_virtual_lanes(int warps) const {
    States<Held, Order::most_warps> states(m_team);
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int w = m_team.number(); w < warps; w += m_team.groups())
      states.set(w, m_group.lane() == 0, reduced_by_virtual_lanes(w, warps));
    m_team.barrier();
    if (!m_team.takes_part()) return {};
    const Held all = merged(states, warps);
    if constexpr (Op::writes_entries) {
      KOKKOSSOFTMAX_IMPL_NO_UNROLL
      for (int w = m_team.number(); w < warps; w += m_team.groups()) {
        const Held mine = states[w];
        const typename Output::Exp exp(reference_of_state(mine));
        m_group.for_each_virtual_lane([&](int k) {
          write(virtual_lane(w, k), warps * Order::lanes, exp, output(all, mine));
        });
      }
    }
    return totals(all);
  }

  KOKKOS_FORCEINLINE_FUNCTION Held reduced_by_virtual_lanes(int warp, int warps) const {
    using Traits = StateTraits<Held>;
    const int step = warps * Order::lanes;
    T max = -Kokkos::Experimental::infinity_v<T>;
    if constexpr (Traits::has_reference) {
      m_group.for_each_virtual_lane([&](int k) {
        KOKKOSSOFTMAX_IMPL_NO_UNROLL
        for (std::int64_t c = virtual_lane(warp, k); c < m_row.columns(); c += step)
          max = larger(max, m_row.value(c));
      });
      max = m_group.max(max);
    }
    const typename Output::Exp exp(Traits::reference_of(max));
    T sums[Group::most_per_lane];
    m_group.for_each_virtual_lane(
        [&](int k) { sums[k] = sum_of_virtual_lane(exp, virtual_lane(warp, k), step); });
    return settled<EntryNumber::few>(warp, warps,
                                     Traits::make(max, m_group.sum_of_virtual_lanes(sums)));
  }

  /// The state of a virtual warp, settled if it is near 0 (see LseState). The group reads the
  /// entries a second time. Virtual lanes with many entries have running states, whose maximum
  /// isn't that of the entries.
  template <EntryNumber entries, RowState State>
  KOKKOS_FORCEINLINE_FUNCTION State settled([[maybe_unused]] int warp, [[maybe_unused]] int warps,
                                            const State& state) const {
    if constexpr (keeps_digits<State>) {
      constexpr bool is_running = entries == EntryNumber::many;
      if (is_near_zero(state.max, state.sum, is_running ? ExpForLse<T>::slack() : T(0))) {
        T max = state.max;
        if constexpr (is_running) {
          m_group.for_each_virtual_lane([&](int k) {
            max = larger(max, max_of<T>(entries_of_virtual_lane(warp, k, warps),
                                        values_of_virtual_lane(warp, k, warps)));
          });
          max = m_group.max(max);
          if (!is_max_near_zero(max)) return state;
        }
        T sums[Group::most_per_lane];
        m_group.for_each_virtual_lane([&](int k) {
          const std::int64_t count = entries_of_virtual_lane(warp, k, warps);
          sums[k] = sum_below_max<entries>(max, static_cast<EntryCount<entries>>(count),
                                           values_of_virtual_lane(warp, k, warps));
        });
        return State::settled(log_sum_exp_near_zero(max, m_group.sum_of_virtual_lanes(sums)));
      }
    }
    return state;
  }

  /// The number of entries of a virtual lane, and the function that gives their values.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t entries_of_virtual_lane(int warp, int k,
                                                                   int warps) const {
    const std::int64_t left = m_row.columns() - virtual_lane(warp, k);
    const int step = warps * Order::lanes;
    return left > 0 ? (left + step - 1) / step : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto values_of_virtual_lane(int warp, int k, int warps) const {
    const std::int64_t first = virtual_lane(warp, k);
    const int step = warps * Order::lanes;
    return [this, first, step](std::int64_t i) { return m_row.value(first + i * step); };
  }

  /// The sum of the terms of columns `first`, first + step, and so on, in the order of a tile.
  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum_of_virtual_lane(const Exp& exp, std::int64_t first,
                                                    int step) const {
    const auto sum_of_terms = [&]([[maybe_unused]] const auto& term) {
      T partial[accumulators] = {};
      KOKKOSSOFTMAX_IMPL_NO_UNROLL
      for (std::int64_t c = first; c < m_row.columns(); c += accumulators * step) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int j = 0; j < accumulators; ++j) {
          if (c + j * step >= m_row.columns()) continue;
          if constexpr (has_pairs) {
            partial[j] += m_row.pair(c + j * step).t;
          } else {
            T value = m_row.value(c + j * step);
            add_term<keeps>(partial[j], term, value, value);
          }
        }
      }
      return sum_of_partials(partial);
    };
    return sum_by(exp, sum_of_terms);
  }

  /// Virtual lanes have running states.
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> online() const {
    constexpr int warps = Order::online_warps;
    constexpr int step = warps * Order::lanes;
    States<Running, warps> states(m_team);
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int w = m_team.number(); w < warps; w += m_team.groups()) {
      Running part[Group::most_per_lane];
      m_group.for_each_virtual_lane(
          [&](int k) { part[k] = running_state(virtual_lane(w, k), step); });
      states.set(w, m_group.lane() == 0, settled<EntryNumber::many>(w, warps, m_group.merge(part)));
    }
    m_team.barrier();
    if (!m_team.takes_part()) return {};
    const Running all = merged(states, warps);
    if constexpr (Op::writes_entries) {
      const typename Output::Exp exp(reference_of_state(all));
      const Output map(all, m_empty_rows);
      const std::int64_t run = written_size * m_group.lanes();
      KOKKOSSOFTMAX_IMPL_NO_UNROLL
      for (std::int64_t c = m_team.number() * run; c < m_row.columns(); c += m_team.groups() * run)
        write_tile(c + m_group.lane(), m_group.lanes(), exp, map);
    }
    return totals(all);
  }

  KOKKOS_FORCEINLINE_FUNCTION Running running_state(std::int64_t first, int step) const {
    OnlineSum<typename Output::Exp, Running> sum;
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (std::int64_t c = 0; c < m_row.columns(); c += Order::online_items * step) {
      Tile<Order::online_items> tile;
      tile.load(m_row, c + first, step);
      sum.add(tile);
    }
    return sum.state();
  }

  static constexpr int written_size = 4;

  /// Reads and writes columns `first`, first + step, and so on, to the end of the row.
  template <class Exp, class Map>
  KOKKOS_FORCEINLINE_FUNCTION void write(std::int64_t first, int step, const Exp& exp,
                                         const Map& map) const {
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (std::int64_t c = first; c < m_row.columns(); c += written_size * step)
      write_tile(c, step, exp, map);
  }
  /// The same for `written_size` columns.
  template <class Exp, class Map>
  KOKKOS_FORCEINLINE_FUNCTION void write_tile(std::int64_t first, int step,
                                              [[maybe_unused]] const Exp& exp,
                                              const Map& map) const {
    Tile<written_size> tile;
    tile.load(m_row, first, step);
    if constexpr (keeps) tile.transform(exp);
    tile.store(m_row, first, step, map);
  }

  /// The state of the row, from those of its virtual warps.
  template <RowState State, int size>
  KOKKOS_FORCEINLINE_FUNCTION State merged(const States<State, size>& states, int warps) const {
    if constexpr (is_warp) {
      return m_group.merge_repeated(states[m_group.lane() & (warps - 1)], warps);
    } else {
      State part[Group::most_per_lane];
      m_group.for_each_virtual_lane([&](int k) {
        const int w = static_cast<int>(virtual_lane(0, k));
        if (w < warps) part[k] = states[w];
      });
      return m_group.merge_parts(part);
    }
  }

  /// The output of entries whose exponentials are relative to the reference of `mine`.
  KOKKOS_FORCEINLINE_FUNCTION Output output(const Held& all, const Held& mine) const {
    return Output(all, factor_to(reference_of_state(all), mine), m_empty_rows);
  }

  template <RowState State>
  KOKKOS_FORCEINLINE_FUNCTION static RowTotals<T> totals(const State& all) {
    return {reference_of_state(all), all.sum};
  }

  const Entries& m_row;
  const Group& m_group;
  const Team& m_team;
  EmptyRows m_empty_rows;
};

}  // namespace KokkosSoftmax::Impl

#endif
