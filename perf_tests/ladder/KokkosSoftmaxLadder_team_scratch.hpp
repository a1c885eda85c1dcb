// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_TEAM_SCRATCH_HPP
#define KOKKOSSOFTMAXLADDER_TEAM_SCRATCH_HPP

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder {

namespace Impl {

/// Combines one value of each thread by a tree in `slots` (team scratch, one slot per thread; the
/// team size is a power of two). Every thread gets the result, and may use the slots again after
/// that.
template <class Member, class Slots, class T, class Combine>
KOKKOS_INLINE_FUNCTION T tree_reduce(const Member& team, const Slots& slots, T value,
                                     Combine combine) {
  const int rank = team.team_rank();
  slots(rank) = value;
  team.team_barrier();
  for (int half = team.team_size() / 2; half > 0; half /= 2) {
    if (rank < half) slots(rank) = combine(slots(rank), slots(rank + half));
    team.team_barrier();
  }
  const T result = slots(0);
  team.team_barrier();
  return result;
}

}  // namespace Impl

/// One team per row, three passes. Neighbouring threads process neighbouring columns. Max and sum
/// are reduced by a tree in scratch memory, with one barrier per level.
template <class Exec, class X, class Y>
void team_scratch(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("team_scratch", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Impl::TeamWish wish = Impl::warps_for_row(columns, 8, /*lanes_per_thread=*/1, 512);
  wish.scratch_bytes = static_cast<int>(Impl::ScratchArray<Exec, T>::shmem_size(wish.threads));
  Impl::run_teams(
      exec, "team_scratch", rows, wish, KOKKOS_LAMBDA(const Impl::Member<Exec>& team) {
        const T* from = &x(team.league_rank(), 0);
        T* to = &y(team.league_rank(), 0);
        const Impl::ScratchArray<Exec, T> slots(team.team_scratch(0), team.team_size());
        const int first = team.team_rank(), step = team.team_size();

        T max = -Kokkos::Experimental::infinity_v<T>;
        for (int column = first; column < columns; column += step)
          max = Kokkos::fmax(max, from[column]);
        max = Impl::tree_reduce(team, slots, max, [](T a, T b) { return Kokkos::fmax(a, b); });

        T sum = 0;
        for (int column = first; column < columns; column += step)
          sum += Kokkos::exp(from[column] - max);
        sum = Impl::tree_reduce(team, slots, sum, [](T a, T b) { return a + b; });

        const T inverse = 1 / sum;
        for (int column = first; column < columns; column += step)
          to[column] = Kokkos::exp(from[column] - max) * inverse;
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
