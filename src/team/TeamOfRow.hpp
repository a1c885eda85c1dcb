// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_TEAMOFROW_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_TEAMOFROW_HPP

/// \file
/// Merges the states of any number of parts of a row over a team.

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/team/KokkosSoftmax_LseState.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// All lanes of a team. All of them call the functions together.
template <class Exec, class T, int threads, int lanes>
class TeamOfRow {
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Slots = Kokkos::View<T*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  static constexpr int size = threads * lanes;

  KOKKOS_FORCEINLINE_FUNCTION TeamOfRow(const Member& member, int thread_id)
      : m_member(member), m_number(thread_id), m_slots(member.team_scratch(0), 2 * threads) {}

  KOKKOS_FORCEINLINE_FUNCTION int number() const { return m_number; }

  /// max() and sum() use different scratch memory, and each has one barrier. The caller has to put
  /// a barrier() between two calls of max() without sum() between them. The same holds for sum().
  KOKKOS_FORCEINLINE_FUNCTION T max(T value) const {
    return combine(max_over_lanes<lanes>(m_member, value), 0,
                   [](T a, T b) { return larger(a, b); });
  }
  KOKKOS_FORCEINLINE_FUNCTION T sum(T value) const {
    return combine(sum_over_lanes<lanes>(m_member, value), threads, [](T a, T b) { return a + b; });
  }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { m_member.team_barrier(); }
  /// Whether the condition holds for a row of the team, given that of this lane's row. All lanes of
  /// the team get the same result.
  KOKKOS_FORCEINLINE_FUNCTION static bool any_row(bool condition) { return condition; }

  static std::size_t scratch_bytes() { return Slots::shmem_size(2 * threads); }

 private:
  template <class Combine>
  KOKKOS_FORCEINLINE_FUNCTION T combine(T value, int first_slot, const Combine& combined) const {
    if constexpr (threads == 1) return value;
    if (m_number % lanes == 0) m_slots(first_slot + m_number / lanes) = value;
    m_member.team_barrier();
    T all = m_slots(first_slot);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 1; t < threads; ++t) all = combined(all, m_slots(first_slot + t));
    return all;
  }

  const Member& m_member;
  int m_number;
  Slots m_slots;
};

/// Merges the states part_at(0), part_at(1), ... of `count` parts of a row. All lanes of the group
/// get the same result. The largest entry is found first: if it rose from part to part, the sum
/// would be rounded each time.
template <RowState State, class Group, class PartAt>
KOKKOS_FORCEINLINE_FUNCTION State merge_parts(const Group& group, std::int64_t count,
                                              const PartAt& part_at) {
  using Traits = StateTraits<State>;
  using T = typename Traits::Value;
  const auto sum_over_parts = [&](const auto& term) {
    CompensatedSum<T> sum;
    for (std::int64_t i = group.number(); i < count; i += Group::size) sum.add(term(part_at(i)));
    return group.sum(sum.value());
  };
  T max = Traits::max(State{});
  if constexpr (Traits::has_reference) {
    for (std::int64_t i = group.number(); i < count; i += Group::size)
      max = larger(max, Traits::max(part_at(i)));
    max = group.max(max);
  }
  const T reference = Traits::reference_of(max);
  const T sum = sum_over_parts([&](const State& s) { return sum_relative_to(reference, s); });
  State merged = Traits::make(max, sum);
  if constexpr (keeps_digits<State>) {
    const bool is_near = is_merged_near_zero(merged);
    if (group.any_row(is_near)) {  // the sum has barriers
      group.barrier();
      const T terms = sum_over_parts([&](const State& s) { return term_beside_max(max, s); });
      if (is_near) merged = merged_near_zero(max, terms);
    }
  }
  return merged;
}

}  // namespace KokkosSoftmax::Impl

#endif
