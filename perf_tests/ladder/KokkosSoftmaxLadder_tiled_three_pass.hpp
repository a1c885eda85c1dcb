// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_TILED_THREE_PASS_HPP
#define KOKKOSSOFTMAXLADDER_TILED_THREE_PASS_HPP

#include <KokkosSoftmaxLadder_Tiles.hpp>

namespace KokkosSoftmaxLadder {

/// For rows that are wider than any scratch: one large team per row, three passes in tiles (max,
/// sum, write).
template <class Exec, class X, class Y>
void tiled_three_pass(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("tiled_three_pass", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Impl::run_teams(
      exec, "tiled_three_pass", rows, Impl::tiled_team<Exec>(columns),
      KOKKOS_LAMBDA(const Impl::Member<Exec>& team) {
        const T* from = &x(team.league_rank(), 0);
        T* to = &y(team.league_rank(), 0);
        const int width = Impl::tile_width<Exec>(team);
        const auto lanes_of_tile = Kokkos::TeamVectorRange(team, width);
        T max;
        Kokkos::parallel_reduce(
            lanes_of_tile,
            [&](int lane, T& m) {
              Impl::tiles_forwards(lane, width, columns,
                                   [&](int column) { m = Kokkos::fmax(m, from[column]); });
            },
            Kokkos::Max<T>(max));
        T sum;
        Kokkos::parallel_reduce(
            lanes_of_tile,
            [&](int lane, T& s) {
              Impl::tiles_forwards(lane, width, columns,
                                   [&](int column) { s += Kokkos::exp(from[column] - max); });
            },
            Kokkos::Sum<T>(sum));
        const T inverse = 1 / sum;
        Kokkos::parallel_for(lanes_of_tile, [&](int lane) {
          Impl::tiles_forwards(lane, width, columns, [&](int column) {
            to[column] = Kokkos::exp(from[column] - max) * inverse;
          });
        });
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
