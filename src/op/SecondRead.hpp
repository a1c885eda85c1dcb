// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_SECONDREAD_HPP
#define KOKKOSSOFTMAX_SRC_OP_SECONDREAD_HPP

/// \file
/// The second read of parts of rows whose states call for it: if their log-sum-exps are near 0 (see
/// LseState), or +inf with weights. The threads that have reduced a part read it again: each thread
/// the same entries as before, in the same order. Such rows are rare, so that this code is short
/// and takes few registers: a loop over entries, whatever the tile of the schedule is.

#include <impl/device/backend/KokkosSoftmax_AnyCallable.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/team/KokkosSoftmax_LseState.hpp>
#include <op/WeightedSecondRead.hpp>
#include <row/RowArgs.hpp>
#include <row/TileOf.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The entries of a thread in the chunks of a ChunkedRow. The first chunk is `first` + thread_id;
/// the others follow at a distance of `threads` chunks. The peeled entry comes last.
template <class Source, class Row, int width, int threads>
class EntriesOfThread {
 public:
  using T = typename Source::Types::Compute;

  KOKKOS_FORCEINLINE_FUNCTION EntriesOfThread(const ArgumentsOf<Source>& arguments, const Row& row,
                                              std::int64_t first, int thread_id)
      : m_source(arguments), m_row(row), m_first(first + thread_id) {
    const std::int64_t left = row.read_end(m_source) - m_first;
    m_in_chunks = left > 0 ? (left + threads - 1) / threads * width : 0;
    if constexpr (Row::has_peeled_entries) m_edge = first == 0 ? row.edge_column(thread_id) : -1;
  }

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t count() const {
    return m_in_chunks + (Row::has_peeled_entries && m_edge >= 0 ? 1 : 0);
  }

  /// Entry i of the thread, where i has few bits or many.
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION T operator()(Number i) const {
    const std::int64_t entry = place(i);
    return value_of(m_source, m_row.source_row, static_cast<T>(m_row.x[entry * m_row.x_stride]),
                    m_row.numbers(entry));
  }

  /// The weight of entry i, if the source has weights.
  KOKKOS_FORCEINLINE_FUNCTION T weight(std::int64_t i) const {
    return m_source.weight(m_row.source_row, m_row.numbers(place(i)));
  }

 private:
  template <class Number>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t place(Number i) const {
    if (Row::has_peeled_entries && i == m_in_chunks) return m_edge;
    return m_row.head + (m_first + i / width * threads) * width + i % width;
  }

  Source m_source;
  const Row& m_row;
  std::int64_t m_first;
  std::int64_t m_in_chunks;
  std::int64_t m_edge = -1;
};
template <class Tile>
using EntriesOf =
    EntriesOfThread<typename Tile::Source, typename Tile::Row, Tile::width, Tile::threads>;

/// The row with the number r, computed anew, so that the first one needn't stay in registers.
template <class Row, class Arguments>
KOKKOS_FORCEINLINE_FUNCTION Row row_again(const Arguments& arguments, std::int64_t r) {
  make_opaque(r);
  return Row(arguments, r);
}

/// Reads the entries of one thread in the tiles of class Tile again, if their state calls for that,
/// and replaces the state. `make_row` makes the row, see row_again().
KOKKOSSOFTMAX_IMPL_ANY_CALLABLE
template <class Tile, class Arguments, RowState State, class MakeRow>
KOKKOS_FORCEINLINE_FUNCTION void second_read_of_thread([[maybe_unused]] const Arguments& arguments,
                                                       [[maybe_unused]] std::int64_t first,
                                                       [[maybe_unused]] int thread_id,
                                                       [[maybe_unused]] State& state,
                                                       [[maybe_unused]] const MakeRow& make_row) {
  if constexpr (has_second_read<State>) {
    using T = typename Tile::T;
    if (!needs_second_read(state, ExpForLse<T>::slack())) return;
    const typename Tile::Row row = make_row();
    const EntriesOf<Tile> entries(arguments, row, first, thread_id);
    if constexpr (has_weights<typename Tile::Source>) {
      read_again(entries, state);
    } else {
      const T max = max_of<T>(entries.count(), entries);
      if (!is_max_near_zero(max)) return;
      const T sum = sum_below_max<EntryNumber::many>(max, entries.count(), entries);
      state = State::settled(log_sum_exp_near_zero(max, sum));
    }
  }
}

/// Settles the state of the lanes of a vector, if `is_near`. `number`: few if the lanes held their
/// entries in one tile. Their maximum is that of the state then.
template <int lanes, EntryNumber number, class Member, class Entries, class T>
KOKKOS_FORCEINLINE_FUNCTION void settle_entries(const Member& member, const Entries& entries,
                                                bool is_near, LseState<T>& state) {
  T max = state.max;
  T sum(0);
  if constexpr (number == EntryNumber::many) {
    max = max_over_lanes<lanes>(member, is_near ? max_of<T>(entries.count(), entries) : max);
    is_near = is_near && is_max_near_zero(max);
  }
  if (is_near)
    sum = sum_below_max<number>(max, static_cast<EntryCount<number>>(entries.count()), entries);
  sum = sum_over_lanes<lanes>(member, sum);
  if (is_near) state = LseState<T>::settled(log_sum_exp_near_zero(max, sum));
}

/// The same as second_read_of_thread() for the lanes of a vector, which have one state.
template <class Tile, int lanes, EntryNumber number, class Member, class Arguments, RowState State,
          class MakeRow>
KOKKOS_FORCEINLINE_FUNCTION void second_read_of_lanes([[maybe_unused]] const Member& member,
                                                      [[maybe_unused]] const Arguments& arguments,
                                                      [[maybe_unused]] std::int64_t first,
                                                      [[maybe_unused]] int thread_id,
                                                      [[maybe_unused]] State& state,
                                                      [[maybe_unused]] const MakeRow& make_row) {
  if constexpr (has_second_read<State>) {
    using T = typename Tile::T;
    constexpr bool is_running = number == EntryNumber::many;
    const bool is_read = needs_second_read(state, is_running ? ExpForLse<T>::slack() : T(0));
    if (!Intrinsics::any_lane(is_read)) return;
    const typename Tile::Row row = make_row();
    const EntriesOf<Tile> entries(arguments, row, first, thread_id);
    if constexpr (has_weights<typename Tile::Source>)
      read_again_in_lanes<lanes>(member, entries, is_read, state);
    else
      settle_entries<lanes, number>(member, entries, is_read, state);
  }
}

/// The same for row r on a host, whose state one thread has.
template <class Source, RowState State>
void second_read_of_host_row([[maybe_unused]] const ArgumentsOf<Source>& arguments,
                             [[maybe_unused]] std::int64_t r, [[maybe_unused]] State& state) {
  if constexpr (has_second_read<State>) {
    using Tile = TileOf<Source, 1, 1, 1, AccessMode::scalar>;
    second_read_of_thread<Tile>(arguments, 0, 0, state,
                                [&] { return typename Tile::Row(arguments, r); });
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
