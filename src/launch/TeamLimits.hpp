// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLIMITS_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_TEAMLIMITS_HPP

#include <Kokkos_Core.hpp>
#include <backend/Device.hpp>
#include <backend/Hardware.hpp>
#include <cstddef>

namespace KokkosSoftmax::Impl {

/// The second launch bound is a number of teams per multiprocessor on CUDA only.
template <class Shape, class Exec>
using LaunchBoundsOf =
    Kokkos::LaunchBounds<Shape::team_size * Shape::lanes,
                         is_cuda<Exec> && Shape::min_teams != 0 ? Shape::min_teams : 1>;

/// Kokkos passes kernels of more than 512 bytes, with its own policy in them, through constant
/// memory, which makes a launch wait for the one before it, unless it is told that a kernel is
/// light.
template <class Kernel>
inline constexpr bool is_large = sizeof(Kernel) > 320;
template <class Exec, class Shape, class Kernel>
using PolicyOf = std::conditional_t<
    is_large<Kernel>,
    Kokkos::TeamPolicy<Exec, LaunchBoundsOf<Shape, Exec>,
                       Kokkos::Experimental::WorkItemProperty::HintLightWeight_t>,
    Kokkos::TeamPolicy<Exec, LaunchBoundsOf<Shape, Exec>>>;

/// The most teams of a launch. On CUDA, the number of teams must fit 31 bits; on other backends,
/// the number of threads must.
template <class Exec, class Shape>
inline constexpr std::int64_t max_league_size = (std::int64_t(1) << 30) /
                                                (is_cuda<Exec> ? 1
                                                               : Shape::team_size * Shape::lanes);

/// What a team can have on a device, whatever its kernel is: the launch bounds of a kernel leave
/// enough registers for a team of its Shape. (With a query for each kernel, the library would take
/// a twentieth longer to compile.)
class TeamLimits {
 public:
  template <class Exec>
  static const TeamLimits& of(const Exec& exec) {
    static PerDevice<TeamLimits> of_device;
    return of_device.of(exec, [&] {
      using Policy = Kokkos::TeamPolicy<Exec>;
      TeamLimits limits;
      limits.m_vector_length = Policy::vector_length_max();
      limits.m_lanes = most_lanes_of_team(exec);
      limits.m_scratch = Policy(exec, 1, 1, 1).scratch_size_max(0);
      return limits;
    });
  }

  template <class Shape>
  bool has_room_for_team() const {
    return Shape::lanes <= m_vector_length && Shape::team_size * Shape::lanes <= m_lanes;
  }

  /// Bytes of level-0 scratch memory per team.
  template <class Shape, class Exec>
  std::size_t scratch(const Exec& exec) const {
    return scratch_per_team(exec, Shape::min_teams, m_scratch);
  }

 private:
  int m_vector_length = 0;
  int m_lanes = 0;    // of all threads of a team
  int m_scratch = 0;  // bytes of level 0
};

}  // namespace KokkosSoftmax::Impl

#endif
