// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_LANEGROUP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_LANEGROUP_HPP

/// \file
/// The lanes that work on one row in a call inside a kernel, and how they divide it: lanes of a
/// warp form a group, and the groups of a team take the virtual warps of a row (ReductionOrder) in
/// turn.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/numerics/KokkosSoftmax_PartialSums.hpp>
#include <impl/device/team/KokkosSoftmax_LseState.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>

namespace KokkosSoftmax::Impl {

/// A group of `lanes()` lanes of a warp, a power of two up to 32. Lane l does the work of the
/// virtual lanes l, l + lanes(), l + 2 lanes(), and so on, of a virtual warp. `fixed_lanes` is the
/// number of lanes if it is known at compile time (1 or 32), or else 0 for 1 to 16 lanes.
/// Without `holds_tiles_`, lanes keep no entries in registers, which leaves registers to other code
/// of a kernel.
template <int fixed_lanes, bool holds_tiles_ = true>
class LaneGroup {
 public:
  static constexpr int fixed = fixed_lanes;
  static constexpr bool holds_tiles = holds_tiles_;
  static constexpr int virtual_lanes = 32;
  /// The most virtual lanes per lane.
  static constexpr int most_per_lane = fixed == 0 ? virtual_lanes : virtual_lanes / fixed;

  /// `number`: the number of this lane in its warp.
  KOKKOS_FORCEINLINE_FUNCTION explicit LaneGroup(int number, int lanes = fixed)
      : m_number(number), m_lanes(lanes) {}

  KOKKOS_FORCEINLINE_FUNCTION int lanes() const { return fixed == 0 ? m_lanes : fixed; }
  KOKKOS_FORCEINLINE_FUNCTION int lane() const { return fixed == 1 ? 0 : m_number % lanes(); }
  /// The number of virtual lanes per lane.
  KOKKOS_FORCEINLINE_FUNCTION int per_lane() const { return virtual_lanes / lanes(); }

  /// The largest value of the lanes' values.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T max(T value) const {
    return combine(value, lanes(), [](T a, T b) { return larger(a, b); });
  }
  /// The sum of the lanes' values, by halves.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum(T value) const {
    return combine(value, lanes(), [](T a, T b) { return a + b; });
  }

  /// Calls body(k) for the virtual lanes lane() + k * lanes().
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_virtual_lane(const Body& body) const {
    if constexpr (most_per_lane == 1) {
      body(0);
    } else {
      KOKKOSSOFTMAX_IMPL_NO_UNROLL
      for (int k = 0; k < per_lane(); ++k) body(k);
    }
  }

  /// The state of all virtual lanes' entries: part[k] is the state of the virtual lane lane() + k *
  /// lanes().
  template <RowState State>
  KOKKOS_FORCEINLINE_FUNCTION State merge(const State (&part)[most_per_lane]) const {
    using Traits = StateTraits<State>;
    using T = typename Traits::Value;
    T max = Traits::max(part[0]);
    if constexpr (Traits::has_reference) {
      for_each_virtual_lane([&](int k) { max = larger(max, Traits::max(part[k])); });
      max = this->max(max);
    }
    const T reference = Traits::reference_of(max);
    T sums[most_per_lane];
    for_each_virtual_lane([&](int k) { sums[k] = sum_relative_to(reference, part[k]); });
    return Traits::make(max, sum_of_virtual_lanes(sums));
  }
  /// The same for states of parts of a row that are settled if they are near 0, see LseState.
  template <RowState State>
  KOKKOS_FORCEINLINE_FUNCTION State merge_parts(const State (&part)[most_per_lane]) const {
    const State merged = merge(part);
    if constexpr (keeps_digits<State>)
      if (is_merged_near_zero(merged)) {
        typename StateTraits<State>::Value terms[most_per_lane];
        for_each_virtual_lane([&](int k) { terms[k] = term_beside_max(merged.max, part[k]); });
        return merged_near_zero(merged.max, sum_of_virtual_lanes(terms));
      }
    return merged;
  }

  /// The state of `count` states of parts, a power of two up to 32, of which a warp's lane l has
  /// the one with the number l mod count.
  template <RowState State>
  KOKKOS_FORCEINLINE_FUNCTION State merge_repeated(const State& mine, int count) const {
    static_assert(fixed == 32);
    using Traits = StateTraits<State>;
    using T = typename Traits::Value;
    T max = Traits::max(mine);
    if constexpr (Traits::has_reference)
      max = combine(max, count, [](T a, T b) { return larger(a, b); });
    const T sum = sum_relative_to(Traits::reference_of(max), mine);
    const auto add = [](T a, T b) { return a + b; };
    const State merged = Traits::make(max, combine(sum, count, add));
    if constexpr (keeps_digits<State>)
      if (is_merged_near_zero(merged))
        return merged_near_zero(max, combine(term_beside_max(max, mine), count, add));
    return merged;
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION T sum_of_virtual_lanes(T (&sums)[most_per_lane]) const {
    if constexpr (most_per_lane == 1) return sum(sums[0]);
    return sum(halved_sum(sums, per_lane()));
  }

 private:
  template <class T, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION T combine(T value, int count, const Combine& combined) const {
    if constexpr (fixed != 1)
      for (int distance = count / 2; distance > 0; distance /= 2)
        value = combined(value, Intrinsics::shuffle_xor(mask(), value, distance));
    return value;
  }

  /// The lanes of the warp that are in the group.
  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t mask() const {
    if constexpr (fixed == 32)
      return 0xffffffffu;
    else
      return ((1u << m_lanes) - 1u) << (m_number - m_number % m_lanes);
  }

  int m_number;
  int m_lanes;
};

/// A row for one group: the group takes all virtual warps.
struct OneGroup {
  static constexpr bool is_alone = true;

  KOKKOS_FORCEINLINE_FUNCTION bool takes_part() const { return true; }
  KOKKOS_FORCEINLINE_FUNCTION int number() const { return 0; }
  KOKKOS_FORCEINLINE_FUNCTION int groups() const { return 1; }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const {}

  /// The states of the virtual warps, which each lane keeps.
  template <RowState State, int size>
  struct States {
    KOKKOS_FORCEINLINE_FUNCTION explicit States(const OneGroup&) {}
    KOKKOS_FORCEINLINE_FUNCTION void set(int warp, bool /*is_first_lane*/, const State& state) {
      m_state[warp] = state;
    }
    KOKKOS_FORCEINLINE_FUNCTION const State& operator[](int warp) const { return m_state[warp]; }

   private:
    State m_state[size];
  };
};

/// A row for the groups of a team. Group g takes the virtual warps g, g + groups(), and so on.
/// Lanes that are left over take part in barriers alone: their number is that of no virtual warp.
template <class Member>
class GroupsOfTeam {
 public:
  static constexpr bool is_alone = false;

  KOKKOS_FORCEINLINE_FUNCTION GroupsOfTeam(const Member& member, int number, int groups,
                                           void* scratch)
      : m_member(member),
        m_number(number < groups ? number : none),
        m_groups(groups),
        m_scratch(scratch) {}

  KOKKOS_FORCEINLINE_FUNCTION bool takes_part() const { return m_number != none; }
  KOKKOS_FORCEINLINE_FUNCTION int number() const { return m_number; }
  KOKKOS_FORCEINLINE_FUNCTION int groups() const { return m_groups; }
  KOKKOS_FORCEINLINE_FUNCTION void barrier() const { m_member.team_barrier(); }

  /// The states of the virtual warps, in scratch memory.
  template <RowState State, int size>
  struct States {
    KOKKOS_FORCEINLINE_FUNCTION explicit States(const GroupsOfTeam& team)
        : m_state(static_cast<State*>(team.m_scratch)) {}
    KOKKOS_FORCEINLINE_FUNCTION void set(int warp, bool is_first_lane, const State& state) {
      if (is_first_lane) m_state[warp] = state;
    }
    KOKKOS_FORCEINLINE_FUNCTION const State& operator[](int warp) const { return m_state[warp]; }

   private:
    State* m_state;
  };

 private:
  static constexpr int none = 1 << 20;

  const Member& m_member;
  int m_number;
  int m_groups;
  void* m_scratch;
};

}  // namespace KokkosSoftmax::Impl

#endif
