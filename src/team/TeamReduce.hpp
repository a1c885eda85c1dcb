// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_TEAMREDUCE_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_TEAMREDUCE_HPP

/// \file
/// Merges states over the lanes of a vector and over the threads of a team.

#include <bit>
#include <impl/device/team/KokkosSoftmax_LseState.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// Merges the lanes' states: first finds the largest entry, then adds all sums relative to its
/// reference.
/// Merging pair by pair would take exponentials at every step.
template <int lanes, RowState State, class Member>
KOKKOS_FORCEINLINE_FUNCTION State merge_over_lanes(const Member& member, const State& mine) {
  using Traits = StateTraits<State>;
  auto max = Traits::max(mine);
  if constexpr (Traits::has_reference) max = max_over_lanes<lanes>(member, max);
  const auto sum = sum_relative_to(Traits::reference_of(max), mine);
  return Traits::make(max, sum_over_lanes<lanes>(member, sum));
}

/// The same for states of parts of a row that are settled if they are near 0, see LseState.
template <int lanes, RowState State, class Member>
KOKKOS_FORCEINLINE_FUNCTION State merge_parts_over_lanes(const Member& member, const State& part) {
  State merged = merge_over_lanes<lanes>(member, part);
  if constexpr (keeps_digits<State>) {
    const bool is_near = is_merged_near_zero(merged);
    if (Intrinsics::any_lane(is_near)) {
      const auto terms =
          TermsNearZero<State>::of_part(merged.max, part.max, sum_relative_to(merged.max, part))
              .over_lanes([&](auto term) { return sum_over_lanes<lanes>(member, term); });
      if (is_near) merged = terms.settled(merged);
    }
  }
  return merged;
}

/// States in level-0 scratch memory.
template <class Exec, RowState State>
using ScratchStates = Kokkos::View<State*, typename Exec::scratch_memory_space,
                                   Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// How many lanes merge the states of `threads` threads, one state per lane: a power of two.
template <int threads>
inline constexpr int lanes_for = static_cast<int>(std::bit_ceil(static_cast<unsigned>(threads)));

/// Merges the states of all threads of a team, which begin at states(first). As many lanes as there
/// are threads take one state each. The other lanes of the vector take the same states again, so
/// that every lane merges all of them in the same order and gets the same result.
template <int threads, int lanes, class Member, class States>
KOKKOS_FORCEINLINE_FUNCTION auto merge_states(const Member& member, int lane, const States& states,
                                              int first) {
  static_assert(threads <= lanes, "each lane takes the state of one thread");
  const int number = lane % lanes_for<threads>;
  typename States::non_const_value_type part;
  if (number < threads) part = states(first + number);
  return merge_parts_over_lanes<lanes_for<threads>>(member, part);
}

/// Merges the states `mine` of all threads of a team, with one barrier. With `in_first`, only the
/// first thread gets the result; the other threads return their own state and don't wait for the
/// merge.
template <int threads, int lanes, bool in_first = false, RowState State, class Member, class States>
KOKKOS_FORCEINLINE_FUNCTION State merge_over_team(const Member& member, int lane,
                                                  const States& states, const State& mine) {
  if constexpr (threads == 1) return mine;
  if (lane == 0) states(member.team_rank()) = mine;
  member.team_barrier();
  if (in_first && member.team_rank() > 0) return mine;
  return merge_states<threads, lanes>(member, lane, states, 0);
}

}  // namespace KokkosSoftmax::Impl

#endif
