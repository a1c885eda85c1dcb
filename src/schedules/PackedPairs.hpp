// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDPAIRS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDPAIRS_HPP

#include <backend/DivideUp.hpp>
#include <op/FinishRow.hpp>
#include <op/HeldValues.hpp>
#include <row/Chunk.hpp>
#include <schedules/PackedRun.hpp>

namespace KokkosSoftmax::Impl {

/// For rows of half types that are stored back to back and too long for one lane. A team moves a
/// run of rows to level-0 scratch memory and back, as PackedKernel does. Between the two moves, a
/// vector of 2 or 4 lanes works on a row in registers. Its pairs of neighbouring entries are dealt
/// to the lanes in turn. A lane has `Shape::items` pairs at most.
template <class Exec, class Op, class Source, class Shape>
struct PackedPairsKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Pair = RawChunk<X, 2>;
  static constexpr int row_lanes = Shape::lanes;
  static constexpr int rows_per_team = Shape::threads;
  static constexpr int chunk_width = widest<X>;
  /// A lane makes all of its loads before it waits for the first one.
  static constexpr int most_columns = 2 * Shape::items * row_lanes + 1;
  static constexpr int in_flight = divide_up(most_columns, chunk_width* row_lanes);
  using Run = PackedRun<Exec, V, chunk_width, Shape::threads * row_lanes, in_flight, true>;
  static_assert(Op::writes_entries && moves_in_pairs<X, 2> && Source::value_is_scaled_raw);
  static_assert(Shape::width == 2 && Shape::rows_per_thread == 1);

  RowArgs<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int lane = lane_number<row_lanes>(member);
    const int thread_id = member.team_rank() * row_lanes + lane;
    const Run run(member, arguments, rows_per_team);
    run.load(arguments, thread_id);
    member.team_barrier();
    work<fewest_pairs>(member, run, lane);
    member.team_barrier();
    run.store(arguments, thread_id);
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Run::scratch_bytes(rows_per_team, columns);
  }

 private:
  /// Each number of pairs per lane from `fewest_pairs` to `Shape::items` has code of its own: slots
  /// without a pair cost as much as the others. Shorter rows, which other shapes are for, have
  /// empty slots.
  static constexpr int fewest_pairs = 2 * Shape::items / 3 + 1;

  /// Works on the row of a vector with the code for `pairs` pairs per lane, or more if the row
  /// needs more.
  template <int pairs>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, const Run& run, int lane) const {
    if constexpr (pairs < Shape::items)
      if (run.columns() / 2 > pairs * row_lanes) return work<pairs + 1>(member, run, lane);
    work_on_row<pairs>(member, run, row_of_thread(member.team_rank()), lane);
  }

  /// The first half of the threads has the even rows, and the second half the odd ones. So the
  /// vectors of a warp access different banks of scratch memory for more lengths.
  KOKKOS_FORCEINLINE_FUNCTION static int row_of_thread(int thread) {
    constexpr int half = rows_per_team / 2;
    return thread < half ? 2 * thread : 2 * (thread - half) + 1;
  }

  /// Threads without a row compute with what scratch memory holds there, because all lanes of a
  /// warp take part in shuffles.
  ///
  /// Lane 0 has the single entry, if there is one. The order of the values doesn't matter.
  template <int pairs>
  KOKKOS_FORCEINLINE_FUNCTION void work_on_row(const Member& member, const Run& run, int r,
                                               int lane) const {
    constexpr int size = 2 * pairs + 1;
    const Source source(arguments);
    const WordsOfRow<X, 2> row(run.row(r), r, run.columns());
    const bool has_single = row.has_single && lane == 0;
    Pair* const pair = row.word + lane;
    const int left = run.columns() / 2 - lane;
    const auto exists = [&](int i) {
      return (pairs > fewest_pairs && i < pairs - 1) || i * row_lanes < left;
    };
    T value[size];
    value[size - 1] = -Kokkos::Experimental::infinity_v<T>;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < pairs; ++i) {
      Pair raw = raw_chunk_of<X, 2>(source.padding());
      if (exists(i)) raw = pair[i * row_lanes];
      widen<X, 2>(raw, value + 2 * i);
    }
    if (has_single) value[size - 1] = static_cast<T>(*row.single);
    const auto for_each = [&](const auto& body) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size - 1; ++j) body(j);
      if (has_single) body(size - 1);
    };
    for_each([&](int j) { value[j] = source.value(value[j], j); });
    const auto state = compute_held<Op, row_lanes>(member, arguments, value, for_each);
    if (r >= run.rows()) return;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < pairs; ++i) {
      const Chunk<X, 2> results{{static_cast<X>(value[2 * i]), static_cast<X>(value[2 * i + 1])}};
      if (exists(i)) pair[i * row_lanes] = Kokkos::bit_cast<Pair>(results);
    }
    if (has_single) *row.single = static_cast<X>(value[size - 1]);
    if (lane == 0) finish_beside<Op>(arguments, run.number(r), state);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
