// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_ONLINEROW_HPP
#define KOKKOSSOFTMAXLADDER_ONLINEROW_HPP

/// \file
/// The common part of the two online steps. They differ only in the direction of the second pass.

#include <KokkosSoftmaxLadder_Tiles.hpp>
#include <KokkosSoftmax_LogSumExpState.hpp>

namespace KokkosSoftmaxLadder::Impl {

/// First pass: max and sum of a row together, with one LogSumExpState per lane.
template <class Exec, class T>
KOKKOS_INLINE_FUNCTION KokkosSoftmax::LogSumExpState<T> online_state(const Member<Exec>& team,
                                                                     const T* from, int columns) {
  using State = KokkosSoftmax::LogSumExpState<T>;
  const int width = tile_width<Exec>(team);
  State state;
  Kokkos::parallel_reduce(
      Kokkos::TeamVectorRange(team, width),
      [&](int lane, State& s) {
        tiles_forwards(lane, width, columns, [&](int column) { s.update(from[column]); });
      },
      KokkosSoftmax::LogSumExp<T, typename Exec::memory_space>(state));
  return state;
}

/// One large team per row. `Backwards`: the second pass starts where the first one ended.
template <bool Backwards, class Exec, class X, class Y>
void run_online(const Exec& exec, const std::string& step, const X& x, const Y& y) {
  check_operands(step, x, y);
  if (is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  run_teams(
      exec, step, rows, tiled_team<Exec>(columns), KOKKOS_LAMBDA(const Member<Exec>& team) {
        const T* from = &x(team.league_rank(), 0);
        T* to = &y(team.league_rank(), 0);
        const auto state = online_state<Exec>(team, from, columns);
        const T inverse = 1 / state.sum;
        const int width = tile_width<Exec>(team);
        Kokkos::parallel_for(Kokkos::TeamVectorRange(team, width), [&](int lane) {
          const auto write = [&](int column) {
            to[column] = Kokkos::exp(from[column] - state.max) * inverse;
          };
          if (Backwards)
            tiles_backwards(lane, width, columns, write);
          else
            tiles_forwards(lane, width, columns, write);
        });
      });
}

}  // namespace KokkosSoftmaxLadder::Impl

#endif
