// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_FUSED_ONE_ROW_HPP
#define KOKKOSSOFTMAXLADDER_FUSED_ONE_ROW_HPP

#include <KokkosSoftmaxLadder_FusedRow.hpp>

namespace KokkosSoftmaxLadder {

/// One team per row. The row is kept in level-0 scratch: one read, one write.
template <class Exec, class X, class Y>
void fused_one_row(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("fused_one_row", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Impl::check_row_fits_scratch<T>(exec, "fused_one_row", columns);
  Impl::run_teams(
      exec, "fused_one_row", rows, Impl::fused_team<T, Exec>(columns),
      KOKKOS_LAMBDA(const Impl::Member<Exec>& team) {
        const Impl::ScratchArray<Exec, T> kept(team.team_scratch(0), columns);
        const int row = team.league_rank();
        Impl::fused_row(team, kept.data(), static_cast<const T*>(&x(row, 0)), &y(row, 0), columns);
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
