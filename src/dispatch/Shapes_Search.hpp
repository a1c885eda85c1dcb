// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_SEARCH_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_SHAPES_SEARCH_HPP

/// \file
/// For searches (KokkosSoftmax_TUNING_SHAPES): shapes in addition to those of the rule, each with
/// one constant changed. The rule never takes them, but a tuning table can.

#include <algorithm>
#include <dispatch/Shapes_Units.hpp>

namespace KokkosSoftmax::Impl {

/// Whether a shape has one lane, as on a host, where there are neither threads nor registers to
/// divide.
template <class S>
inline constexpr bool one_lane = S::threads* S::lanes == 1;

constexpr int fewer_teams(int teams, int team) {
  return teams == 0 ? std::min(32, 1024 / team) : teams * 3 / 4;
}
constexpr int more_teams(int teams, int team) {
  return std::min(32, teams == 0 ? 1536 / team : std::max(teams + 1, teams * 5 / 4));
}
template <class S, int teams>
using WithTeams = Shape<S::threads, S::lanes, S::items, S::width, S::access,
                        one_lane<S> ? S::min_teams : teams, S::rows_per_thread>;
template <class S>
using FewerTeams = WithTeams<S, fewer_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreTeams = WithTeams<S, more_teams(S::min_teams, S::threads* S::lanes)>;
template <class S>
using MoreThreads = Shape<one_lane<S> ? 1 : 2 * S::threads, S::lanes, S::items, S::width, S::access,
                          S::min_teams / 2, S::rows_per_thread>;
template <class S>
using FewerItems = Shape<S::threads, S::lanes, S::items / 2, S::width, S::access, S::min_teams,
                         S::rows_per_thread>;
template <class S>
using MoreItems = Shape<S::threads, S::lanes, 2 * S::items, S::width, S::access, S::min_teams,
                        S::rows_per_thread>;
template <class S>
using MoreRows = Shape<S::threads, S::lanes, S::items, S::width, S::access, S::min_teams,
                       2 * S::rows_per_thread>;

template <template <class> class Change, class... S>
constexpr auto changed(ShapeList<S...>) {
  return ShapeList<Change<S>...>{};
}

/// The shapes that are compiled for a list of the rule: the shapes of the list, then the changed
/// ones.
template <template <class> class... Change, class List>
constexpr auto with_changes(List list) {
#if defined(KOKKOSSOFTMAX_TUNING_SHAPES)
  return (list + ... + changed<Change>(list));
#else
  return list;
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
