// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_RAGGEDOPS_HPP
#define KOKKOSSOFTMAX_SRC_OP_RAGGEDOPS_HPP

/// \file
/// Operations on ragged rows. The entries of short rows are dealt out to the lanes of a vector
/// (schedules/ragged/FlatBatch.hpp). The others are computed from the registers of a team. An
/// operation is a type without objects. It has
///
/// - Types: ValueTypes<...> of the inputs and of the results
/// - Source: the source of a team's tiles
/// - Rows: the RowOp, if rows are reduced
/// - State: what a part of a long row is reduced to
/// - inputs: the number of vectors of entries
/// - writes_entries: whether the results are entries
/// - reduces: whether a row is reduced before its results can be computed
/// - RowTeams: the numbers of vectors of teams that have one row each (RaggedRowsKernel), or 0 if
///   rows have a part of a vector each (RaggedPartsOfVectorsKernel)
/// - OfRow: what lanes need of a short row, in scratch memory
/// - Finish: a function that is made of the arguments; finish(r, state) writes the number of row r,
///   if it has one
///
/// and functions
///
/// - padding(arguments): stands for entries of input 0 in slots without an entry
/// - compute(arguments, batch, rows, entries, of_row): computes the short rows of a batch.
///   entries[i] are those of the lane's slots in input i. Results that are entries replace those of
///   input 0. All lanes of a vector call it together.
/// - write_row(arguments, tile, row, thread_id, r, state, factor): writes row r, whose tile is in
///   registers, given its state. The exponentials in the tile times `factor` are relative to it.
/// - write_part(...): the same for a tile of values, without factor, if results are entries
/// - write_empty_rows(arguments, rows, lane, lanes): writes the numbers of rows without entries, if
///   results are not entries. Batches leave these rows out.

#include <KokkosSoftmax_Options.hpp>
#include <impl/device/op/KokkosSoftmax_Backward.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <op/FlatValues.hpp>
#include <row/RaggedArgs.hpp>
#include <row/RaggedWork.hpp>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl {

/// NaN as the padding of an operation. It doesn't count in a range of values (SharedReference).
template <class X>
struct PaddedByNaN {
  template <class Arguments>
  KOKKOS_FORCEINLINE_FUNCTION static X padding(const Arguments&) {
    using T = std::conditional_t<sizeof(X) == 8, double, float>;
    return static_cast<X>(Kokkos::Experimental::quiet_NaN_v<T>);
  }
};

/// Replaces entries by their values.
template <class Source, class Arguments, class T, int count>
KOKKOS_FORCEINLINE_FUNCTION void apply_source(const Arguments& arguments, T (&entry)[count]) {
  const Source source(arguments.of_rows);
  KOKKOSSOFTMAX_IMPL_UNROLL
  for (int j = 0; j < count; ++j) entry[j] = source.value(entry[j], 0);
}

/// The Finish of operations whose results are entries. It doesn't depend on their types, so that
/// they share RaggedMergeKernel.
struct NoNumberOfRow {
  template <class Arguments>
  explicit NoNumberOfRow(const Arguments&) {}
  template <class State>
  KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t /*r*/, const State&) const {}
};

// What RowTeams can be. Each number takes a kernel, so that only the cases that gain the most have
// some. Exponentials of softmax take too many instructions for parts of a vector.
using NoRowTeams = std::integer_sequence<int>;
template <class X>
using RowTeamsOf = std::conditional_t<sizeof(X) == 8, std::integer_sequence<int, 4, 8>,
                                      std::integer_sequence<int, 1, 4>>;
template <class X>
using LogRowTeamsOf =
    std::conditional_t<std::is_same_v<X, float>, std::integer_sequence<int, 0>, NoRowTeams>;
template <class X>
using LseRowTeamsOf =
    std::conditional_t<std::is_same_v<X, float>, std::integer_sequence<int, 0, 4>, RowTeamsOf<X>>;

/// softmax (function 0) and log_softmax (1)
template <class V, int function_>
struct RaggedSoftmax : PaddedByNaN<typename V::X> {
  static constexpr int function = function_;
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using Rows = OneOutput<SoftmaxOp<V>, function>;
  using Output = OnlyOutput<Rows>;
  using State = typename Rows::State;
  using Arguments = RaggedArgs<V, State>;
  using Finish = NoNumberOfRow;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = true;
  using RowTeams = std::conditional_t<
      !std::is_same_v<typename V::X, typename V::Y>, NoRowTeams,
      std::conditional_t<function == 0, RowTeamsOf<typename V::X>, LogRowTeamsOf<typename V::X>>>;

  using OfRow = FlatRowOf<Rows>;
  template <class Batch, class Entries>
  KOKKOS_FORCEINLINE_FUNCTION static void compute(const Arguments& arguments, const Batch& batch,
                                                  const RowsOfVector&, Entries& entries,
                                                  OfRow* of_row) {
    apply_source<Source>(arguments, entries[0]);
    FlatValues<Rows, Batch> values(batch, entries[0], of_row);
    values.reduce();
    batch.for_each_row(
        [&](int r) { of_row[r].set_output(Output(values.state(r), arguments.empty_rows)); });
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
};

/// logsumexp
template <class V>
struct RaggedLogSumExp : PaddedByNaN<typename V::X> {
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using Rows = LogSumExpOp<V>;
  using State = typename Rows::State;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = false;
  static constexpr bool reduces = true;
  using RowTeams = LseRowTeamsOf<typename V::X>;

  using OfRow = FlatRowOf<Rows>;
  template <class Batch, class Entries>
  KOKKOS_FORCEINLINE_FUNCTION static void compute(const Arguments& arguments, const Batch& batch,
                                                  const RowsOfVector& rows, Entries& entries,
                                                  OfRow* of_row) {
    apply_source<Source>(arguments, entries[0]);
    FlatValues<Rows, Batch> values(batch, entries[0], of_row);
    values.reduce();
    batch.for_each_row([&](int i) {
      State state = values.state(i);
      const std::int64_t r = rows.first_row + batch.number(i);
      finish_special(arguments, r, values.slack(), state);
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

  struct Finish {
    Arguments arguments;

    explicit Finish(const Arguments& arguments_) : arguments(arguments_) {}
    KOKKOS_FORCEINLINE_FUNCTION void operator()(std::int64_t r, const State& state) const {
      finish(arguments, r, state);
    }
  };

  template <class Tile, class TileRow>
  KOKKOS_FORCEINLINE_FUNCTION static void write_row(const Arguments& arguments, Tile&,
                                                    const TileRow&, int thread_id, std::int64_t r,
                                                    const State& state, T /*factor*/) {
    if (thread_id == 0) finish(arguments, r, state);
  }

  KOKKOS_FORCEINLINE_FUNCTION static void finish(const Arguments& arguments, std::int64_t r,
                                                 const State& state) {
    const T lse = OnlyOutput<Rows>(state, arguments.empty_rows).value;
    arguments.problem.of_rows[r] = written_lse(lse, arguments.of_rows.scale_is_zero);
  }

 private:
  /// Computes the states of two kinds of rows from their entries, which a lane reads alone: those
  /// near 0, and those with +inf, if the exponential fails there.
  KOKKOS_FORCEINLINE_FUNCTION static void finish_special(const Arguments& arguments, std::int64_t r,
                                                         T slack, State& state) {
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    const bool is_near = keeps_digits<State> && is_near_zero(state.max, state.sum, slack);
    if (!is_near && state.max < infinity) return;
    const auto& offset = arguments.problem.offset;
    const std::int64_t begin = offset(r);
    const auto count = static_cast<int>(offset(r + 1) - begin);
    const auto value = [&](int i) {
      return Source(arguments.of_rows).value(static_cast<T>(arguments.problem.x[begin + i]), 0);
    };
    if constexpr (keeps_digits<State>) {
      if (is_near) {
        const T max = max_of<T>(count, value);
        if (!is_max_near_zero(max)) return;
        const T sum = sum_below_max<EntryNumber::few>(max, count, value);
        state = State::settled(log_sum_exp_near_zero(max, sum));
        return;
      }
    }
    state.sum = T(0);
    for (int i = 0; i < count; ++i) state.sum += ExpBesideInfinity{}(value(i));
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
  using Finish = NoNumberOfRow;
  static constexpr int inputs = 2;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = true;
  using RowTeams = std::conditional_t<
      sizeof(T) == 8, std::integer_sequence<int, 1, 4, 16>,
      std::conditional_t<sizeof(typename V::X) == 4, std::integer_sequence<int, 2, 8>,
                         std::integer_sequence<int, 2>>>;

  KOKKOS_FORCEINLINE_FUNCTION static typename V::X padding(const Arguments& arguments) {
    return arguments.of_rows.padding;
  }

  struct OfRow {
    T sum;
  };

  template <class Batch, class Entries>
  KOKKOS_FORCEINLINE_FUNCTION static void compute(const Arguments& arguments, const Batch& batch,
                                                  const RowsOfVector&, Entries& entries,
                                                  OfRow* of_row) {
    auto& p = entries[0];
    auto& t = entries[1];
    Source(arguments.of_rows).template make_pairs<Batch::Slots::count>(p, t);
    batch.reduce(
        T(0), of_row, [](const OfRow&) {}, [&](T sum, int j) { return sum + t[j]; },
        [](T a, T b) { return a + b; });
    Intrinsics::vector_barrier();
    T sum(0);
    batch.for_each_slot(
        of_row, [&](const OfRow& row) { sum = row.sum; },
        [&](int j) {
          const BackwardOutput<V> output({sum}, arguments.empty_rows);
          p[j] = output(p[j], t[j]);
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
};

/// The backward pass of logsumexp, which computes each entry alone.
template <class V>
struct RaggedGradient : PaddedByNaN<typename V::X> {
  using Types = V;
  using T = typename V::Compute;
  using Source = RaggedSource<V>;
  using State = PlainSum<T>;
  using Arguments = RaggedArgs<V, State>;
  static constexpr int inputs = 1;
  static constexpr bool writes_entries = true;
  static constexpr bool reduces = false;
  using RowTeams = NoRowTeams;

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
  template <class Batch, class Entries>
  KOKKOS_FORCEINLINE_FUNCTION static void compute(const Arguments& arguments, const Batch& batch,
                                                  const RowsOfVector& rows, Entries& entries,
                                                  OfRow* of_row) {
    auto& value = entries[0];
    apply_source<Source>(arguments, value);
    batch.for_each_row(
        [&](int r) { of_row[r] = OfRow::of(arguments, rows.first_row + batch.number(r)); });
    Intrinsics::vector_barrier();
    OfRow of_slot = of_row[-1];
    batch.for_each_slot(
        of_row, [&](const OfRow& row) { of_slot = row; },
        [&](int j) { value[j] = of_slot(value[j]); });
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
