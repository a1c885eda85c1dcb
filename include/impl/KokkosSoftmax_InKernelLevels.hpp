// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_INKERNELLEVELS_HPP
#define KOKKOSSOFTMAX_IMPL_INKERNELLEVELS_HPP

/// \file
/// Who works on the row of a call inside a kernel. On devices a level makes the group of lanes and
/// the groups of the team (KokkosSoftmax_LaneGroup.hpp), for which the call computes the row. On
/// hosts one thread computes it.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/device/schedules/KokkosSoftmax_RowInOrder.hpp>
#include <impl/device/team/KokkosSoftmax_LaneGroup.hpp>

namespace KokkosSoftmax::Impl {

/// A call has
///
/// - T: the type of its result
/// - on_host(): computes the row with one thread of a host
/// - on_device(group, team): computes the row with the groups of a team, see RowInOrder::compute()
/// - result(totals): the result, given what on_device() returns

/// The call in one thread of a device.
template <class Call>
KOKKOS_INLINE_FUNCTION auto run_in_one_thread(const Call& call) {
  return call.result(call.on_device(LaneGroup<1>(0), OneGroup()));
}

struct SerialLevel {
  static constexpr bool is_serial = true;

  template <class Call>
  KOKKOS_INLINE_FUNCTION static auto run(const Call& call) {
    KOKKOS_IF_ON_HOST((return call.on_host();))
    KOKKOS_IF_ON_DEVICE((return run_in_one_thread(call);))
  }
  static constexpr std::size_t scratch_size(std::int64_t, int) { return 0; }
};

struct ThreadVectorLevel {
  static constexpr bool is_serial = false;

  template <class Member, class Call>
  KOKKOS_INLINE_FUNCTION static auto run([[maybe_unused]] const Member& member, const Call& call) {
    KOKKOS_IF_ON_HOST((return call.on_host();))
    KOKKOS_IF_ON_DEVICE((return on_device(member, call);))
  }
  static constexpr std::size_t scratch_size(std::int64_t, int) { return 0; }

 private:
  template <class Member, class Call>
  KOKKOS_FUNCTION static typename Call::T on_device(const Member& member, const Call& call) {
    if constexpr (Intrinsics::has_shuffles) {
      const int lanes = Intrinsics::vector_length();
      const int number = Intrinsics::number_in_team() % 32;
      if (lanes == 32) return call.result(call.on_device(LaneGroup<32>(number), OneGroup()));
      if (lanes < 32) return call.result(call.on_device(LaneGroup<0>(number, lanes), OneGroup()));
    }
    // a device without shuffles, or a vector of 64 lanes
    typename Call::T result;
    Kokkos::single(
        Kokkos::PerThread(member),
        [&](typename Call::T& of_first_lane) { of_first_lane = run_in_one_thread(call); }, result);
    return result;
  }
};

/// The scratch memory of a team: the states of virtual warps, each of two numbers, and what the row
/// is reduced to.
template <class Member, class T>
using TeamNumbers = Kokkos::View<T*, typename Member::scratch_memory_space,
                                 Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
inline constexpr int team_numbers = 2 * 16 + 2;

struct TeamLevel {
  static constexpr bool is_serial = false;

  template <class Member, class Call>
  KOKKOS_INLINE_FUNCTION static auto run(const Member& member, const Call& call) {
    using T = typename Call::T;
    KOKKOS_IF_ON_HOST((T result(0); if (member.team_rank() == 0) result = call.on_host();
                       member.team_broadcast(result, 0); return result;))
    KOKKOS_IF_ON_DEVICE((return on_device(member, call);))
  }

  /// A multiple of 8, with space for the alignment of a View.
  static constexpr std::size_t scratch_size(std::int64_t /*columns*/, int /*team_size*/) {
    return (team_numbers + 1) * sizeof(double);
  }

 private:
  template <class Member, class Call>
  KOKKOS_FUNCTION static typename Call::T on_device(const Member& member, const Call& call) {
    using T = typename Call::T;
    if constexpr (Intrinsics::has_shuffles) {
      // A copy, so that the memory is free again after the call.
      const auto scratch = member.team_scratch(0);
      const TeamNumbers<Member, T> numbers(scratch, team_numbers);
      if (numbers.data() == nullptr)
        Kokkos::abort(
            "KokkosSoftmax: a call of a team has no scratch memory (the policy asks for too "
            "little): give set_scratch_size(0, Kokkos::PerTeam(scratch_size(columns, team_size)))");
      const int all = Intrinsics::lanes_of_team();
      const int number = Intrinsics::number_in_team();
      RowTotals<T> totals;
      if (all >= 32)
        totals = call.on_device(LaneGroup<32>(number % 32),
                                GroupsOfTeam(member, number / 32, all / 32, numbers.data()));
      else if (number == 0)
        totals = call.on_device(LaneGroup<1, false>(0), OneGroup());
      if (all % 32 != 0) {  // some lanes have nothing yet
        if (number == 0) {
          numbers(team_numbers - 2) = totals.reference;
          numbers(team_numbers - 1) = totals.sum;
        }
        member.team_barrier();
        totals = {numbers(team_numbers - 2), numbers(team_numbers - 1)};
      }
      member.team_barrier();
      return call.result(totals);
    } else {
      T result;
      Kokkos::single(
          Kokkos::PerTeam(member),
          [&](T& of_first_thread) { of_first_thread = run_in_one_thread(call); }, result);
      return result;
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
