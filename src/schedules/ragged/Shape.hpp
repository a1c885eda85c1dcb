// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_SHAPE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_SHAPE_HPP

#include <backend/AccessMode.hpp>
#include <cstdint>
#include <row/DealtEntries.hpp>

namespace KokkosSoftmax::Impl {

/// The sizes that say which kernel computes a row. They are the same for several operations.
template <int lanes_, int threads_, std::int64_t vector_window_, std::int64_t longest_of_vector_,
          std::int64_t window_, std::int64_t longest_of_team_>
struct RaggedSizes {
  static constexpr int lanes = lanes_;
  static constexpr int threads = threads_;  ///< the vectors of a team that finds windows
  static constexpr std::int64_t vector_window = vector_window_;
  static constexpr std::int64_t longest_of_vector = longest_of_vector_;
  static constexpr std::int64_t window = window_;
  static constexpr std::int64_t longest_of_team = longest_of_team_;
  static constexpr std::int64_t vector_windows = window / vector_window;
};

/// Teams that have one row each. The lanes of their `threads_` vectors have `items_` chunks of it.
///
/// \tparam least_eighths  the least mean length of rows, in eighths of the longest one. With a
///                        smaller mean, starting the teams would take longer than moving the
///                        entries, above all if most rows are shorter than the mean.
template <class X, int lanes_, int threads_, int items_, int min_teams_, int least_eighths>
struct RaggedRowShape {
  static constexpr bool has_parts = false;
  static constexpr int lanes = lanes_;
  static constexpr int width = lanes == 1 ? 1 : widest<X>;
  static constexpr int items = items_;
  static constexpr AccessMode access = lanes == 1 ? AccessMode::scalar : AccessMode::peeled_vectors;
  struct OfTeams {
    static constexpr int threads = threads_;
    static constexpr int team_size = threads;
    static constexpr int lanes = lanes_;
    static constexpr int min_teams = min_teams_;
  };
  static constexpr std::int64_t longest_of_team = std::int64_t(items) * width * lanes * threads_;
  static constexpr std::int64_t least_mean = longest_of_team * least_eighths / 8;
};

/// Vectors whose rows have a part of the lanes each (RaggedPartsOfVectorsKernel). A lane holds 128
/// bytes of a row. A part is as small as the peeled entries of a row permit.
template <class X, int lanes_>
struct RaggedPartShape {
  static_assert(sizeof(X) == 4, "half types are faster in lists, and doubles weren't measured");
  static constexpr bool has_parts = true;
  static constexpr int lanes = lanes_;
  static constexpr int lanes_of_part = lanes == 1 ? 1 : 8;
  static constexpr int width = lanes == 1 ? 1 : widest<X>;
  static constexpr int items = 32 / width;
  static constexpr AccessMode access = lanes == 1 ? AccessMode::scalar : AccessMode::peeled_vectors;
  struct OfTeams {
    static constexpr int threads = lanes_ == 1 ? 1 : 4;
    static constexpr int team_size = threads;
    static constexpr int lanes = lanes_;
    static constexpr int min_teams = lanes_ == 1 ? 1 : 7;
  };
  static constexpr std::int64_t longest_of_part = std::int64_t(lanes_of_part) * items * width;
  static constexpr std::int64_t longest_of_team = std::int64_t(lanes) * items * width;
  static constexpr std::int64_t least_mean = longest_of_part * 3 / 8;
};

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
  static constexpr std::int64_t vector_windows = longest_of_team / vector_window;
  static constexpr std::int64_t window = vector_windows * vector_window;
  /// The rows that a vector computes at one time.
  static constexpr int most_rows_of_vector = Slots::capacity / 8 + 8;
  static_assert(
      vector_windows > 0 && window <= longest_of_team,
      "a team holds the part of a long row in a window, and two long rows don't begin in one");
  using Sizes =
      RaggedSizes<lanes_, vectors, vector_window, longest_of_vector, window, longest_of_team>;

  /// Measured with rows of one length and with power laws (docs/trials.md).
  template <int vectors_of_row>
  static constexpr int least_eighths = Op::inputs == 1
                                           ? (vectors_of_row < 4 ? 4 : 3)
                                           : (vectors_of_row < 4 && sizeof(typename Op::T) < 8 ? 4
                                                                                               : 5);
  /// Teams with one row each (RaggedRowsKernel). A lane has 72 registers.
  template <int vectors_of_row>
  using OfRows = RaggedRowShape<X, lanes_, lanes_ == 1 ? 1 : vectors_of_row,
                                lanes_ == 1 ? items_ / 4 * vectors_of_row : items_,
                                lanes_ == 1 ? 1 : (28 + vectors_of_row / 2) / vectors_of_row,
                                least_eighths<vectors_of_row>>;
};

/// The shape for a number of RowTeams (op/RaggedOps.hpp).
template <class Shape, int vectors_of_row>
struct RaggedRowShapeOf {
  using type = typename Shape::template OfRows<vectors_of_row>;
};
template <class Shape>
struct RaggedRowShapeOf<Shape, 0> {
  using type = RaggedPartShape<typename Shape::X, Shape::lanes>;
};

}  // namespace KokkosSoftmax::Impl

#endif
