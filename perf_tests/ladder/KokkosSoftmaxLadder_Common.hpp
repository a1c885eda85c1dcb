// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_COMMON_HPP
#define KOKKOSSOFTMAXLADDER_COMMON_HPP

/// \file
/// What every step of the ladder needs: the check of its operands, and the sizes of its teams.

#include <Kokkos_Core.hpp>
#include <algorithm>
#include <bit>
#include <climits>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace KokkosSoftmaxLadder::Impl {

/// Host backends have no lanes. Their best team is one thread that has a row to itself.
template <class Exec>
inline constexpr bool is_host_space =
    std::is_same_v<typename Exec::memory_space, Kokkos::HostSpace>;

/// Vector length of the teams that reduce with lanes: a warp on a GPU.
template <class Exec>
inline constexpr int lanes = is_host_space<Exec> ? 1 : 32;

/// Throws unless x and y are matrices of the same extents with contiguous rows.
template <class X, class Y>
void check_operands(const std::string& step, const X& x, const Y& y) {
  static_assert(X::rank() == 2 && Y::rank() == 2, "KokkosSoftmaxLadder: x and y must have rank 2");
  static_assert(std::is_same_v<typename X::non_const_value_type, typename Y::value_type>,
                "KokkosSoftmaxLadder: x and y must have the same value type");
  const std::string where = "KokkosSoftmaxLadder::" + step + ": ";
  if (x.extent(0) != y.extent(0) || x.extent(1) != y.extent(1))
    throw std::invalid_argument(where + "x and y have different extents: give them the same ones");
  if (x.extent(1) > 1 && (x.stride(1) != 1 || y.stride(1) != 1))
    throw std::invalid_argument(where + "rows must be contiguous: use LayoutRight");
  if (x.extent(0) > INT_MAX || x.extent(1) > INT_MAX)
    throw std::invalid_argument(where + "rows and columns must be fewer than 2^31 each");
}

template <class X>
bool is_empty(const X& x) {
  return x.extent(0) == 0 || x.extent(1) == 0;
}

/// The team that a step asks for; the backend may permit less.
struct TeamWish {
  int threads = 1;        ///< threads per team, a power of two
  int lanes = 1;          ///< lanes per thread
  int scratch_bytes = 0;  ///< level-0 scratch per team
};

/// Returns a size with enough warps that each lane has about `entries_per_lane` of the row's
/// columns, within [1 warp, max_lanes].
inline TeamWish warps_for_row(int columns, int entries_per_lane, int lanes_per_thread,
                              int max_lanes = 1024) {
  const unsigned wanted = std::bit_ceil(1u + (columns - 1u) / entries_per_lane);
  const int total = std::clamp<int>(std::min(wanted, 1u << 20), 32, max_lanes);
  return {.threads = std::max(1, total / lanes_per_thread), .lanes = lanes_per_thread};
}

/// Returns `wish`, reduced to what the backend permits for this kernel.
template <class Policy, class Exec, class Kernel>
Policy team_policy(const Exec& exec, int teams, const TeamWish& wish, const Kernel& kernel) {
  const auto scratch = Kokkos::PerTeam(wish.scratch_bytes);
  Policy any_size(exec, teams, Kokkos::AUTO, wish.lanes);
  any_size.set_scratch_size(0, scratch);
  const int limit = is_host_space<Exec>
                        ? any_size.team_size_recommended(kernel, Kokkos::ParallelForTag())
                        : any_size.team_size_max(kernel, Kokkos::ParallelForTag());
  const int threads = static_cast<int>(std::bit_floor(unsigned(std::min(wish.threads, limit))));
  Policy policy(exec, teams, threads, wish.lanes);
  policy.set_scratch_size(0, scratch);
  return policy;
}

/// Runs kernel(team member) in `teams` teams.
template <class Exec, class Kernel>
void run_teams(const Exec& exec, const std::string& step, int teams, const TeamWish& wish,
               const Kernel& kernel) {
  Kokkos::parallel_for("KokkosSoftmaxLadder::" + step,
                       team_policy<Kokkos::TeamPolicy<Exec>>(exec, teams, wish, kernel), kernel);
}

template <class Exec>
using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

/// An array of a team, in level-0 scratch.
template <class Exec, class T>
using ScratchArray =
    Kokkos::View<T*, typename Exec::scratch_memory_space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

}  // namespace KokkosSoftmaxLadder::Impl

#endif
