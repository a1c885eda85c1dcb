// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_SCHEDULE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_SCHEDULE_HPP

/// \file
/// The compile-time constants of a kernel (Shape), and the same as a value (Schedule) that can be
/// printed and compared.

#include <KokkosSoftmax_Options.hpp>
#include <algorithm>
#include <backend/AccessMode.hpp>
#include <backend/NoFastMath.hpp>
#include <cstdint>
#include <ostream>

namespace KokkosSoftmax::Impl {

/// The compile-time constants of a kernel for a GPU. Kernels for a host have lanes = threads = 1.
template <int threads_, int lanes_, int items_, int width_, AccessMode access_, int min_teams_ = 0,
          int rows_per_thread_ = 1, int panels_ = 1>
struct Shape {
  static constexpr int threads = threads_;       ///< threads that share a row
  static constexpr int lanes = lanes_;           ///< vector length
  static constexpr int items = items_;           ///< chunks that a lane holds at one time
  static constexpr int width = width_;           ///< entries per chunk (`column`: one per row)
  static constexpr AccessMode access = access_;  ///< see AccessMode
  static constexpr int min_teams = min_teams_;   ///< bound in LaunchBounds; 0: no bound
  /// rows that a thread works on at one time (`subgroup`), or that a lane does (other algorithms)
  static constexpr int rows_per_thread = rows_per_thread_;
  /// groups of threads in a team, each with rows of its own (`column`)
  static constexpr int panels = panels_;
  static constexpr int team_size = threads * panels;
};

template <class... Shapes>
struct ShapeList {};

/// The values of a Shape and the algorithm: a selected schedule, to print and to compare.
struct Schedule {
  Algorithm algorithm = Algorithm::automatic;
  int team_size = 1;
  int vector_length = 1;
  int items = 1;
  int width = 1;
  int min_teams = 0;
  int rows_per_thread = 1;
  int panels = 1;
  AccessMode access = AccessMode::scalar;

  bool operator==(const Schedule&) const = default;
};

/// The name of a number in a Schedule, and its member, for printing and parsing.
struct ScheduleField {
  using Number = int Schedule::*;

  const char* name;
  Number value;
  bool is_rare = false;  // not printed if it is 1; 1 if a tuning table doesn't give it
};
inline constexpr ScheduleField schedule_fields[] = {
    {"team_size", &Schedule::team_size}, {"vector_length", &Schedule::vector_length},
    {"items", &Schedule::items},         {"width", &Schedule::width},
    {"min_teams", &Schedule::min_teams}, {"rows_per_thread", &Schedule::rows_per_thread},
    {"panels", &Schedule::panels, true}};

inline constexpr AccessMode last_access_mode = AccessMode::scalar;

template <class Shape>
constexpr Schedule make_schedule(Algorithm algorithm) {
  return {.algorithm = algorithm,
          .team_size = Shape::team_size,
          .vector_length = Shape::lanes,
          .items = Shape::items,
          .width = Shape::width,
          .min_teams = Shape::min_teams,
          .rows_per_thread = Shape::rows_per_thread,
          .panels = Shape::panels,
          .access = Shape::access};
}

/// Whether the algorithm is for strided rows that lie side by side in memory.
constexpr bool has_row_in_each_lane(Algorithm algorithm) {
  return algorithm == Algorithm::column || algorithm == Algorithm::split_column ||
         algorithm == Algorithm::cluster_column || algorithm == Algorithm::two_pass_column;
}

/// The number of entries of a row that the registers of a schedule hold at one time. (In `packed`,
/// scratch memory may hold them in place of registers.)
constexpr std::int64_t register_capacity(const Schedule& s) {
  const std::int64_t share = std::int64_t(s.items) * s.width;
  if (s.algorithm == Algorithm::subgroup || s.access == AccessMode::dense_pairs)
    return share * s.vector_length;
  if (s.algorithm == Algorithm::packed) return share;
  if (s.algorithm == Algorithm::column || s.algorithm == Algorithm::cluster_column ||
      s.algorithm == Algorithm::two_pass_column)
    return std::int64_t(s.items) * (s.team_size / s.panels);
  return share * s.vector_length * s.team_size;
}

/// Whether the schedule can work on rows of `columns` columns. The limit from scratch memory is not
/// checked here, because it depends on the device.
constexpr bool holds(const Schedule& s, std::int64_t columns) {
  switch (s.algorithm) {
    case Algorithm::subgroup:
    case Algorithm::fused_registers:
      // peeled entries, which don't fill a whole chunk, are held in addition to the chunks
      return columns - (s.access == AccessMode::peeled_vectors ? s.width - 1 : 0) <=
             register_capacity(s);
    // So a run of rows is moved in one step, and a lane sums few entries. The single entry of an
    // odd length is held in addition to pairs.
    case Algorithm::packed:
      return columns - (s.access == AccessMode::dense_pairs ? 1 : 0) <= register_capacity(s);
    default:
      return true;
  }
}

inline std::ostream& operator<<(std::ostream& out, const Schedule& s) {
  out << to_string(s.algorithm) << "{";
  for (const ScheduleField& field : schedule_fields)
    if (!field.is_rare || s.*field.value != 1) out << field.name << "=" << s.*field.value << ", ";
  return out << "access=" << to_string(s.access) << "}";
}

}  // namespace KokkosSoftmax::Impl

#endif
