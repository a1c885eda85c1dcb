// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP

#include <algorithm>
#include <op/FinishRow.hpp>
#include <op/HeldValues.hpp>
#include <op/SecondRead.hpp>
#include <row/Chunk.hpp>
#include <schedules/PackedRun.hpp>

namespace KokkosSoftmax::Impl {

/// For short rows that are stored back to back. A team moves a run of rows to level-0 scratch
/// memory and back, in aligned chunks, whatever the length of a row is. Between the two moves, each
/// lane works on rows of its own, one after the other: in its registers if they are short,
/// otherwise in scratch memory. If the length of the rows is odd, the lanes access different banks
/// of scratch memory. Half types stay half types in scratch memory. If results are entries, their
/// rows are accessed in words of two entries: as many accesses of one entry would keep scratch
/// memory busy.
template <class Exec, class Op, class Source, class Shape>
struct PackedKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = typename Op::State;
  /// Whether lanes access rows in words of two entries if their length has code of its own.
  static constexpr bool has_words = moves_in_pairs<X, Shape::width> && Op::writes_entries;
  static constexpr int lanes = Shape::threads * Shape::lanes;  // of the team
  static constexpr int rows_per_team = lanes * Shape::rows_per_thread;
  /// The loads that a lane makes before it waits for the first one: all of its rows, if there are
  /// registers for that.
  static constexpr int chunks_of_lane = Shape::items * Shape::rows_per_thread;
  static constexpr int most_in_flight = has_words && Shape::items > 1 ? 6 : chunks_of_lane;
  static constexpr int in_flight = std::min(chunks_of_lane, most_in_flight);
  using Run = PackedRun<Exec, V, Shape::width, lanes, in_flight, has_words>;

  RowArgs<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int thread_id = member.team_rank() * Shape::lanes + lane_number<Shape::lanes>(member);
    const Run run(member, arguments, rows_per_team);
    run.load(arguments, thread_id);
    member.team_barrier();
    work(member, run, thread_id);
    if constexpr (Op::writes_entries) {
      member.team_barrier();
      run.store(arguments, thread_id);
    }
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Run::scratch_bytes(rows_per_team, columns);
  }

 private:
  static constexpr int most_columns = Shape::items * Shape::width;
  /// For longer rows, the registers would suffice for too few lanes (measured on an H200).
  static constexpr bool in_registers = most_columns * sizeof(T) <= 160;
  static_assert(in_registers || std::is_same_v<X, T>, "rows keep all digits in scratch memory");

  /// Computes the rows that are those of this lane.
  KOKKOS_FORCEINLINE_FUNCTION void work(const Member& member, const Run& run, int thread_id) const {
    const int columns = run.columns();
    if constexpr (has_words) {
      if (work_in_words<most_columns>(member, run, thread_id)) return;
      for (int r = thread_id; r < run.rows(); r += lanes)
        work_in_loops(run.row(r), columns, run.number(r));
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Shape::rows_per_thread; ++k) {
        const int r = thread_id + k * lanes;
        if (r >= run.rows()) continue;
        if constexpr (in_registers)
          work_in_registers(member, run.row(r), columns, run.number(r));
        else
          work_in_scratch(run.row(r), columns, run.number(r));
      }
    }
  }

  /// The lengths that have code of their own: `most_columns` and lengths below. The shapes of half
  /// types are so far apart that each length in use is one of them. With code for all of a shape's
  /// lengths at once, the compiler would spill registers.
  static constexpr int fixed_lengths = Shape::width;
  /// With more rows, code that is written out for each of them takes longer than a loop
  /// (docs/trials.md).
  static constexpr int most_rows_in_cache = 4;

  /// Computes the rows of this lane in words. Returns whether there is code for their length.
  ///
  /// \tparam length  the first one to try
  template <int length>
  KOKKOS_FORCEINLINE_FUNCTION bool work_in_words(const Member& member, const Run& run,
                                                 int thread_id) const {
    if constexpr (length <= most_columns - fixed_lengths) {
      return false;
    } else {
      if (run.columns() != length) return work_in_words<length - 1>(member, run, thread_id);
      const auto work_on_row = [&](int k) {
        const int r = thread_id + k * lanes;
        if (r < run.rows())
          work_on_words<length>(member, run.row(0) + r * length, r, run.number(r));
      };
      if constexpr (Shape::rows_per_thread > most_rows_in_cache) {
        KOKKOSSOFTMAX_IMPL_NO_UNROLL
        for (int k = 0; k < Shape::rows_per_thread; ++k) work_on_row(k);
      } else {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < Shape::rows_per_thread; ++k) work_on_row(k);
      }
      return true;
    }
  }

  /// Works in registers on row r of the run. The order of the values doesn't matter.
  template <int length>
  KOKKOS_FORCEINLINE_FUNCTION void work_on_words(const Member& member, X* row, int r,
                                                 std::int64_t row_of_x) const {
    constexpr bool is_odd = length % 2 != 0;
    constexpr int words = length / 2;
    const Source source(arguments);
    const WordsOfRow<X, 2> in_words(row, r, length);
    T value[length];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < words; ++i) widen<X, 2>(in_words.word[i], value + 2 * i);
    if constexpr (is_odd) value[length - 1] = static_cast<T>(*in_words.single);
    const auto for_each = [](const auto& body) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < length; ++j) body(j);
    };
    for_each([&](int j) { value[j] = source.value(value[j], j); });
    finish_beside<Op>(arguments, row_of_x, compute_held<Op, 1>(member, arguments, value, for_each));
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < words; ++i) {
      const Chunk<X, 2> results{{static_cast<X>(value[2 * i]), static_cast<X>(value[2 * i + 1])}};
      in_words.word[i] = Kokkos::bit_cast<RawChunk<X, 2>>(results);
    }
    if constexpr (is_odd) *in_words.single = static_cast<X>(value[length - 1]);
  }

  /// Works on rows of half types whose lengths other shapes are for. Reads their entries three
  /// times.
  KOKKOS_FORCEINLINE_FUNCTION void work_in_loops(X* row, int columns, std::int64_t r) const {
    const Source source(arguments);
    const auto value = [&](int j) { return source.value(static_cast<T>(row[j]), j); };
    T max = -Kokkos::Experimental::infinity_v<T>;
    for (int j = 0; j < columns; ++j) max = larger(max, value(j));
    const State state =
        with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
          const typename Output::Exp exp_of_entry(StateTraits<State>::reference_of(max));
          const T sum = sum_by(exp_of_entry, [&](const auto& exp) {
            T terms = T(0);
            for (int j = 0; j < columns; ++j) terms = plus_exp(terms, exp, value(j));
            return terms;
          });
          const State reduced = StateTraits<State>::make(max, sum);
          const EntryOutput<Op, Output> output(reduced, arguments.empty_rows);
          for (int j = 0; j < columns; ++j) row[j] = static_cast<X>(output(value(j)));
          return reduced;
        });
    finish_beside<Op>(arguments, r, state);
  }

  /// Works on a lane's row in registers, so that scratch memory is read and written once.
  KOKKOS_FORCEINLINE_FUNCTION void work_in_registers(const Member& member, X* row, int columns,
                                                     std::int64_t r) const {
    const Source source(arguments);
    T value[most_columns];
    // Host compilers don't see that each element is written before it is read.
    KOKKOS_IF_ON_HOST((std::fill_n(value, most_columns, T(0));))
    const auto for_each = [&](const auto& body) { for_each_slot(columns, body); };
    for_each([&](int j) {
      value[j] = j < columns ? source.value(static_cast<T>(row[j]), j)
                             : -Kokkos::Experimental::infinity_v<T>;
    });
    const State state = compute_held<Op, 1>(member, arguments, value, for_each);
    if constexpr (Op::writes_entries) {
      for_each_slot(columns, [&](int j) {
        if (j < columns) row[j] = static_cast<X>(value[j]);
      });
      finish_beside<Op>(arguments, r, state);
    } else {
      finish_row<Op>(arguments, settled(state, row, columns), y_of_row(r));
    }
  }

  /// The state, settled if it is near 0 (see LseState).
  KOKKOS_FORCEINLINE_FUNCTION State settled(const State& state, [[maybe_unused]] const X* row,
                                            [[maybe_unused]] int columns) const {
    if constexpr (keeps_digits<State>)
      if (is_near_zero(state.max, state.sum, T(0))) {
        const Source source(arguments);
        const T sum = sum_below_max<EntryNumber::few>(
            state.max, columns, [&](int j) { return source.value(row[j], j); });
        return State::settled(log_sum_exp_near_zero(state.max, sum));
      }
    return state;
  }

  /// Calls `body` for the slots of a register array that hold an entry, and for up to three more:
  /// one branch for four slots is cheaper than one branch per slot.
  template <class Body>
  KOKKOS_FORCEINLINE_FUNCTION static void for_each_slot(int columns, const Body& body) {
    constexpr int at_a_time = 4;
    constexpr int groups = (most_columns + at_a_time - 1) / at_a_time;
    unrolled_while<groups>([&](int g) {
      const int first = g * at_a_time;
      if (first >= columns) return false;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = first; j < first + at_a_time; ++j)
        if (j < most_columns) body(j);
      return true;
    });
  }

  KOKKOS_FORCEINLINE_FUNCTION void work_in_scratch(T* row, int columns, std::int64_t r) const {
    const Source source(arguments);
    const State state =
        with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
          const State reduced = reduce<Output>(source, row, columns);
          if constexpr (Op::writes_entries) {
            const Output output(reduced, arguments.empty_rows);
            for (int j = 0; j < columns; ++j)
              row[j] = output(Output::keeps_exponentials ? row[j] : source.value(row[j], j));
          }
          return reduced;
        });
    if constexpr (Op::writes_entries)
      finish_beside<Op>(arguments, r, state);
    else
      finish_row<Op>(arguments, settled(state, row, columns), y_of_row(r));
  }
  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION static State reduce(const Source& source, T* row, int columns) {
    T max = -Kokkos::Experimental::infinity_v<T>;
    for (int j = 0; j < columns; ++j) max = larger(max, source.value(row[j], j));
    const typename Output::Exp exp_of_entry(StateTraits<State>::reference_of(max));
    const T sum = sum_by(exp_of_entry, [&](const auto& exp) {
      T terms = T(0);
      for (int j = 0; j < columns; ++j)
        add_term<Output::keeps_exponentials>(terms, exp, source.value(row[j], j), row[j]);
      return terms;
    });
    return StateTraits<State>::make(max, sum);
  }

  KOKKOS_FORCEINLINE_FUNCTION X* y_of_row(std::int64_t r) const {
    return arguments.problem.y + r * arguments.problem.outer[0].y_stride;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
