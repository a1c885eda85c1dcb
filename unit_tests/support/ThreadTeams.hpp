// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_THREADTEAMS_HPP
#define KOKKOSSOFTMAX_TEST_THREADTEAMS_HPP

/// \file
/// Emulates teams of a GPU on the host: all teams of a league run at the same time, and each lane
/// of each thread of a team is a std::thread. A test can control when a team starts and when it
/// continues, which is impossible on a GPU.

#include <Kokkos_Core.hpp>
#include <array>
#include <barrier>
#include <cstddef>
#include <cstring>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

namespace KokkosSoftmax::Test {

/// The points at which a test can stop teams. Each function is called by all lanes of team `rank`,
/// and can wait.
struct TeamGates {
  std::function<void(int rank)> before_start = [](int) {};
  std::function<void(int rank)> before_first_barrier = [](int) {};
};

/// Waits until `condition` holds, and yields the core to other threads while it waits.
template <class Condition>
void wait_until(const Condition& condition) {
  while (!condition()) std::this_thread::yield();
}

/// The data that the lanes of a team share.
class ThreadTeam {
 public:
  ThreadTeam(int rank, int threads, int lanes, std::size_t scratch_bytes, const TeamGates& gates)
      : rank(rank),
        threads(threads),
        lanes(lanes),
        gates(gates),
        scratch(scratch_bytes / sizeof(std::max_align_t) + 1),
        barrier(threads * lanes),
        shown(static_cast<std::size_t>(threads * lanes)) {
    for (int t = 0; t < threads; ++t) vector_barriers.emplace_back(lanes);
  }

  const int rank, threads, lanes;
  const TeamGates& gates;
  std::vector<std::max_align_t> scratch;
  std::barrier<> barrier;
  std::deque<std::barrier<>> vector_barriers;    // one per thread of the team
  std::vector<std::array<std::byte, 16>> shown;  // the value that each lane exchanges
};

/// One lane of one thread of a team: the member type of the execution space ThreadTeams.
class LaneMember {
 public:
  using scratch_memory_space = Kokkos::DefaultHostExecutionSpace::scratch_memory_space;

  LaneMember(ThreadTeam& team, int thread, int lane)
      : m_team(team),
        m_thread(thread),
        m_lane(lane),
        m_scratch(team.scratch.data(), team.scratch.size() * sizeof(std::max_align_t)) {}

  KOKKOS_INLINE_FUNCTION int league_rank() const { return m_team.rank; }
  KOKKOS_INLINE_FUNCTION int team_rank() const { return m_thread; }
  KOKKOS_INLINE_FUNCTION int lane() const { return m_lane; }

  KOKKOS_INLINE_FUNCTION const scratch_memory_space& team_scratch(int level) const {
    return m_scratch.set_team_thread_mode(level, 1, 0);
  }

  KOKKOS_INLINE_FUNCTION void team_barrier() const { KOKKOS_IF_ON_HOST((wait_for_team();)) }

  /// Returns the value of the lane whose number is that of this lane xor `distance`. All lanes of
  /// the vector must call it.
  template <class T>
  KOKKOS_INLINE_FUNCTION T shuffle_xor(T value, [[maybe_unused]] int distance) const {
    KOKKOS_IF_ON_HOST((value = exchange(value, m_lane ^ distance);))
    return value;
  }

 private:
  void wait_for_team() const {
    if (!m_has_met_barrier) m_team.gates.before_first_barrier(m_team.rank);
    m_has_met_barrier = true;
    m_team.barrier.arrive_and_wait();
  }

  template <class T>
  T exchange(T value, int other) const {
    static_assert(sizeof(T) <= sizeof(m_team.shown[0]));
    auto* const vector = m_team.shown.data() + m_thread * m_team.lanes;
    std::barrier<>& barrier = m_team.vector_barriers[static_cast<std::size_t>(m_thread)];
    std::memcpy(vector + m_lane, &value, sizeof(T));
    barrier.arrive_and_wait();
    std::memcpy(&value, vector + other, sizeof(T));
    barrier.arrive_and_wait();
    return value;
  }

  ThreadTeam& m_team;
  int m_thread;
  int m_lane;
  scratch_memory_space m_scratch;
  mutable bool m_has_met_barrier = false;
};

// These functions replace those of src/team/Lanes.hpp, which depend on the backend.
template <int lanes>
KOKKOS_INLINE_FUNCTION int lane_number(const LaneMember& member) {
  return member.lane();
}
template <int lanes, class Reducer, class T, class Combine>
KOKKOS_INLINE_FUNCTION T combine_over_lanes(const LaneMember& member, T value,
                                            const Combine& combine) {
  for (int distance = lanes / 2; distance > 0; distance /= 2)
    value = combine(value, member.shuffle_xor(value, distance));
  return value;
}

/// Takes the place of the execution space in the types of kernels.
struct ThreadTeams {
  using scratch_memory_space = LaneMember::scratch_memory_space;
};

/// Runs the kernel with a league of `teams` teams, and waits until it has finished.
template <class Kernel>
void run_teams(const Kernel& kernel, int teams, int threads, int lanes, std::size_t scratch_bytes,
               const TeamGates& gates = {}) {
  std::deque<ThreadTeam> league;
  for (int rank = 0; rank < teams; ++rank)
    league.emplace_back(rank, threads, lanes, scratch_bytes, gates);
  std::vector<std::thread> all;
  for (ThreadTeam& team : league)
    for (int thread = 0; thread < threads; ++thread)
      for (int lane = 0; lane < lanes; ++lane)
        all.emplace_back([&, thread, lane] {
          gates.before_start(team.rank);
          kernel(LaneMember(team, thread, lane));
        });
  for (std::thread& thread : all) thread.join();
}

}  // namespace KokkosSoftmax::Test

/// Kernels get the type of their team members from this policy.
template <>
class Kokkos::TeamPolicy<KokkosSoftmax::Test::ThreadTeams> {
 public:
  using member_type = KokkosSoftmax::Test::LaneMember;
};

#endif
