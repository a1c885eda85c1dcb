// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_RAGGEDOPS_HPP
#define KOKKOSSOFTMAX_SRC_OP_RAGGEDOPS_HPP

/// \file
/// Operations on ragged rows. Short rows are computed from scratch memory, where each lane of a
/// vector has a run of entries (schedules/ragged/FlatBatch.hpp). The others are computed from the
/// registers of a team. An operation is a type without objects. It has
///
/// - Types: ValueTypes<...> of the inputs and of the results
/// - Source: the source of a team's tiles
/// - Rows: the RowOp, if rows are reduced
/// - State: what a part of a long row is reduced to
/// - inputs: the number of vectors that are staged in scratch memory
/// - writes_entries: whether the results are entries
/// - reduces: whether a row is reduced before its results can be computed
/// - OfRow: what runs need of a row, in scratch memory
///
/// and functions
///
/// - stage(arguments, x): what is staged of an entry of the first input
/// - compute_run(arguments, batch, rows, run): computes the entries of a lane's run. All lanes of a
///   vector call it together.
/// - write_row(arguments, tile, row, thread_id, r, state, factor): writes row r, whose tile is in
///   registers, given its state. The exponentials in the tile times `factor` are relative to it.
/// - write_part(...): the same for a tile of values, without factor, if results are entries
/// - finish(arguments, r, state): writes the number of a row, if it has one
/// - write_empty_rows(arguments, rows, lane, lanes): writes the numbers of rows without entries, if
///   results are not entries. Batches leave these rows out.

#include <KokkosSoftmax_Options.hpp>
#include <impl/device/op/KokkosSoftmax_Backward.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <op/FlatRun.hpp>
#include <row/RaggedArgs.hpp>
#include <row/RaggedWork.hpp>

namespace KokkosSoftmax::Impl {

/// softmax (function 0) and log_softmax (1)
template <class V, int function_>
struct RaggedSoftmax {
  static constexpr int function = function_;
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using Rows = OneOutput<SoftmaxOp<V>, function>;
  using Output = OnlyOutput<Rows>;
  using State = typename Rows::State;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = true;

  KOKKOS_FORCEINLINE_FUNCTION static T stage(const Arguments& arguments, T x) {
    return Source(arguments.of_rows).value(x, 0);
  }

  using OfRow = FlatRowOf<Rows>;
  template <class Batch, class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void compute_run(const Arguments& arguments,
                                                      const Batch& batch, const RowsOfVector&,
                                                      const Run& run) {
    FlatValues<Rows, Batch, Run> values(batch, run);
    values.reduce();
    batch.for_each_row(
        [&](int r) { run.of_row[r].set_output(Output(values.state(r), arguments.empty_rows)); });
    Intrinsics::vector_barrier();
    values.write();
  }

  template <class Tile, class TileRow, RowState AnyState>
  KOKKOS_FORCEINLINE_FUNCTION static void write_row(const Arguments& arguments, Tile& tile,
                                                    const TileRow& row, int thread_id,
                                                    std::int64_t /*r*/, const AnyState& state,
                                                    T factor) {
    tile.store(row, 0, thread_id, Output(state, factor, arguments.empty_rows));
  }

  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_part(const Arguments& arguments, Tile& tile,
                                                     const TileRow& row, int thread_id,
                                                     std::int64_t /*r*/, const State& state) {
    tile.store(row, 0, thread_id, EntryOutput<Rows, Output>(state, arguments.empty_rows));
  }

  KOKKOS_FORCEINLINE_FUNCTION static void finish(const Arguments&, std::int64_t, const State&) {}
};

/// logsumexp
template <class V>
struct RaggedLogSumExp {
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using Rows = LogSumExpOp<V>;
  using State = typename Rows::State;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = false;
  static constexpr bool reduces = true;

  KOKKOS_FORCEINLINE_FUNCTION static T stage(const Arguments& arguments, T x) {
    return Source(arguments.of_rows).value(x, 0);
  }

  using OfRow = FlatRowOf<Rows>;
  template <class Batch, class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void compute_run(const Arguments& arguments,
                                                      const Batch& batch, const RowsOfVector& rows,
                                                      const Run& run) {
    FlatValues<Rows, Batch, Run> values(batch, run);
    values.reduce();
    batch.for_each_row([&](int i) {
      State state = values.state(i);
      const std::int64_t r = rows.first_row + batch.number(i);
      finish_special(arguments, rows, r, run, state);
      finish(arguments, r, state);
    });
  }

  /// Writes the results of rows without entries, which batches leave out.
  KOKKOS_FORCEINLINE_FUNCTION static void write_empty_rows(const Arguments& arguments,
                                                           const RowsOfVector& rows, int lane,
                                                           int lanes) {
    const auto& offset = arguments.problem.offset;
    for (std::int64_t r = rows.first_row + lane; r < rows.end_row; r += lanes)
      if (offset(r + 1) == offset(r)) finish(arguments, r, State{});
  }

  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_row(const Arguments& arguments, Tile&,
                                                    const TileRow&, int thread_id, std::int64_t r,
                                                    const State& state, T /*factor*/) {
    if (thread_id == 0) finish(arguments, r, state);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void finish(const Arguments& arguments, std::int64_t r,
                                                 const State& state) {
    const T lse = OnlyOutput<Rows>(state, arguments.empty_rows).value;
    // With the scale 0, values are tiny, and results are logarithms of whole numbers.
    const bool is_zero = arguments.of_rows.scale_is_zero && Kokkos::abs(lse) < T(0.5);
    arguments.problem.of_rows[r] = is_zero ? T(0) : lse;
  }

 private:
  /// Computes the states of two kinds of rows from their entries, which a lane reads alone: those
  /// near 0, and those with +inf, if the exponential fails there.
  template <class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void finish_special(const Arguments& arguments,
                                                         const RowsOfVector& rows, std::int64_t r,
                                                         const Run& run, State& state) {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    const bool is_near = keeps_digits<State> && is_near_zero(state.max, state.sum, T(0));
    if (!is_near && state.max < infinity) return;
    const auto& offset = arguments.problem.offset;
    const std::int64_t begin = offset(r);
    const auto count = static_cast<int>(offset(r + 1) - begin);
    const auto first = run.first_slot + static_cast<int>(begin - rows.first_entry);
    if (is_near) return settle(run, first, count, state);
    state.sum = T(0);
    for (int i = 0; i < count; ++i) state.sum += ExpBesideInfinity{}(run.entry(first + i));
  }

  /// Gives the state of a row near 0 all its digits, see LseState.
  template <class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void settle([[maybe_unused]] const Run& run,
                                                 [[maybe_unused]] int first,
                                                 [[maybe_unused]] int count,
                                                 [[maybe_unused]] State& state) {
    if constexpr (keeps_digits<State>) {
      if (!is_near_zero(state.max, state.sum, T(0))) return;
      const T sum = sum_below_max<EntryNumber::few>(state.max, count,
                                                    [&](int i) { return run.entry(first + i); });
      state = State::settled(log_sum_exp_near_zero(state.max, sum));
    }
  }
};

/// The backward passes of softmax and log_softmax. The first input is y or log_y.
template <class V>
struct RaggedBackward {
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedPairSource<V>;
  using Rows = BackwardOp<V>;
  using State = typename Rows::State;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 2;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = true;

  KOKKOS_FORCEINLINE_FUNCTION static T stage(const Arguments&, T y) { return y; }

  struct OfRow {
    T sum;
  };

  template <class Batch, class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void compute_run(const Arguments& arguments,
                                                      const Batch& batch, const RowsOfVector&,
                                                      const Run& run) {
    const Source source(arguments.of_rows);
    EntryPair<T> pair[Batch::longest_run];
    OfRow* row = run.of_row + batch.first_row();
    T sum(0);
    batch.for_each_slot_in_rows(
        [&] {
          ++row;
          sum = T(0);
        },
        [&](int j) {
          pair[j] = {T(0), T(0)};
          if (batch.has_entry(j)) pair[j] = source.pair(run.first[j], run.second[j]);
          sum += pair[j].t;
          if (batch.is_tail(j)) row->sum = sum;
        });
    batch.join_lanes(sum, run.of_row, [](T a, T b) { return a + b; });
    Intrinsics::vector_barrier();
    row = run.of_row + batch.first_row();
    T of_row = row->sum;
    batch.for_each_slot_in_rows([&] { of_row = (++row)->sum; },
                                [&](int j) {
                                  const BackwardOutput<V> output({of_row}, arguments.empty_rows);
                                  run.first[j] = output(pair[j].p, pair[j].t);
                                });
  }

  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_row(const Arguments& arguments, Tile& tile,
                                                    const TileRow& row, int thread_id,
                                                    std::int64_t r, const State& state,
                                                    T /*factor*/) {
    write_part(arguments, tile, row, thread_id, r, state);
  }
  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_part(const Arguments& arguments, Tile& tile,
                                                     const TileRow& row, int thread_id,
                                                     std::int64_t /*r*/, const State& state) {
    tile.store(row, 0, thread_id, BackwardOutput<V>(state, arguments.empty_rows));
  }

  KOKKOS_FORCEINLINE_FUNCTION static void finish(const Arguments&, std::int64_t, const State&) {}
};

/// The backward pass of logsumexp, which computes each entry alone.
template <class V>
struct RaggedGradient {
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using State = PlainSum<T>;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = false;

  KOKKOS_FORCEINLINE_FUNCTION static T stage(const Arguments& arguments, T x) {
    return Source(arguments.of_rows).value(x, 0);
  }

  /// dx of an entry with the value v.
  struct OfRow {
    T lse;
    T factor;

    KOKKOS_FORCEINLINE_FUNCTION static OfRow of(const Arguments& arguments, std::int64_t r) {
      return {arguments.problem.lse[r], arguments.factor * arguments.problem.derivative[r]};
    }
    KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
      const T p = softmax_from_lse<typename V::X>(v, lse);
      return p == T(0) ? T(0) : factor * p;
    }
  };
  template <class Batch, class Run>
  KOKKOS_FORCEINLINE_FUNCTION static void compute_run(const Arguments& arguments,
                                                      const Batch& batch, const RowsOfVector& rows,
                                                      const Run& run) {
    batch.for_each_row(
        [&](int r) { run.of_row[r] = OfRow::of(arguments, rows.first_row + batch.number(r)); });
    Intrinsics::vector_barrier();
    const OfRow* row = run.of_row + batch.first_row();
    OfRow of_row = *row;
    batch.for_each_slot_in_rows([&] { of_row = *++row; },
                                [&](int j) { run.first[j] = of_row(run.first[j]); });
  }

  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_part(const Arguments& arguments, Tile& tile,
                                                     const TileRow& row, int thread_id,
                                                     std::int64_t r, const State&) {
    tile.store(row, 0, thread_id, OfRow::of(arguments, r));
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
