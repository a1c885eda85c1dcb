// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLIT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLIT_HPP

/// \file
/// Rows that are divided over groups of teams: rows that are too wide for one team, and matrices
/// with fewer rows than the device has room for teams. Each team works on a segment of each of its
/// group's rows. It merges its state with those of the other teams through global memory.
///
/// There are three classes of teams. SplitTeam reads a row twice; SplitHeldTeam and SplitOnceTeam
/// hold their segments.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <op/TileFor.hpp>
#include <schedules/ScratchSegment.hpp>
#include <schedules/split/RowLoop.hpp>
#include <schedules/split/RowStates.hpp>

namespace KokkosSoftmax::Impl {

/// A team whose lanes work on one row together. The row is read twice.
template <class Exec, class Op, class Source, class Shape>
class SplitTeam
    : public RowLoop<SplitTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>,
                     TeamGroup<RowStates<Exec, typename Op::State, Shape::threads, Shape::lanes>>> {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Group = TeamGroup<RowStates<Exec, typename Op::State, Shape::threads, Shape::lanes>>;
  using Loop = RowLoop<SplitTeam, ArgumentsOf<Source>, Group>;
  using RowTile = LoopTileFor<Op, Source, Shape>;
  using Row = typename RowTile::Row;
  using typename Loop::Member;
  using typename Loop::State;

  KOKKOS_FORCEINLINE_FUNCTION SplitTeam(const Member& member, const ArgumentsOf<Source>& arguments,
                                        const SplitWorkspace& workspace, const SplitPlan& plan)
      : Loop(member, lane_number<Shape::lanes>(member), arguments, workspace, plan),
        m_thread_id(member.team_rank() * Shape::lanes + this->m_lane) {}

 protected:
  friend Loop;

  KOKKOS_FORCEINLINE_FUNCTION Row share_of(std::uint32_t r, const RowPointers<V>& pointers) const {
    Row row(this->m_arguments, r, pointers);
    this->cut_to_share(row);
    return row;
  }

  /// Reads the segment forwards.
  KOKKOS_FORCEINLINE_FUNCTION State sum(std::uint32_t r) const {
    const Row row = share_of(r, this->m_arguments.row(r));
    const State mine =
        with_output<Op>(this->m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
          return reduce<typename Output::Exp>(row);
        });
    State merged = merge_over_lanes<Shape::lanes>(this->m_member, mine);
    second_read_of_lanes<RowTile, Shape::lanes, EntryNumber::many>(
        this->m_member, this->m_arguments, this->begin(), m_thread_id, merged, [&] {
          auto again = row_again<Row>(this->m_arguments, r);
          this->cut_to_share(again);
          return again;
        });
    return merged;
  }

  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION State reduce(const Row& row) const {
    OnlineSum<Exp, State> sum;
    std::int64_t first = this->begin();
    do {  // at least once: the peeled entries belong to the first tile, even without a chunk
      RowTile tile;
      tile.load(this->m_arguments, row, first, m_thread_id);
      sum.add(tile);
      first += RowTile::chunks;
    } while (first < row.read_end(Source(this->m_arguments)));
    return sum.state();
  }

  /// Reads the segment backwards, because the cache certainly still holds the segment's end.
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint32_t r, const State& all) const {
    const Row row = share_of(r, this->m_arguments.row(r));
    if constexpr (!Op::writes_entries) {
      if (this->m_group.index() == 0 && m_thread_id == 0)
        finish_row<Op>(this->m_arguments, all, row.y);
    } else {
      with_output<Op>(this->m_arguments.function, [&]<class Output>(std::type_identity<Output>) {
        write_entries(row, all, EntryOutput<Op, Output>(all, this->m_arguments.empty_rows));
      });
      finish_beside_once(r, all);
    }
  }

  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION void write_entries(const Row& row, [[maybe_unused]] const State& all,
                                                 const Output& output) const {
    const std::int64_t tiles = divide_up(row.end - this->begin(), RowTile::chunks);
    std::int64_t first = this->begin() + (tiles > 0 ? tiles - 1 : 0) * RowTile::chunks;
    for (; first >= this->begin(); first -= RowTile::chunks) {
      RowTile tile;
      tile.load(this->m_arguments, row, first, m_thread_id);
      tile.store(row, first, m_thread_id, output);
      finish_masked<Op, RowTile>(this->m_arguments, row, first, m_thread_id, all);
    }
  }

  /// In one thread of the group.
  KOKKOS_FORCEINLINE_FUNCTION void finish_beside_once(std::uint32_t r, const State& all) const {
    if (this->m_group.index() == 0 && m_thread_id == 0)
      finish_beside<Op>(this->m_arguments, r, all);
  }

  int m_thread_id;
};

/// A team that holds its segment in registers and scratch memory, so that the segment is read once.
/// While a team waits for the states of the other teams, the other teams of its multiprocessor load
/// or store.
template <class Exec, class Op, class Source, class Shape>
class SplitHeldTeam : public SplitTeam<Exec, Op, Source, Shape> {
 public:
  using V = typename Source::Types;
  using Base = SplitTeam<Exec, Op, Source, Shape>;
  using Held = ScratchSegment<Exec, Op, Source, Shape>;
  using typename Base::Group;
  using typename Base::Member;
  using typename Base::Row;
  using typename Base::State;
  static constexpr bool holds_shares = true;

  KOKKOS_FORCEINLINE_FUNCTION SplitHeldTeam(const Member& member,
                                            const ArgumentsOf<Source>& arguments,
                                            const SplitWorkspace& workspace, const SplitPlan& plan)
      : Base(member, arguments, workspace, plan), m_held(member, plan.chunks_per_team) {}

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    std::uint32_t row = this->m_group.own_row(0);
    State all;
    for (std::uint32_t round = 0;; ++round) {
      load_and_publish(row, round, round > 0 ? this->m_group.claim_row(own_rows) : 0u);
      std::uint32_t next = this->m_group.own_row(1);
      if (round == 0) {
        const auto outcome = this->m_group.join_group(0, all);
        if (outcome != Group::Outcome::complete) {
          if (outcome == Group::Outcome::closed) this->run_closed(own_rows);
          return this->m_group.leave();
        }
      } else {
        const auto gathered = this->m_group.gather(round, this->m_group.poll(round));
        all = gathered.all;
        next = gathered.row;
      }
      const bool is_last = !this->there(next);
      if (is_last) this->m_group.leave();  // overlaps with the last stores
      store(row, all);
      if (is_last) return;
      row = next;
    }
  }

  static std::size_t scratch_bytes(const SplitPlan& plan) {
    return Group::scratch_bytes() + Held::scratch_bytes(plan.chunks_per_team);
  }
  static std::int64_t most_chunks(std::size_t scratch) {
    return Held::most_chunks(scratch - Group::scratch_bytes());
  }

 private:
  static constexpr std::uint32_t own_rows = 2;

  KOKKOS_FORCEINLINE_FUNCTION Row share(std::uint32_t r) const {  // supports one outer axis only
    return this->share_of(r, this->m_arguments.row_of_one_axis(r));
  }

  KOKKOS_FORCEINLINE_FUNCTION void load_and_publish(std::uint32_t r, std::uint32_t round,
                                                    std::uint32_t claimed) {
    const State mine = m_held.load(this->m_arguments, share(r), this->begin(), this->m_thread_id);
    this->m_group.publish(round, merge_over_lanes<Shape::lanes>(this->m_member, mine), claimed);
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(std::uint32_t r, const State& all) {
    m_held.store(this->m_arguments, share(r), this->begin(), this->m_thread_id, all);
    this->finish_beside_once(r, all);
  }

  Held m_held;
};

/// A team that holds its segment in registers. There are so few rows that each group has one, and
/// the rows are so short that the registers suffice. This is the shortest path from the load to the
/// store.
template <class Exec, class Op, class Source, class Shape>
class SplitOnceTeam : public SplitTeam<Exec, Op, Source, Shape> {
 public:
  using V = typename Source::Types;
  using Base = SplitTeam<Exec, Op, Source, Shape>;
  using Base::Base;
  using typename Base::Group;
  using typename Base::RowTile;
  using typename Base::State;

  /// Many small teams wait for one another longer than few large teams do (128 lanes: 32 teams, 256
  /// lanes: 128 teams; measured on an H200).
  static constexpr int max_members = std::max(1, Base::max_members* Base::max_members / 512);
  static constexpr bool holds_shares = true;
  static constexpr bool one_row_per_group = true;

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    const std::uint32_t r = this->m_group.own_row(0);
    const auto row = this->share_of(r, this->m_arguments.row_of_one_axis(r));
    RowTile tile;
    tile.load(this->m_arguments, row, this->begin(), this->m_thread_id);
    const State mine =
        reduce_tile<Op, State, Shape::lanes>(this->m_member, tile, this->m_arguments.function);
    this->m_group.publish(0, mine, 0u);
    State all;
    const auto outcome = this->m_group.join_group(0, all);
    if (outcome == Group::Outcome::closed) this->run_closed(1);
    this->m_group.leave();
    if (outcome == Group::Outcome::complete) {
      store_output<Op>(tile, this->m_arguments, row, this->begin(), this->m_thread_id, all,
                       factor_to(reference_of_state(all), mine));
      this->finish_beside_once(r, all);
    }
  }

  static std::int64_t most_chunks(std::size_t /*scratch*/) { return RowTile::chunks; }
};

/// For rows of any length.
template <class Exec, class Op, class Source, class Shape>
using SplitOnlineKernel = SplitKernel<SplitTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>>;

/// For rows that a group of teams can hold in registers and scratch memory.
template <class Exec, class Op, class Source, class Shape>
using SplitHeldKernel = SplitKernel<SplitHeldTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>>;

/// For as many rows as there are groups, which hold the rows in registers.
template <class Exec, class Op, class Source, class Shape>
using SplitOnceKernel = SplitKernel<SplitOnceTeam<Exec, Op, Source, Shape>, ArgumentsOf<Source>>;

}  // namespace KokkosSoftmax::Impl

#endif
