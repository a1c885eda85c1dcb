// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_SCHEDULE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_SCHEDULE_HPP

#include <KokkosSoftmax_Options.hpp>
#include <algorithm>
#include <backend/AccessMode.hpp>
#include <cstdint>
#include <ostream>

namespace KokkosSoftmax::Impl {

/// The compile-time constants of a kernel for a GPU, or for a host with lanes = threads = 1.
template <int threads_, int lanes_, int items_, int width_, AccessMode access_, int min_teams_ = 0,
          int rows_per_thread_ = 1>
struct Shape {
  static constexpr int threads = threads_;       ///< team size
  static constexpr int lanes = lanes_;           ///< vector length
  static constexpr int items = items_;           ///< chunks a lane holds at one time
  static constexpr int width = width_;           ///< entries a chunk (in `column`: of as many rows)
  static constexpr AccessMode access = access_;  ///< see Tile
  static constexpr int min_teams = min_teams_;   ///< of LaunchBounds; 0: unbounded
  /// rows that a thread has under way (`subgroup`), or a lane (`packed`, `split_column`)
  static constexpr int rows_per_thread = rows_per_thread_;
};

template <class... Shapes>
struct ShapeList {};

/// A Shape as a value: what was chosen, to print and to compare.
struct Schedule {
  Algorithm algorithm = Algorithm::automatic;
  int team_size = 1;
  int vector_length = 1;
  int items = 1;
  int width = 1;
  int min_teams = 0;
  int rows_per_thread = 1;
  AccessMode access = AccessMode::scalar;

  bool operator==(const Schedule&) const = default;
};

/// The numbers of a Schedule and their names, for printing and parsing.
struct ScheduleField {
  using Number = int Schedule::*;

  const char* name;
  Number value;
};
inline constexpr ScheduleField schedule_fields[] = {
    {"team_size", &Schedule::team_size}, {"vector_length", &Schedule::vector_length},
    {"items", &Schedule::items},         {"width", &Schedule::width},
    {"min_teams", &Schedule::min_teams}, {"rows_per_thread", &Schedule::rows_per_thread}};

inline constexpr Algorithm last_algorithm = Algorithm::host;
inline constexpr AccessMode last_access_mode = AccessMode::scalar;

template <class Shape>
constexpr Schedule make_schedule(Algorithm algorithm) {
  return {.algorithm = algorithm,
          .team_size = Shape::threads,
          .vector_length = Shape::lanes,
          .items = Shape::items,
          .width = Shape::width,
          .min_teams = Shape::min_teams,
          .rows_per_thread = Shape::rows_per_thread,
          .access = Shape::access};
}

/// The algorithms for strided rows that lie side by side.
constexpr bool has_row_in_each_lane(Algorithm algorithm) {
  return algorithm == Algorithm::column || algorithm == Algorithm::split_column;
}

/// The entries of a row that the registers of a schedule hold at one time.
constexpr std::int64_t register_capacity(const Schedule& s) {
  const std::int64_t share = std::int64_t(s.items) * s.width;
  if (s.algorithm == Algorithm::subgroup) return share * s.vector_length;
  if (s.algorithm == Algorithm::column) return std::int64_t(s.items) * s.team_size;
  return share * s.vector_length * s.team_size;
}

/// Whether rows of so many columns can be worked on at all; scratch memory is asked of the device.
constexpr bool holds(const Schedule& s, std::int64_t columns) {
  switch (s.algorithm) {
    case Algorithm::subgroup:
    case Algorithm::fused_registers:
      // entries that don't make a whole chunk are held beside
      return columns - (s.access == AccessMode::peeled_vectors ? s.width - 1 : 0) <=
             register_capacity(s);
    case Algorithm::packed:  // so that a run is moved in one go, and a lane adds up few entries
      return columns <= s.items * s.width;
    default:
      return true;
  }
}

inline std::ostream& operator<<(std::ostream& out, const Schedule& s) {
  out << to_string(s.algorithm) << "{";
  for (const ScheduleField& field : schedule_fields)
    out << field.name << "=" << s.*field.value << ", ";
  return out << "access=" << to_string(s.access) << "}";
}

}  // namespace KokkosSoftmax::Impl

#endif
