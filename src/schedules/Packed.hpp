// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP

#include <algorithm>
#include <op/FinishRow.hpp>
#include <op/ReduceTile.hpp>
#include <op/SecondRead.hpp>
#include <row/Tile.hpp>

namespace KokkosSoftmax::Impl {

/// For short rows that are stored back to back. A team moves a run of rows to level-0 scratch
/// memory and back, in aligned chunks, whatever the length of a row is. Between the two moves, each
/// lane works on a row of its own: in its registers if the row is short, otherwise in scratch
/// memory. If the length of the rows is odd, the lanes access different banks of scratch memory.
/// Half types stay half types in scratch memory. If results are entries, their rows are accessed in
/// words of two entries: as many accesses of one entry would keep scratch memory busy.
template <class Exec, class Op, class Source, class Shape>
struct PackedKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using State = typename Op::State;
  /// Whether lanes access rows in words of two entries if their length has code of its own.
  static constexpr bool has_words = moves_in_pairs<X, Shape::width> && Op::writes_entries;
  using RowChunk = Chunk<X, Shape::width>;
  using MovedEntry = std::conditional_t<has_words, std::uint32_t, X>;
  static constexpr int moved_entries = has_words ? Shape::width / 2 : Shape::width;
  using MovedChunk =
      Intrinsics::Moved<std::conditional_t<has_words, RawChunk<X, Shape::width>, RowChunk>,
                        MovedEntry, moved_entries>;
  using Buffer = Kokkos::View<RowChunk*, typename Exec::scratch_memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int lanes = Shape::threads * Shape::lanes;  // of the team
  static constexpr int rows_per_team = lanes * Shape::rows_per_thread;
  static_assert(rows_per_team % Shape::width == 0, "a run must begin at an aligned address");
  static_assert(std::is_same_v<typename V::Y, X>, "results take the place of entries");

  RowArgs<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int thread_id = member.team_rank() * Shape::lanes + lane_number<Shape::lanes>(member);
    const int columns = static_cast<int>(arguments.problem.columns);
    const std::int64_t first =
        arguments.first_row + static_cast<std::int64_t>(member.league_rank()) * rows_per_team;
    const std::int64_t left = arguments.problem.rows - first;
    const int rows = static_cast<int>(left < rows_per_team ? left : rows_per_team);
    const Buffer buffer(member.team_scratch(0), rows_per_team * columns / Shape::width);
    X* const scratch = buffer.data()->entry;

    move(arguments.problem.x + first * columns, scratch, rows * columns, thread_id);
    member.team_barrier();
    work(scratch, rows, columns, first, thread_id);
    if constexpr (Op::writes_entries) {
      member.team_barrier();
      move(scratch, arguments.problem.y + first * columns, rows * columns, thread_id);
    }
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Buffer::shmem_size(static_cast<std::size_t>(rows_per_team * columns / Shape::width));
  }

 private:
  static constexpr int most_columns = Shape::items * Shape::width;
  /// For longer rows, the registers would suffice for too few lanes (measured on an H200).
  static constexpr bool in_registers = most_columns * sizeof(T) <= 160;
  static_assert(in_registers || std::is_same_v<X, T>, "rows keep all digits in scratch memory");

  /// Computes the rows that are those of this lane.
  KOKKOS_FORCEINLINE_FUNCTION void work(X* scratch, int rows, int columns, std::int64_t first,
                                        int thread_id) const {
    if constexpr (has_words) {
      if (work_in_words<most_columns>(scratch, rows, columns, first, thread_id)) return;
      for (int r = thread_id; r < rows; r += lanes)
        work_in_loops(scratch + r * columns, columns, first + r);
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Shape::rows_per_thread; ++k) {
        const int r = thread_id + k * lanes;
        if (r >= rows) continue;
        X* const row = scratch + r * columns;
        if constexpr (in_registers)
          work_in_registers(row, columns, first + r);
        else
          work_in_scratch(row, columns, first + r);
      }
    }
  }

  /// The lengths that have code of their own: `most_columns` and lengths below. The shapes of half
  /// types are so far apart that each length in use is one of them. With code for all of a shape's
  /// lengths at once, the compiler would spill registers.
  static constexpr int fixed_lengths = Shape::width;

  /// Computes the rows of this lane in words. Returns whether there is code for their length.
  ///
  /// \tparam length  the first one to try
  template <int length>
  KOKKOS_FORCEINLINE_FUNCTION bool work_in_words(X* scratch, int rows, int columns,
                                                 std::int64_t first, int thread_id) const {
    if constexpr (length <= most_columns - fixed_lengths) {
      return false;
    } else {
      if (columns != length)
        return work_in_words<length - 1>(scratch, rows, columns, first, thread_id);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Shape::rows_per_thread; ++k) {
        const int r = thread_id + k * lanes;
        if (r < rows) work_on_words<length>(scratch + r * length, r, first + r);
      }
      return true;
    }
  }

  /// Works in registers on row r of the buffer. If its length is odd, one entry is by itself: the
  /// first one if the row begins in the middle of a word, otherwise the last one. The order of the
  /// values doesn't matter.
  template <int length>
  KOKKOS_FORCEINLINE_FUNCTION void work_on_words(X* row, int r, std::int64_t row_of_x) const {
    constexpr bool is_odd = length % 2 != 0;
    constexpr int words = length / 2;
    const Source source(arguments);
    const int lead = is_odd ? r % 2 : 0;
    X* const single = row + (lead != 0 ? 0 : length - 1);
    auto* const pair = reinterpret_cast<RawChunk<X, 2>*>(row + lead);
    T value[length];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < words; ++i) widen<X, 2>(pair[i], value + 2 * i);
    if constexpr (is_odd) value[length - 1] = static_cast<T>(*single);
    const auto for_each = [](const auto& body) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < length; ++j) body(j);
    };
    for_each([&](int j) { value[j] = source.value(value[j], j); });
    finish_beside<Op>(arguments, row_of_x, compute(value, for_each));
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < words; ++i) {
      const Chunk<X, 2> results{{static_cast<X>(value[2 * i]), static_cast<X>(value[2 * i + 1])}};
      pair[i] = Kokkos::bit_cast<RawChunk<X, 2>>(results);
    }
    if constexpr (is_odd) *single = static_cast<X>(value[length - 1]);
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
  KOKKOS_FORCEINLINE_FUNCTION void work_in_registers(X* row, int columns, std::int64_t r) const {
    const Source source(arguments);
    T value[most_columns];
    // Host compilers don't see that each element is written before it is read.
    KOKKOS_IF_ON_HOST((std::fill_n(value, most_columns, T(0));))
    const auto for_each = [&](const auto& body) { for_each_slot(columns, body); };
    for_each([&](int j) {
      value[j] = j < columns ? source.value(static_cast<T>(row[j]), j)
                             : -Kokkos::Experimental::infinity_v<T>;
    });
    const State state = compute(value, for_each);
    if constexpr (Op::writes_entries) {
      for_each_slot(columns, [&](int j) {
        if (j < columns) row[j] = static_cast<X>(value[j]);
      });
      finish_beside<Op>(arguments, r, state);
    } else {
      finish_row<Op>(arguments, settled(state, row, columns), y_of_row(r));
    }
  }

  /// The state of a row in registers. Its values become the results if these are entries.
  ///
  /// \param for_each  calls a function for the numbers of all slots
  template <class ForEach>
  KOKKOS_FORCEINLINE_FUNCTION State compute(T* value, const ForEach& for_each) const {
    T max = -Kokkos::Experimental::infinity_v<T>;
    for_each([&](int j) { max = larger(max, value[j]); });
    const T reference = StateTraits<State>::reference_of(max);
    const T sum =
        with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
          return sum_by(typename Output::Exp(reference), [&](const auto& exp) {
            T terms = T(0);
            for_each([&](int j) {
              add_term<Output::keeps_exponentials>(terms, exp, value[j], value[j]);
            });
            return terms;
          });
        });
    const State state = StateTraits<State>::make(max, sum);
    if constexpr (Op::writes_entries)
      with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
        const Output output(state, arguments.empty_rows);
        for_each([&](int j) { value[j] = output(value[j]); });
      });
    return state;
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

  /// The loads that a lane makes before it waits for the first one: all of its rows, if there are
  /// registers for that.
  static constexpr int chunks_of_lane = Shape::items * Shape::rows_per_thread;
  static constexpr int in_flight = has_words && chunks_of_lane > 6 ? 6 : chunks_of_lane;
  /// Moves a run of rows. All lanes move whole chunks, `in_flight` at one time. The entries after
  /// the last whole chunk, which only the last team can have, are moved one by one.
  KOKKOS_FORCEINLINE_FUNCTION static void move(const X* from, X* to, int entries, int thread_id) {
    const auto* source = reinterpret_cast<const MovedChunk*>(from);
    auto* target = reinterpret_cast<MovedChunk*>(to);
    const int chunks = entries / Shape::width;
    for (int first = thread_id; first < chunks; first += in_flight * lanes) {
      MovedChunk chunk[in_flight];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < in_flight; ++i)
        if (first + i * lanes < chunks) chunk[i] = source[first + i * lanes];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < in_flight; ++i)
        if (first + i * lanes < chunks) target[first + i * lanes] = chunk[i];
    }
    for (int j = chunks * Shape::width + thread_id; j < entries; j += lanes) to[j] = from[j];
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
