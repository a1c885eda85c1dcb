// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_SHAPE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_SHAPE_HPP

#include <backend/AccessMode.hpp>
#include <cstdint>
#include <row/DealtEntries.hpp>

namespace KokkosSoftmax::Impl {

/// The compile-time constants of the kernels of an operation on ragged rows. In one kernel each
/// vector works by itself. Its teams have `vectors` vectors, whose lanes have `count` entries
/// (FlatBatch). In the other kernels a team works together: on rows whose entries are in
/// `items_` chunks per lane.
template <class Op, int lanes_, int vectors, int count, int min_teams_of_vectors, int threads_,
          int items_, int min_teams_>
struct RaggedShape {
  using X = typename Op::Types::X;

  static constexpr int lanes = lanes_;  ///< vector length
  static constexpr int width = lanes == 1 ? 1 : widest<X>;
  static constexpr int items = items_;
  /// The shorter pieces are, the more often lanes exchange sums. If they exchange none, pieces are
  /// chunks, so that no two loads are to one sector.
  static constexpr int piece = Op::reduces ? 8 : widest<X>;
  using Slots = DealtSlots<lanes, piece, count / piece>;
  static constexpr AccessMode access = lanes == 1 ? AccessMode::scalar : AccessMode::peeled_vectors;

  /// The policies of the kernels.
  struct OfVectors {
    static constexpr int threads = vectors;
    static constexpr int team_size = threads;
    static constexpr int lanes = lanes_;
    static constexpr int min_teams = min_teams_of_vectors;
  };
  struct OfTeams {
    static constexpr int threads = threads_;
    static constexpr int team_size = threads;
    static constexpr int lanes = lanes_;
    static constexpr int min_teams = min_teams_;
  };

  /// Longer rows are computed by a team. The first entry need not be at the beginning of a chunk.
  static constexpr int longest_of_vector = Slots::capacity - (widest<X> - 1);
  /// Longer rows are long: they are divided among teams.
  static constexpr std::int64_t longest_of_team = std::int64_t(items) * width * lanes * threads_;
  static constexpr std::int64_t vector_window = Slots::capacity;
  static constexpr std::int64_t vector_windows = longest_of_team / 2 / vector_window;
  static constexpr std::int64_t window = vector_windows * vector_window;
  /// The rows that a vector computes at one time.
  static constexpr int most_rows_of_vector = Slots::capacity / 8 + 8;
  static_assert(vector_windows > 0 && window <= longest_of_team / 2);
};

}  // namespace KokkosSoftmax::Impl

#endif
