// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTHAXES_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTHAXES_HPP

/// \file
/// Log-sum-exps along both axes of a matrix, in one read on a GPU. The matrix is cut into pieces: a
/// panel of neighbouring columns times a block of rows. A team reduces a piece along both axes, and
/// writes the states of its rows and of its columns. Two more kernels merge the states of a row's
/// panels, and of a column's blocks, always in the same order.
///
/// One exponential per entry serves its row and its column: it is relative to a reference that all
/// entries of a thread share. If the entries of a row or of a column are so far below the reference
/// that its sum is too small, the row is reduced again from registers, or all columns of the thread
/// are from memory.

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_BothAxesProblem.hpp>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <row/Chunk.hpp>
#include <team/Lanes.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// The arguments of the kernels.
template <class X>
struct BothAxesArgs {
  using T = typename BothAxesProblem<X>::T;
  using State = LogSumExpState<T>;

  BothAxesProblem<X> problem;
  T scale;
  X padding;  // times the scale it is -inf
  std::int64_t panels;
  std::int64_t blocks;
  std::int64_t rows_per_block;
  State* row_parts;     // that of a row and a panel is at row * panels + panel
  State* column_parts;  // that of a block and a column is at block * columns + column
};

/// The values of a few entries of a row or of a column.
template <class T, int size>
struct FewValues {
  T value[size];

  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) start = larger(start, value[j]);
    return start;
  }
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) const {
    static_assert(!keep);
    return sum_by(exp, [&](const auto& term) {
      T sum(0);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) sum = plus_exp(sum, term, value[j]);
      return sum;
    });
  }
};

/// Merges state_of(0), state_of(1), ... First finds the largest entry: if it rose from state to
/// state, the sum would be rounded each time.
template <class State, class StateOf>
KOKKOS_FORCEINLINE_FUNCTION State merged_states(std::int64_t count, const StateOf& state_of) {
  using Traits = StateTraits<State>;
  auto max = Traits::max(State{});
  for (std::int64_t i = 0; i < count; ++i) max = larger(max, Traits::max(state_of(i)));
  const auto reference = Traits::reference_of(max);
  CompensatedSum<typename Traits::Value> sum;
  for (std::int64_t i = 0; i < count; ++i) sum.add(sum_relative_to(reference, state_of(i)));
  return Traits::make(max, sum.value());
}

/// Reduces a piece. The results of the only panel or the only block are final. Each lane has
/// `items` chunks of `width` columns. The threads of the team take a few rows each, in turn.
template <class Exec, class X, int threads_, int items, int width>
struct BothAxesPiecesKernel {
  using Arguments = BothAxesArgs<X>;
  using T = typename Arguments::T;
  using State = typename Arguments::State;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = threads_;
  static constexpr int lanes = 32;
  static constexpr int columns_per_lane = items * width;
  static constexpr int panel_columns = lanes * columns_per_lane;
  static constexpr int rows_at_a_time = 4;
  static constexpr int min_teams = 2;
  static constexpr int rows_of_team = threads * rows_at_a_time;

  Arguments arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const std::int64_t piece = member.league_rank();
    const std::int64_t panel = piece % arguments.panels, block = piece / arguments.panels;
    const int lane = lane_number<lanes>(member);
    const std::int64_t first = block * arguments.rows_per_block;
    const std::int64_t end = first + arguments.rows_per_block < arguments.problem.rows
                                 ? first + arguments.rows_per_block
                                 : arguments.problem.rows;
    State column_state[columns_per_lane];
    if (!reduce_with_one_reference(member, {first, end, panel, lane}, column_state))
      reduce_columns(member, {first, end, panel, lane}, column_state);
    merge_columns(member, panel, block, lane, column_state);
  }

  static std::size_t scratch_bytes() {
    return ScratchStates<Exec, State>::shmem_size(threads * panel_columns);
  }

 private:
  /// The number of column k of a lane within its panel.
  KOKKOS_FORCEINLINE_FUNCTION static int column(int lane, int k) {
    return (k / width * lanes + lane) * width + k % width;
  }

  /// What a thread works on: rows [first, end) in a panel, in turn with the other threads.
  struct Piece {
    std::int64_t first;
    std::int64_t end;
    std::int64_t panel;
    int lane;
  };
  using Values = T[rows_at_a_time][columns_per_lane];

  /// Calls f(row, values) for the thread's rows, a few at one time.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_tile(const Member& member, const Piece& piece,
                                                 const F& f) const {
    for (std::int64_t r = piece.first + member.team_rank() * rows_at_a_time; r < piece.end;
         r += rows_of_team) {
      Values value;
      load(r, piece, value);
      f(r, value);
    }
  }

  /// Slots without an entry get -inf.
  KOKKOS_FORCEINLINE_FUNCTION void load(std::int64_t r, const Piece& piece, Values& value) const {
    const auto& problem = arguments.problem;
    const std::int64_t first = piece.panel * panel_columns;
    const std::int64_t left = problem.columns - first;
    RawChunk<X, width> raw[rows_at_a_time][items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < rows_at_a_time; ++j) {
      const X* const row = problem.x + (r + j) * problem.row_stride + first * problem.column_stride;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i) {
        const int c = column(piece.lane, i * width);
        raw[j][i] = raw_chunk_of<X, width>(arguments.padding);
        if (r + j < piece.end && c < left)
          raw[j][i] = *reinterpret_cast<const RawChunk<X, width>*>(
              row + (width > 1 ? c : c * problem.column_stride));
      }
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < rows_at_a_time; ++j) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < items; ++i) widen<X, width>(raw[j][i], value[j] + i * width);
      if (arguments.scale == T(1)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < columns_per_lane; ++k) value[j][k] *= arguments.scale;
    }
  }

  /// Reduces the rows, and the columns with one reference. Returns whether that reference serves
  /// all columns of the thread.
  KOKKOS_FORCEINLINE_FUNCTION bool reduce_with_one_reference(
      const Member& member, const Piece& piece, State (&column_state)[columns_per_lane]) const {
    T reference = -Kokkos::Experimental::infinity_v<T>;
    CompensatedSum<T> sum[columns_per_lane];
    for_each_tile(member, piece, [&](std::int64_t r, const Values& value) {
      raise(member, value, reference, sum);
      const ExpForLse<T> exp(reference);
      T of_column[columns_per_lane] = {}, of_row[rows_at_a_time] = {};
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < rows_at_a_time; ++j) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < columns_per_lane; ++k) {
          const T term = plus_exp(T(0), exp, value[j][k]);
          of_row[j] += term;
          of_column[k] += term;
        }
      }
      write_rows(member, r, piece, value, {reference, sum_of_own_row(member, piece.lane, of_row)});
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < columns_per_lane; ++k) sum[k].add(of_column[k]);
    });
    const std::int64_t left = arguments.problem.columns - piece.panel * panel_columns;
    bool serves = true;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < columns_per_lane; ++k) {
      column_state[k] = {reference, sum[k].value()};
      if (column(piece.lane, k) < left) serves = serves && is_served(column_state[k]);
    }
    return max_over_lanes<lanes>(member, serves ? T(0) : T(1)) == T(0);
  }

  /// Whether a sum has all digits with its reference. An entry far below the reference loses digits
  /// in v - reference: its term has a relative error of up to half an ulp of the distance, which is
  /// limited to 6 for float and to 30 for double. (NaN is right, too.) With the reference +inf, the
  /// rows and columns without +inf would be wrong.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_served(const State& state) {
    constexpr T least = sizeof(T) == 8 ? T(1e-13) : T(2.5e-3);
    return !(state.sum < least) && state.max < Kokkos::Experimental::infinity_v<T>;
  }

  /// Moves the reference if an entry is far above it.
  KOKKOS_FORCEINLINE_FUNCTION static void raise(const Member& member, const Values& value,
                                                T& reference,
                                                CompensatedSum<T> (&sum)[columns_per_lane]) {
    const T limit = reference + ExpForLse<T>::slack();
    bool is_above = false;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < rows_at_a_time; ++j) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < columns_per_lane; ++k) is_above = is_above || value[j][k] > limit;
    }
    if (!Intrinsics::any_lane(is_above)) return;
    T max = reference;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < rows_at_a_time; ++j) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < columns_per_lane; ++k) max = larger(max, value[j][k]);
    }
    max = max_over_lanes<lanes>(member, max);
    const T factor = rescale_factor(reference, max);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < columns_per_lane; ++k) sum[k].multiply(factor);
    reference = max;
  }

  /// Which of the rows of a tile a lane finishes: an eighth of the lanes has each of them.
  KOKKOS_FORCEINLINE_FUNCTION static int own_row(int lane) {
    static_assert(rows_at_a_time == 4 && lanes == 32);
    return lane / 8;
  }

  /// The sum over the lanes of the row that a lane finishes. In the first steps, lanes exchange the
  /// sums of rows that the other one finishes, so that few numbers move.
  KOKKOS_FORCEINLINE_FUNCTION static T sum_of_own_row(const Member& member, int lane,
                                                      const T (&of_row)[rows_at_a_time]) {
    if constexpr (Intrinsics::has_shuffles) {
      const bool has_upper = (lane & 16) != 0, has_odd = (lane & 8) != 0;
      const T even = (has_upper ? of_row[2] : of_row[0]) +
                     Intrinsics::shuffle_xor(has_upper ? of_row[0] : of_row[2], 16);
      const T odd = (has_upper ? of_row[3] : of_row[1]) +
                    Intrinsics::shuffle_xor(has_upper ? of_row[1] : of_row[3], 16);
      const T own = (has_odd ? odd : even) + Intrinsics::shuffle_xor(has_odd ? even : odd, 8);
      return sum_over_lanes<8>(member, own);
    } else {
      T own(0);
      for (int j = 0; j < rows_at_a_time; ++j) {
        const T sum = sum_over_lanes<lanes>(member, of_row[j]);
        if (j == own_row(lane)) own = sum;
      }
      return own;
    }
  }

  /// Writes the states of the rows of a tile in a panel. `own` is that of the row that the lane
  /// finishes. All are computed again if the reference doesn't serve one of them.
  KOKKOS_FORCEINLINE_FUNCTION void write_rows(const Member& member, std::int64_t r,
                                              const Piece& piece, const Values& value,
                                              State own) const {
    const int j = own_row(piece.lane);
    if (Intrinsics::any_lane(!is_served(own) && r + j < piece.end)) {
      for (int i = 0; i < rows_at_a_time; ++i) {
        const State state = state_of_row(member, value, i);
        if (i == j) own = state;
      }
    }
    if (piece.lane % 8 != 0 || r + j >= piece.end) return;
    if (arguments.panels == 1)
      arguments.problem.of_rows[(r + j) * arguments.problem.of_rows_stride] = own.value();
    else
      arguments.row_parts[(r + j) * arguments.panels + piece.panel] = own;
  }

  /// The state of a row, with a reference of its own.
  KOKKOS_FORCEINLINE_FUNCTION static State state_of_row(const Member& member, const Values& value,
                                                        int row) {
    FewValues<T, columns_per_lane> entries;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < columns_per_lane; ++k) entries.value[k] = value_at(value, row, k);
    const T max = max_over_lanes<lanes>(member, entries.max(-Kokkos::Experimental::infinity_v<T>));
    const T sum = entries.template sum<false>(ExpForLse<T>(max));
    return {max, sum_over_lanes<lanes>(member, sum)};
  }

  /// value[row][k], without an index that isn't a constant, which would put the array into memory.
  KOKKOS_FORCEINLINE_FUNCTION static T value_at(const Values& value, int row, int k) {
    T found = value[0][k];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 1; j < rows_at_a_time; ++j) found = j == row ? value[j][k] : found;
    return found;
  }

  /// Reduces the columns, each with its own reference.
  KOKKOS_FORCEINLINE_FUNCTION void reduce_columns(const Member& member, const Piece& piece,
                                                  State (&column_state)[columns_per_lane]) const {
    OnlineSum<ExpForLse<T>, State> sum[columns_per_lane];
    for_each_tile(member, piece, [&](std::int64_t, const Values& value) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < columns_per_lane; ++k) {
        FewValues<T, rows_at_a_time> column;
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int j = 0; j < rows_at_a_time; ++j) column.value[j] = value[j][k];
        sum[k].add(column);
      }
    });
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < columns_per_lane; ++k) column_state[k] = sum[k].state();
  }

  /// Merges the states of the team's threads, and writes those of the columns in this block.
  KOKKOS_FORCEINLINE_FUNCTION void merge_columns(
      const Member& member, std::int64_t panel, std::int64_t block, int lane,
      const State (&column_state)[columns_per_lane]) const {
    const ScratchStates<Exec, State> states(member.team_scratch(0), threads * panel_columns);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < columns_per_lane; ++k)
      states(member.team_rank() * panel_columns + column(lane, k)) = column_state[k];
    member.team_barrier();
    const std::int64_t first = panel * panel_columns, columns = arguments.problem.columns;
    for (int c = member.team_rank() * lanes + lane; c < panel_columns && first + c < columns;
         c += threads * lanes) {
      const State all =
          merged_states<State>(threads, [&](int t) { return states(t * panel_columns + c); });
      if (arguments.blocks == 1)
        arguments.problem.of_columns[(first + c) * arguments.problem.of_columns_stride] =
            all.value();
      else
        arguments.column_parts[block * columns + first + c] = all;
    }
  }
};

/// Merges the states of each row, which `threads_per_row` threads of a team share.
template <class Exec, class X, int threads_per_row>
struct BothAxesRowsKernel {
  using Arguments = BothAxesArgs<X>;
  using State = typename Arguments::State;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 8;
  static constexpr int lanes = 32;
  static constexpr int min_teams = 1;
  static constexpr int rows_per_team = threads / threads_per_row;

  Arguments arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int sharers = threads_per_row * lanes;
    const int thread = member.team_rank() % threads_per_row;
    const std::int64_t row = static_cast<std::int64_t>(member.league_rank()) * rows_per_team +
                             member.team_rank() / threads_per_row;
    const int lane = lane_number<lanes>(member);
    const std::int64_t panels = arguments.panels;
    const int first = thread * lanes + lane;
    State mine;
    if (row < arguments.problem.rows)
      mine = merged_states<State>((panels - first + sharers - 1) / sharers, [&](std::int64_t i) {
        return arguments.row_parts[row * panels + i * sharers + first];
      });
    State all = merge_over_lanes<lanes>(member, mine);
    if constexpr (threads_per_row > 1) {
      static_assert(rows_per_team == 1);
      const ScratchStates<Exec, State> states(member.team_scratch(0), threads);
      all = merge_over_team<threads, lanes, true>(member, lane, states, all);
    }
    if (lane == 0 && thread == 0 && row < arguments.problem.rows)
      arguments.problem.of_rows[row * arguments.problem.of_rows_stride] = all.value();
  }

  static std::size_t scratch_bytes() { return ScratchStates<Exec, State>::shmem_size(threads); }
};

/// Merges the states of each column. A team has as many columns as its threads have lanes, and its
/// threads share the blocks.
template <class Exec, class X>
struct BothAxesColumnsKernel {
  using Arguments = BothAxesArgs<X>;
  using State = typename Arguments::State;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int threads = 8;
  static constexpr int lanes = 32;
  static constexpr int min_teams = 1;

  Arguments arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int lane = lane_number<lanes>(member), thread = member.team_rank();
    const std::int64_t column = static_cast<std::int64_t>(member.league_rank()) * lanes + lane;
    const std::int64_t columns = arguments.problem.columns;
    const ScratchStates<Exec, State> states(member.team_scratch(0), threads * lanes);
    State mine;
    if (column < columns)
      mine = merged_states<State>(
          (arguments.blocks - thread + threads - 1) / threads, [&](std::int64_t i) {
            return arguments.column_parts[(i * threads + thread) * columns + column];
          });
    states(thread * lanes + lane) = mine;
    member.team_barrier();
    if (thread > 0 || column >= columns) return;
    const State all =
        merged_states<State>(threads, [&](std::int64_t t) { return states(t * lanes + lane); });
    arguments.problem.of_columns[column * arguments.problem.of_columns_stride] = all.value();
  }

  static std::size_t scratch_bytes() {
    return ScratchStates<Exec, State>::shmem_size(threads * lanes);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
