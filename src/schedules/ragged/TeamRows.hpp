// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_TEAMROWS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_TEAMROWS_HPP

/// \file
/// Rows, and parts of long rows, that a team holds in registers.

#include <op/RaggedOps.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <row/TileOf.hpp>
#include <schedules/ragged/DividedElement.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// What a whole row is reduced to, if it is reduced.
template <class Op>
struct RaggedRowState {
  using type = typename Op::State;
};
template <class Op>
requires(Op::reduces) struct RaggedRowState<Op> {
  using type = HeldState<typename Op::Rows>;
};

/// The rows, or parts of rows, of one team. All threads of the team call each function together.
template <class Exec, class Op, class Shape>
class TeamRows {
 public:
  using T = typename Op::T;
  using State = typename Op::State;
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  KOKKOS_FORCEINLINE_FUNCTION TeamRows(const Member& member, const Arguments& arguments, int lane)
      : m_member(member),
        m_arguments(arguments),
        m_lane(lane),
        m_thread_id(member.team_rank() * lanes + lane),
        m_scratch(Words(member.team_scratch(0), words).data()),
        m_element(Words(member.team_scratch(0), words_of_element).data()) {}

  /// Calls f(element) for the elements at(0) to at(count - 1) that this team has. The next element
  /// is loaded meanwhile.
  template <class At, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each(std::int64_t count, const At& at, const F& f) const {
    using Element = std::remove_cvref_t<decltype(at(0))>;
    static_assert(sizeof(Element) <= words_of_element * sizeof(double));
    Element& element = *reinterpret_cast<Element*>(m_element);
    std::int64_t i = m_member.league_rank();
    if (i >= count) return;
    DividedElement<Element, threads * lanes> next;
    next.load(at(i), m_thread_id);
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    while (i < count) {
      next.store(element, m_thread_id);
      m_member.team_barrier();
      i += m_member.league_size();
      if (i < count) next.load(at(i), m_thread_id);
      f(element);
      m_member.team_barrier();  // before the scratch memory is used again
    }
  }

  /// Computes a whole row, in a tile that isn't much longer.
  KOKKOS_FORCEINLINE_FUNCTION void compute(const RowPart& row) const {
    const std::int64_t columns = row.end - row.begin;
    if constexpr (Shape::items >= 8) {
      if (columns <= Shape::longest_of_team / 4) return compute_in<Shape::items / 4>(row);
    }
    if (columns <= Shape::longest_of_team / 2)
      compute_in<Shape::items / 2>(row);
    else
      compute_in<Shape::items>(row);
  }

  /// Writes the state of a part to `state`, or its results if they don't depend on the row's state.
  KOKKOS_FORCEINLINE_FUNCTION void reduce(const RowPart& of_row, State* state) const {
    HeldPart<Shape::items> part(*this, of_row);
    if constexpr (Op::reduces) {
      const State all = merge(part.template state_of_vector<State>(*this));
      if (m_thread_id == 0) *state = all;
    } else {
      Op::write_part(m_arguments, part.tile, part.row, m_thread_id, of_row.row, State{});
    }
  }

  /// Writes the results of a part, given the row's state.
  KOKKOS_FORCEINLINE_FUNCTION void write(const RowPart& of_row, const State& state) const {
    HeldPart<Shape::items> part(*this, of_row);
    Op::write_part(m_arguments, part.tile, part.row, m_thread_id, of_row.row, state);
  }

  static std::size_t scratch_bytes() {
    return Words::shmem_size(words) + Words::shmem_size(words_of_element);
  }

 private:
  static constexpr int threads = Shape::OfTeams::threads;
  static constexpr int lanes = Shape::lanes;
  template <int items>
  using TileOfItems =
      TileOf<typename Op::Source, items, Shape::width, threads * lanes, Shape::access>;
  /// The states of the team's threads, of one of two types.
  using Words = Kokkos::View<double*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int words = 2 * threads;
  static constexpr int words_of_element = sizeof(LongRowPart) / sizeof(double);

  template <int items>
  KOKKOS_FORCEINLINE_FUNCTION void compute_in(const RowPart& whole) const {
    HeldPart<items> part(*this, whole);
    const std::int64_t r = whole.row;
    if constexpr (Op::reduces) {
      using RowState = typename RaggedRowState<Op>::type;
      const RowState mine = part.template state_of_vector<RowState>(*this);
      const RowState all = merge(mine);
      Op::write_row(m_arguments, part.tile, part.row, m_thread_id, r, all,
                    factor_to(reference_of_state(all), mine));
    } else {
      Op::write_part(m_arguments, part.tile, part.row, m_thread_id, r, State{});
    }
  }

  /// A row or a part of one, in registers.
  template <int items>
  struct HeldPart {
    using Tile = TileOfItems<items>;
    RaggedRowArgs<typename Op::Types> arguments;
    typename Tile::Row row;
    Tile tile;

    KOKKOS_FORCEINLINE_FUNCTION HeldPart(const TeamRows& team, const RowPart& part)
        : arguments(team.m_arguments.row(part.begin, part.end)),
          row(arguments, part.row, team.m_arguments.pointers(part.begin)) {
      tile.load(arguments, row, 0, team.m_thread_id);
    }

    /// The state of the entries of a vector's lanes.
    template <RowState AnyState>
    KOKKOS_FORCEINLINE_FUNCTION AnyState state_of_vector(const TeamRows& team) {
      AnyState state = reduce_tile<typename Op::Rows, AnyState, lanes>(team.m_member, tile, 0);
      second_read_of_lanes<Tile, lanes, EntryNumber::few>(
          team.m_member, arguments, 0, team.m_thread_id, state, [&] { return row; });
      return state;
    }
  };

  template <RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION AnyState merge(const AnyState& mine) const {
    static_assert(sizeof(AnyState) <= 2 * sizeof(double));
    const Kokkos::View<AnyState*, typename Exec::scratch_memory_space,
                       Kokkos::MemoryTraits<Kokkos::Unmanaged>>
        states(reinterpret_cast<AnyState*>(m_scratch), threads);
    return merge_over_team<threads, lanes>(m_member, m_lane, states, mine);
  }

  const Member& m_member;
  const Arguments& m_arguments;
  int m_lane;
  int m_thread_id;
  double* m_scratch;
  double* m_element;
};

}  // namespace KokkosSoftmax::Impl

#endif
