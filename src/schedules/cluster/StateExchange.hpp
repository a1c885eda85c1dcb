// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_STATEEXCHANGE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_STATEEXCHANGE_HPP

#include <cstdint>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/ClusterPlan.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
namespace KokkosSoftmax::Impl {

/// The exchange of the states of a cluster's teams: each team sends its states of `rows` rows to
/// all teams. Each team has one object of this class in its shared memory, at the same place. A
/// barrier of the cluster would instead make every team wait until all that it has stored is in
/// memory, and would discard the first-level cache. See PTX ISA, st.async and mbarrier.
template <RowState State, int rows = 1>
class StateExchange {
 public:
  static constexpr int max_teams = most_cluster_teams;

  /// In the shared memory of the calling team.
  template <class Scratch>
  KOKKOS_FORCEINLINE_FUNCTION static StateExchange& in(const Scratch& scratch) {
    return *static_cast<StateExchange*>(
        scratch.get_shmem_aligned(sizeof(StateExchange), alignof(StateExchange)));
  }

  /// Called by one thread, before the first barrier of the cluster.
  KOKKOS_FORCEINLINE_FUNCTION void init() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&m_arrived)) : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
#endif
  }

  /// Called by one thread, after the first barrier of the cluster. `teams` is the number of teams
  /// that send their states.
  KOKKOS_FORCEINLINE_FUNCTION void expect([[maybe_unused]] int teams) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(&m_arrived)),
        "r"(teams * rows * static_cast<int>(sizeof(State)))
        : "memory");
#endif
  }

  /// Sends the state of this team, of the given row, to team `to`.
  KOKKOS_FORCEINLINE_FUNCTION void send([[maybe_unused]] const ClusterMember& member,
                                        [[maybe_unused]] int to,
                                        [[maybe_unused]] const State& state,
                                        [[maybe_unused]] int row = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const std::uint32_t slot = there(address(&m_states[member.rank_in_cluster()][row]), to);
    const std::uint32_t arrived = there(address(&m_arrived), to);
    if constexpr (sizeof(State) == 16) {
      const auto words = Kokkos::bit_cast<Words<std::uint64_t, 2>>(state);
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::
              "r"(slot),
          "l"(words.word[0]), "l"(words.word[1]), "r"(arrived)
          : "memory");
    } else if constexpr (sizeof(State) == 8) {
      const auto words = Kokkos::bit_cast<Words<std::uint32_t, 2>>(state);
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%0], {%1, %2}, [%3];" ::
              "r"(slot),
          "r"(words.word[0]), "r"(words.word[1]), "r"(arrived)
          : "memory");
    } else {
      static_assert(sizeof(State) == 4, "a state is sent by one instruction");
      asm volatile(
          "st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(slot),
          "r"(Kokkos::bit_cast<std::uint32_t>(state)), "r"(arrived)
          : "memory");
    }
#endif
  }

  /// Waits until the states of all teams have arrived. `phase`: 0 for the first exchange of this
  /// object, 1 for the second one, 0 for the third one, and so on.
  KOKKOS_FORCEINLINE_FUNCTION void wait([[maybe_unused]] int phase = 0) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    std::uint32_t are_there = 0;
    while (are_there == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, "
          "0, p; }"
          : "=r"(are_there)
          : "r"(address(&m_arrived)), "r"(phase)
          : "memory");
#endif
  }

  KOKKOS_FORCEINLINE_FUNCTION State of_team(int team, int row = 0) const {
    return m_states[team][row];
  }

 private:
  template <class Word, int count>
  struct Words {
    Word word[count];
  };
#if defined(__CUDA_ARCH__)
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t address(const void* shared) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
  }
  /// The same place in the shared memory of another team.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t there(std::uint32_t here, int team) {
    std::uint32_t address;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(address) : "r"(here), "r"(team));
    return address;
  }
#endif

  alignas(16) State m_states[max_teams][rows];
  std::uint64_t m_arrived;
};

}  // namespace KokkosSoftmax::Impl
#endif

#endif
