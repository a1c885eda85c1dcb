// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_HPP

/// \file
/// Rows over groups of teams, for rows too wide for one team and for fewer rows than teams fit the
/// machine. Each team works on a share of each of its group's rows and merges its state with the
/// others' through memory.

#include <OnlineSum.hpp>
#include <Tile.hpp>
#include <split/RowGroup.hpp>

namespace KokkosSoftmax::Impl {

/// A team's share of the rows of its group.
template <class Exec, class V, Operation operation, class Shape>
class SplitTeam {
 public:
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Piece = Tile<V, Shape::items, Shape::width, Shape::lanes * Shape::threads, Shape::fill>;
  using Row = typename Piece::Row;
  using Output = Epilogue<operation, T>;
  using Exp = typename Output::Exp;
  using Group = RowGroup<Exec, T, Shape::threads, Shape::lanes>;
  using State = LogSumExpState<T>;

  KOKKOS_FORCEINLINE_FUNCTION SplitTeam(const Member& member, const KernelArguments<V>& arguments,
                                        const SplitWorkspace& workspace, const SplitPlan& plan)
      : m_member(member),
        m_arguments(arguments),
        m_plan(plan),
        m_lane(lane_number<Shape::lanes>(member)),
        m_rank(member.team_rank() * Shape::lanes + m_lane),
        m_share(plan.chunks_per_team),
        m_group(member, m_lane, workspace, plan) {}

  /// All rows of the group. A round lags behind the next: while the group's states of one row are
  /// on their way, each team sums its share of the next one, and the second read finds the row
  /// still in the cache.
  KOKKOS_FORCEINLINE_FUNCTION void run() {
    sum_and_publish(0, 0);
    if (there(1)) sum_and_publish(1, 1);
    State all;
    switch (m_group.settle(0, all)) {
      case Group::Outcome::left_out:
        break;
      case Group::Outcome::complete:
        write(0, all);
        for (std::uint32_t k = 1; there(k); ++k) {
          typename Group::Look seen;
          if (there(k + 1))
            seen = sum_and_publish(k + 1, k + 1, k);
          else
            seen = m_group.look(k);
          write(k, m_group.gather(k, seen));
        }
        break;
      case Group::Outcome::closed:  // all over again, in larger shares
        run_closed();
    }
    m_group.leave();
  }

 protected:
  KOKKOS_FORCEINLINE_FUNCTION void run_closed() {
    m_share = (m_arguments.problem.columns / Shape::width + m_group.members()) / m_group.members();
    for (std::uint32_t k = 0; there(k); ++k) {
      const std::uint32_t round = k + Group::first_slow_round;
      sum_and_publish(k, round);
      write(k, m_group.gather(round, m_group.look(round)));
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_number(std::uint32_t k) const {
    return m_arguments.first_row + m_group.number() + std::int64_t(k) * m_plan.groups;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool there(std::uint32_t k) const {
    return row_number(k) < m_arguments.problem.rows;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t begin() const { return m_group.index() * m_share; }
  KOKKOS_FORCEINLINE_FUNCTION Row share_of(const RowPointers<V>& pointers) const {
    Row row(m_arguments, pointers);
    const std::int64_t end = begin() + m_share;
    if (end < row.end) row.end = end;
    return row;
  }

  /// Forwards over the share of the group's row k. Looks at the states of an earlier round on the
  /// way, where `look_at` is one.
  KOKKOS_FORCEINLINE_FUNCTION typename Group::Look sum_and_publish(std::uint32_t k,
                                                                   std::uint32_t round,
                                                                   std::uint32_t look_at = 0) {
    const Row row = share_of(m_arguments.row(row_number(k)));
    OnlineSum<Exp, T> sum;
    std::int64_t first = begin();
    do {  // once at least: the row's edge belongs to the first tile, even without a chunk
      Piece piece;
      piece.load(m_arguments, row, first, m_rank);
      sum.add(piece);
      first += Piece::chunks;
    } while (first < row.end);
    typename Group::Look seen;
    if (look_at != 0) seen = m_group.look(look_at);
    m_group.publish(round, merge_over_lanes<Shape::lanes>(m_member, sum.state()));
    return seen;
  }

  /// Backwards over the share of the group's row k: its end is what the cache holds for sure.
  KOKKOS_FORCEINLINE_FUNCTION void write(std::uint32_t k, const State& all) const {
    const Row row = share_of(m_arguments.row(row_number(k)));
    if constexpr (Output::one_value_a_row) {
      if (m_group.index() == 0 && m_rank == 0) *row.y = static_cast<typename V::Y>(all.value());
    } else {
      const EntryEpilogue<Output, T> output(all, m_arguments.empty_rows);
      const std::int64_t tiles = (row.end - begin() + Piece::chunks - 1) / Piece::chunks;
      std::int64_t first = begin() + (tiles > 0 ? tiles - 1 : 0) * Piece::chunks;
      for (; first >= begin(); first -= Piece::chunks) {
        Piece piece;
        piece.load(m_arguments, row, first, m_rank);
        piece.store(row, first, m_rank, output);
      }
    }
  }

  const Member& m_member;
  const KernelArguments<V>& m_arguments;
  const SplitPlan& m_plan;
  int m_lane;
  int m_rank;
  std::int64_t m_share;
  Group m_group;
};

/// The same with shares that fit the registers: a share is read once, and waits there for the
/// states of the others.
template <class Exec, class V, Operation operation, class Shape>
class SplitRegistersTeam : public SplitTeam<Exec, V, operation, Shape> {
 public:
  using Base = SplitTeam<Exec, V, operation, Shape>;
  using Base::Base;
  using typename Base::Exp;
  using typename Base::Group;
  using typename Base::Output;
  using typename Base::Piece;
  using typename Base::Row;
  using typename Base::State;
  using typename Base::T;

  KOKKOS_FORCEINLINE_FUNCTION void run() {
    Stage a, b;
    load_and_publish(a, 0);
    State all;
    switch (this->m_group.settle(0, all)) {
      case Group::Outcome::left_out:
        break;
      case Group::Outcome::complete:
        if (!this->there(1)) {
          this->m_group.leave();
          store(a, 0, all);
          return;
        }
        load_and_publish(b, 1);
        store(a, 0, all);
        for (std::uint32_t k = 1;;) {
          if (!turn(b, a, k++)) return;
          if (!turn(a, b, k++)) return;
        }
      case Group::Outcome::closed:
        this->run_closed();
    }
    this->m_group.leave();
  }

 private:
  struct Stage {
    Piece piece;
    T reference;
  };

  KOKKOS_FORCEINLINE_FUNCTION Row
  row(std::uint32_t k) const {  // `split` takes one outer axis alone
    return this->share_of(this->m_arguments.row_of_one_axis(this->row_number(k)));
  }

  KOKKOS_FORCEINLINE_FUNCTION typename Group::Look load_and_publish(Stage& stage, std::uint32_t k) {
    constexpr int lanes = Shape::lanes;
    stage.piece.load(this->m_arguments, row(k), this->begin(), this->m_rank);
    const T max = max_over_lanes<lanes>(this->m_member,
                                        stage.piece.max(-Kokkos::Experimental::infinity_v<T>));
    stage.reference = Exp::reference(max);
    const T sum = stage.piece.template sum<Output::keeps_weights>(Exp(stage.reference));
    typename Group::Look seen;
    if (k > 1) seen = this->m_group.look(k - 1);
    this->m_group.publish(k, {stage.reference, sum_over_lanes<lanes>(this->m_member, sum)});
    return seen;
  }

  KOKKOS_FORCEINLINE_FUNCTION void store(const Stage& stage, std::uint32_t k,
                                         const State& all) const {
    stage.piece.store(row(k), this->begin(), this->m_rank,
                      Output(all, stage.reference, this->m_arguments.empty_rows));
  }

  /// Row k waits in `now`. False if it is the last one.
  KOKKOS_FORCEINLINE_FUNCTION bool turn(Stage& now, Stage& next, std::uint32_t k) {
    const bool last = !this->there(k + 1);
    const auto seen = last ? this->m_group.look(k) : load_and_publish(next, k + 1);
    const State all = this->m_group.gather(k, seen);
    if (last) this->m_group.leave();
    store(now, k, all);
    return !last;
  }
};

/// The kernel of a kind of team.
template <class Team, class V>
struct SplitKernel {
  KernelArguments<V> arguments;
  SplitWorkspace workspace;
  SplitPlan plan;

  KOKKOS_INLINE_FUNCTION void operator()(const typename Team::Member& member) const {
    Team(member, arguments, workspace, plan).run();
  }

  static std::size_t scratch_bytes() { return Team::Group::scratch_bytes(); }
};

/// Rows of any length.
template <class Exec, class V, Operation operation, class Shape>
using SplitOnlineKernel = SplitKernel<SplitTeam<Exec, V, operation, Shape>, V>;

/// Rows that a group of teams can hold in registers.
template <class Exec, class V, Operation operation, class Shape>
using SplitRegistersKernel = SplitKernel<SplitRegistersTeam<Exec, V, operation, Shape>, V>;

}  // namespace KokkosSoftmax::Impl

#endif
