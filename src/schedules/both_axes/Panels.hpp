// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_PANELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_PANELS_HPP

/// \file
/// The kernel that reads the matrix: it writes the states of the rows of each panel, and those of
/// the parts of each column.

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <row/Chunk.hpp>
#include <schedules/both_axes/ExceptionalEntries.hpp>
#include <schedules/both_axes/Plan.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// A thread works on one panel. A lane has `chunks` chunks of `width` columns of the panel. It
/// loads `loaded_rows` rows at a time, while it computes those that it has loaded before, in tiles.
///
/// The reference of a row in a panel is its own largest exponent. A column keeps its reference, the
/// limit, until an exponent exceeds it.
template <class Exec, class V, class Shape_>
struct BothAxesPanelsKernel {
  using Shape = Shape_;
  using X = typename V::X;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Parts = ExpParts<T>;
  static constexpr int lanes = Shape::lanes;
  static constexpr int width = Shape::width;
  static constexpr int chunks = Shape::items;
  static constexpr int loaded_rows = Shape::rows_per_thread;
  static constexpr int tile_rows = sizeof(T) == 8 ? 1 : 2;  // doubles take twice the registers
  static_assert(loaded_rows % tile_rows == 0);
  static constexpr int count = chunks * width;  // columns of a lane
  static constexpr int panel_columns = lanes * count;

  BothAxesProblem<X> problem;
  BothAxesPlan plan;
  BothAxesStates<T> states;
  T scale;
  X padding;

  BothAxesPanelsKernel(const BothAxesProblem<X>& problem_, double scale_, const BothAxesPlan& plan_,
                       const BothAxesStates<T>& states_)
      : problem(problem_),
        plan(plan_),
        states(states_),
        scale(kernel_scale(static_cast<T>(scale_))),
        padding(scaled_padding<X>(scale)) {}

  static std::size_t scratch_bytes() {
    return Shape::threads * lanes * count * sizeof(CompensatedSum<T>) + alignof(T);
  }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int lane = lane_number<lanes>(member);
    const int thread = member.team_rank();
    const std::int64_t run =
        member.league_rank() * (Shape::threads / plan.across) + thread / plan.across;
    const std::int64_t all = plan.all_rows();
    std::int64_t first = run * plan.run_rows;
    const std::int64_t end = first + plan.run_rows < all ? first + plan.run_rows : all;
    auto* const sums = static_cast<CompensatedSum<T>*>(member.team_scratch(0).get_shmem_aligned(
                           Shape::threads * lanes * count * sizeof(CompensatedSum<T>),
                           alignof(CompensatedSum<T>))) +
                       thread * lanes * count + lane;
    while (first < end) {
      const std::int64_t band = first / plan.rows;
      const std::int64_t row = first - band * plan.rows;
      const std::int64_t rows = plan.rows - row < end - first ? plan.rows - row : end - first;
      const std::int64_t panel = band * plan.across + thread % plan.across;
      if (panel < plan.panels)
        reduce_segment(member, {panel, row, rows, run - plan.first_run(band), lane}, sums);
      first += rows;
    }
  }

 private:
  /// The rows of a run in a panel.
  struct Segment {
    std::int64_t panel;
    std::int64_t row;
    std::int64_t rows;
    std::int64_t part;  // of the columns
    int lane;

    /// The first column of chunk i of the lane.
    KOKKOS_FORCEINLINE_FUNCTION std::int64_t column(int i) const {
      return panel * panel_columns + (i * lanes + lane) * width;
    }
  };

  using Raw = RawChunk<X, width>;
  /// The rows that a lane loads next.
  struct Position {
    const X* x;         // the first chunk of the lane
    std::int64_t rows;  // that are left
    int columns;        // from the first chunk to the end of the panel or the matrix

    KOKKOS_FORCEINLINE_FUNCTION Position(const BothAxesPanelsKernel& kernel, const Segment& segment)
        : x(kernel.problem.x + segment.row * kernel.problem.row_stride +
            segment.column(0) * kernel.problem.column_stride),
          rows(segment.rows) {
      const std::int64_t left = kernel.plan.columns - segment.column(0);
      columns = left < panel_columns ? static_cast<int>(left) : panel_columns;
    }
  };
  struct LoadedRows {
    Raw chunk[loaded_rows][chunks];
  };
  struct Tile {
    Parts parts[tile_rows][count];
    std::uint32_t top[tile_rows];  // the largest exponent of each row in the panel; or `invalid`

    KOKKOS_FORCEINLINE_FUNCTION bool is_valid() const {
      bool valid = true;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int t = 0; t < tile_rows; ++t) valid = valid && top[t] != invalid;
      return valid;
    }
  };
  static constexpr std::uint32_t invalid = 0xffffffffu;

  /// What is left to reduce_exceptional_row() and reduce_exceptional_column().
  struct Exceptions {
    bool some_rows = false;    // those whose state is marked
    bool all_columns = false;  // in place of those whose limit is low
  };

  /// What a lane has of its columns: sums of the last few rows, relative to `limit`. What they are
  /// added to is in scratch memory, because registers are few.
  struct Columns {
    std::uint32_t limit[count];
    T sum[count];
    CompensatedSum<T>* sums;

    KOKKOS_FORCEINLINE_FUNCTION explicit Columns(CompensatedSum<T>* sums_) : sums(sums_) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        limit[j] = 0;
        sum[j] = T(0);
        sums[j * lanes] = CompensatedSum<T>();
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION void raise(int j, std::uint32_t exponent) {
      const std::uint32_t to = exponent < invalid - raise_by ? exponent + raise_by : exponent;
      const T factor = Parts::lowered(T(1), to - limit[j]);
      sum[j] *= factor;
      sums[j * lanes].multiply(factor);
      limit[j] = to;
    }
    KOKKOS_FORCEINLINE_FUNCTION void flush() {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        sums[j * lanes].add(sum[j]);
        sum[j] = T(0);
      }
    }
    KOKKOS_FORCEINLINE_FUNCTION BinaryState<T> state(int j) const {
      return {Parts::number_of(limit[j]), sums[j * lanes].value()};
    }
  };
  /// The limit is raised to so much above the exponent that exceeds it: columns that rise slowly
  /// exceed it seldom.
  static constexpr std::uint32_t raise_by = 4;
  /// Rows whose terms are added without compensation.
  static constexpr int flush_rows = 16;

  KOKKOS_FORCEINLINE_FUNCTION void reduce_segment(const Member& member, const Segment& segment,
                                                  CompensatedSum<T>* sums) const {
    Columns columns(sums);
    Exceptions exceptions;
    Position position(*this, segment);
    LoadedRows next = load(position);
    int since_flush = 0;
    for (std::int64_t r = 0; r < segment.rows; r += loaded_rows) {
      const LoadedRows loaded = next;
      if (r + loaded_rows < segment.rows) next = load(position);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int t = 0; t < loaded_rows; t += tile_rows) {
        const Tile tile = take_apart(member, loaded, t);
        if (tile.is_valid())
          add_to_columns(columns, tile);
        else
          exceptions.all_columns = true;
        reduce_rows(member, segment, r + t, tile, exceptions);
      }
      since_flush += loaded_rows;
      if (since_flush >= flush_rows) {
        columns.flush();
        since_flush = 0;
      }
    }
    columns.flush();
    write_columns(segment, columns, exceptions);
    if (exceptions.some_rows) reduce_exceptional_rows(member, segment);
  }

  /// Loads the next rows, and moves on to those after them.
  KOKKOS_FORCEINLINE_FUNCTION LoadedRows load(Position& next) const {
    LoadedRows loaded;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 0; t < loaded_rows; ++t) {
      const X* from = next.x;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < chunks; ++i) {
        loaded.chunk[t][i] = i * lanes * width < next.columns && t < next.rows
                                 ? *reinterpret_cast<const Raw*>(from)
                                 : raw_chunk_of<X, width>(padding);
        from += width > 1 ? lanes * width : lanes * problem.column_stride;
      }
      next.x += problem.row_stride;
    }
    next.rows -= loaded_rows;
    return loaded;
  }

  /// Takes apart the exponentials of the rows from `first` on among those that are loaded.
  KOKKOS_FORCEINLINE_FUNCTION Tile take_apart(const Member& member, const LoadedRows& loaded,
                                              int first) const {
    Tile tile;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 0; t < tile_rows; ++t) {
      T v[count];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < chunks; ++i) widen<X, width>(loaded.chunk[first + t][i], v + i * width);
      if (scale != T(1)) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int j = 0; j < count; ++j) v[j] *= scale;
      }
      std::uint32_t wrong = 0;
      std::uint32_t top = 0;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        tile.parts[t][j] = Parts::of(v[j], wrong);
        top = larger_word(top, tile.parts[t][j].exponent);
      }
      tile.top[t] = largest(member, Parts::is_valid(wrong) ? top : invalid);
    }
    return tile;
  }

  /// Of all lanes of the vector.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t largest(const Member& member,
                                                           std::uint32_t word) {
    if constexpr (Intrinsics::has_max_over_warp && lanes == 32)
      return Intrinsics::max_over_warp(word);
    else
      return max_word_over_lanes<lanes>(member, word);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void add_to_columns(Columns& columns, const Tile& tile) {
    std::uint32_t top[count];
    bool exceeds = false;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j) {
      top[j] = tile.parts[0][j].exponent;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int t = 1; t < tile_rows; ++t) top[j] = larger_word(top[j], tile.parts[t][j].exponent);
      exceeds = exceeds || top[j] > columns.limit[j];
    }
    if (exceeds) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j)
        if (top[j] > columns.limit[j]) columns.raise(j, top[j]);
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int t = 0; t < tile_rows; ++t)
        columns.sum[j] += tile.parts[t][j].below(columns.limit[j]);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION void reduce_rows(const Member& member, const Segment& segment,
                                               std::int64_t r, const Tile& tile,
                                               Exceptions& exceptions) const {
    T sum[tile_rows];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 0; t < tile_rows; ++t) {
      sum[t] = tile.parts[t][0].below(tile.top[t]);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 1; j < count; ++j) sum[t] += tile.parts[t][j].below(tile.top[t]);
    }
    BinaryState<T>* const to = states.of_rows + segment.panel * plan.rows + segment.row + r;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int t = 0; t < tile_rows; ++t) {
      const T of_row = sum_over_lanes<lanes>(member, sum[t]);
      if (r + t >= segment.rows) continue;
      const bool is_exception = tile.top[t] == invalid || Parts::is_low(tile.top[t]);
      exceptions.some_rows = exceptions.some_rows || is_exception;
      if (segment.lane == 0)
        to[t] = {Parts::number_of(tile.top[t]), is_exception ? marker : of_row};
    }
  }
  /// In place of the sum of a row that is an exception. No sum is negative.
  static constexpr T marker = T(-1);

  /// All lanes know of the marker that the first lane has written.
  KOKKOS_FORCEINLINE_FUNCTION void reduce_exceptional_rows(const Member& member,
                                                           const Segment& segment) const {
    BinaryState<T>* const to = states.of_rows + segment.panel * plan.rows + segment.row;
    for (std::int64_t r = 0; r < segment.rows; ++r) {
      const std::uint32_t is_marked = segment.lane == 0 && to[r].sum == marker;
      if (max_word_over_lanes<lanes>(member, is_marked) != 0)
        reduce_exceptional_row(member, segment, r, to + r);
    }
  }

  /// A row of a segment whose entries can be any.
  KOKKOS_FUNCTION void reduce_exceptional_row(const Member& member, const Segment& segment,
                                              std::int64_t r, BinaryState<T>* to) const {
    const ExceptionalEntries<X, T> entries{problem.x + (segment.row + r) * problem.row_stride,
                                           problem.column_stride, scale};
    const auto each = [&](const auto& f) {
      for (int i = 0; i < chunks; ++i)
        for (std::int64_t c = segment.column(i); c < segment.column(i) + width && c < plan.columns;
             ++c)
          f(c);
    };
    const T max = max_over_lanes<lanes>(member, entries.max(each));
    const T sum = sum_over_lanes<lanes>(member, entries.sum(each, max));
    if (segment.lane == 0) *to = BinaryState<T>::of_max(max, sum);
  }

  KOKKOS_FORCEINLINE_FUNCTION void write_columns(const Segment& segment, const Columns& columns,
                                                 const Exceptions& exceptions) const {
    BinaryState<T>* const to = states.of_columns + segment.part * plan.columns;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count; ++j) {
      const std::int64_t column = segment.column(j / width) + j % width;
      if (column >= plan.columns) continue;
      if (exceptions.all_columns || Parts::is_low(columns.limit[j] - raise_by))
        reduce_exceptional_column(segment, column, to + column);
      else
        to[column] = columns.state(j);
    }
  }

  /// The same for a column.
  KOKKOS_FUNCTION void reduce_exceptional_column(const Segment& segment, std::int64_t column,
                                                 BinaryState<T>* to) const {
    const ExceptionalEntries<X, T> entries{
        problem.x + segment.row * problem.row_stride + column * problem.column_stride,
        problem.row_stride, scale};
    const auto each = [&](const auto& f) {
      for (std::int64_t r = 0; r < segment.rows; ++r) f(r);
    };
    const T max = entries.max(each);
    *to = BinaryState<T>::of_max(max, entries.sum(each, max));
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
