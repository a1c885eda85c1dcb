// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_FUSED_PERSISTENT_HPP
#define KOKKOSSOFTMAXLADDER_FUSED_PERSISTENT_HPP

#include <KokkosSoftmaxLadder_FusedRow.hpp>

namespace KokkosSoftmaxLadder {

/// fused_one_row with only as many teams as are resident at one time. Each team loops over rows.
template <class Exec, class X, class Y>
void fused_persistent(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("fused_persistent", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Impl::check_row_fits_scratch<T>(exec, "fused_persistent", columns);
  const auto kernel = KOKKOS_LAMBDA(const Impl::Member<Exec>& team) {
    const Impl::ScratchArray<Exec, T> kept(team.team_scratch(0), columns);
    for (int row = team.league_rank(); row < rows; row += team.league_size())
      Impl::fused_row(team, kept.data(), static_cast<const T*>(&x(row, 0)), &y(row, 0), columns);
  };
  // Teams have at most 512 lanes, and four of them are resident. Each lane then has few enough
  // registers that all of exec.concurrency() runs at one time, as the number of teams assumes.
  using Policy = Kokkos::TeamPolicy<Exec, Kokkos::LaunchBounds<512, 4>>;
  const Impl::TeamWish wish = Impl::fused_team<T, Exec>(columns);
  const auto one_team = Impl::team_policy<Policy>(exec, 1, wish, kernel);
  const int resident = exec.concurrency() / (one_team.team_size() * wish.lanes);
  Kokkos::parallel_for("KokkosSoftmaxLadder::fused_persistent",
                       Impl::team_policy<Policy>(exec, std::clamp(resident, 1, rows), wish, kernel),
                       kernel);
}

}  // namespace KokkosSoftmaxLadder

#endif
