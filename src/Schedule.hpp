// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULE_HPP

#include <KokkosSoftmax_Options.hpp>
#include <Tile.hpp>
#include <ostream>

namespace KokkosSoftmax::Impl {

/// The compile-time constants of a kernel for a GPU, or for a host with lanes = threads = 1.
template <int threads_, int lanes_, int items_, int width_, Fill fill_, int min_teams_ = 0,
          int rows_per_thread_ = 1>
struct Shape {
  static constexpr int threads = threads_;                  ///< team size
  static constexpr int lanes = lanes_;                      ///< vector length
  static constexpr int items = items_;                      ///< chunks a lane holds at one time
  static constexpr int width = width_;                      ///< entries a chunk
  static constexpr Fill fill = fill_;                       ///< see Tile
  static constexpr int min_teams = min_teams_;              ///< of LaunchBounds; 0: unbounded
  static constexpr int rows_per_thread = rows_per_thread_;  ///< `subgroup` alone
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
  Fill fill = Fill::scalar;
  int min_teams = 0;
  int rows_per_thread = 1;
};

template <class Shape>
constexpr Schedule make_schedule(Algorithm algorithm) {
  return {algorithm,    Shape::threads, Shape::lanes,     Shape::items,
          Shape::width, Shape::fill,    Shape::min_teams, Shape::rows_per_thread};
}

/// The columns that the registers of a schedule hold.
constexpr std::int64_t register_capacity(const Schedule& s) {
  const int threads = s.algorithm == Algorithm::fused_registers ? s.team_size : 1;
  return std::int64_t(threads) * s.vector_length * s.items * s.width;
}

inline std::ostream& operator<<(std::ostream& out, const Schedule& s) {
  return out << to_string(s.algorithm) << "{team_size=" << s.team_size
             << ", vector_length=" << s.vector_length << ", items=" << s.items
             << ", width=" << s.width << ", fill=" << to_string(s.fill)
             << ", min_teams=" << s.min_teams << ", rows_per_thread=" << s.rows_per_thread << "}";
}

}  // namespace KokkosSoftmax::Impl

#endif
