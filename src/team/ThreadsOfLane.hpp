// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_THREADSOFLANE_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_THREADSOFLANE_HPP

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The threads of a team, if each lane has a row of its own that its threads share. A group for
/// merge_parts().
template <class Exec, class T, int threads, int lanes>
class ThreadsOfLane {
 public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int size = threads;

  KOKKOS_FORCEINLINE_FUNCTION explicit ThreadsOfLane(const Member& member)
      : m_member(member),
        m_lane(lane_number<lanes>(member)),
        m_slots(member.team_scratch(0), 2 * threads * lanes) {}

  KOKKOS_FORCEINLINE_FUNCTION int number() const { return m_member.team_rank(); }
  KOKKOS_FORCEINLINE_FUNCTION int lane() const { return m_lane; }

  /// As in TeamOfRow: a barrier() between two calls of max() without sum() between them, and
  /// between two calls of sum().
  KOKKOS_FORCEINLINE_FUNCTION T max(T value) const {
    return combined(value, 0, [](T a, T b) { return larger(a, b); });
  }
  KOKKOS_FORCEINLINE_FUNCTION T sum(T value) const {
    return combined(value, threads, [](T a, T b) { return a + b; });
  }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { m_member.team_barrier(); }
  /// As in TeamOfRow. All threads have the same rows, one per lane.
  KOKKOS_FORCEINLINE_FUNCTION static bool any_row(bool condition) {
    return Intrinsics::any_lane(condition);
  }

  static std::size_t scratch_bytes() { return Slots::shmem_size(2 * threads * lanes); }

 private:
  using Slots = Kokkos::View<T*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Combine>
  KOKKOS_FORCEINLINE_FUNCTION T combined(T value, int first_slot, const Combine& combine) const {
    if constexpr (threads == 1) return value;
    m_slots((first_slot + number()) * lanes + m_lane) = value;
    m_member.team_barrier();
    T all = m_slots(first_slot * lanes + m_lane);
    for (int t = 1; t < threads; ++t)
      all = combine(all, m_slots((first_slot + t) * lanes + m_lane));
    return all;
  }

  const Member& m_member;
  int m_lane;
  Slots m_slots;
};

}  // namespace KokkosSoftmax::Impl

#endif
