// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_TEAM_SHUFFLE_HPP
#define KOKKOSSOFTMAXLADDER_TEAM_SHUFFLE_HPP

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder {

/// One team per row and three passes, as team_scratch. The reductions are those of Kokkos over the
/// lanes of a vector and then over the threads: shuffles within a warp on a GPU.
template <class Exec, class X, class Y>
void team_shuffle(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("team_shuffle", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Impl::run_teams(
      exec, "team_shuffle", rows, Impl::warps_for_row(columns, 8, Impl::lanes<Exec>, 512),
      KOKKOS_LAMBDA(const Impl::Member<Exec>& team) {
        const T* from = &x(team.league_rank(), 0);
        T* to = &y(team.league_rank(), 0);
        const auto row = Kokkos::TeamVectorRange(team, columns);
        T max;
        Kokkos::parallel_reduce(
            row, [&](int column, T& m) { m = Kokkos::fmax(m, from[column]); }, Kokkos::Max<T>(max));
        T sum;
        Kokkos::parallel_reduce(
            row, [&](int column, T& s) { s += Kokkos::exp(from[column] - max); },
            Kokkos::Sum<T>(sum));
        const T inverse = 1 / sum;
        Kokkos::parallel_for(
            row, [&](int column) { to[column] = Kokkos::exp(from[column] - max) * inverse; });
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
