// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENT_HPP

#include <algorithm>
#include <impl/device/numerics/KokkosSoftmax_ExpHalf.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <row/TileOf.hpp>
#include <schedules/cluster/AsyncCopy.hpp>
#include <schedules/cluster/AsyncSegmentHalf2.hpp>

namespace KokkosSoftmax::Impl {

/// A segment of a row, like ScratchSegment, which the device copies to scratch memory
/// asynchronously. All copies are in flight at one time, also while the first tile, which is in
/// registers, is summed. The chunks in scratch memory are processed in parts so small that they
/// take few registers besides the tile. For softmax of entries that are as wide as the type that is
/// computed with, the exponentials replace the entries in scratch memory. Otherwise the
/// exponentials for the output are computed from the entries a second time. Entries of half types
/// are processed by AsyncSegmentHalf2, with ExpHalfFused if the results are of half types too.
template <class Exec, class Op, class Source, class Shape>
class AsyncSegment {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using State = typename Op::State;
  using RowTile = TeamTile<Source, Shape>;
  using Row = typename RowTile::Row;
  static_assert(Op::writes_entries, "nothing would have to be held");

  /// Fractions of the scratch memory that a team can have (measured on an H200). At
  /// `comfortable_part`, the first-level cache that is left speeds up the copies by more than fewer
  /// teams would gain. At `roomy_part`, more teams bring no further gain.
  static constexpr double comfortable_part = 2.0 / 3.0;
  static constexpr double roomy_part = 0.4;

  /// For segments of up to `chunks` chunks. `scratch` is the team's memory for them, from a
  /// multiple of 16 bytes on.
  KOKKOS_FORCEINLINE_FUNCTION AsyncSegment(char* scratch, std::int64_t chunks)
      : m_slots(reinterpret_cast<Slot*>(scratch), staged(chunks)) {}

  /// Reads the chunks from number `begin` to the end of the row. Returns this lane's state.
  KOKKOS_FORCEINLINE_FUNCTION State load(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id) {
    const int end = staged_of(row, begin, thread_id);
    stage(row, begin, thread_id, end);
    m_tile.load(arguments, row, begin, thread_id);
    return with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      return sum_for<Output>(arguments, row, begin, thread_id, end);
    });
  }

  /// Writes the output of the same chunks. `all` is the state of the row.
  KOKKOS_FORCEINLINE_FUNCTION void store(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id, const State& all) {
    store_output<Op>(m_tile, arguments, row, begin, thread_id, all,
                     rescale_factor(m_tile_reference, reference_of_state(all)));
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      store_staged<Output>(arguments, row, begin, thread_id, all);
    });
  }

  static std::size_t scratch_bytes(std::int64_t chunks) {
    return static_cast<std::size_t>(staged(chunks)) * sizeof(Slot);
  }

  /// The largest number of chunks of a segment, if the team has `scratch` bytes of scratch memory.
  static std::int64_t most_chunks(std::size_t scratch) {
    return RowTile::chunks + static_cast<std::int64_t>(scratch / sizeof(Slot));
  }

 private:
  template <class Output>
  static constexpr bool stages_exponentials =
      sizeof(typename V::X) == sizeof(T) && Output::keeps_exponentials;
  static constexpr bool stages_pairs = sizeof(typename V::X) == 2 && Source::value_is_scaled_raw;
  static constexpr bool gives_halfs = sizeof(typename V::Y) < sizeof(T);
  /// With large teams, the first-level cache has too little room for the copies in flight.
  static constexpr bool through_cache = Shape::threads < 16;
  static constexpr int part_bytes = 32;  // of a lane, in registers
  static constexpr int part_items =
      std::max(1, part_bytes / static_cast<int>(RowTile::width * sizeof(T)));
  using SubTile = Tile<Source, part_items, RowTile::width, RowTile::threads, RowTile::access>;
  using Slot = typename RowTile::Raw;
  using Slots = Kokkos::View<Slot*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION State sum_for(const ArgumentsOf<Source>& arguments, const Row& row,
                                            std::int64_t begin, int thread_id, int end) {
    OnlineSum<typename Output::Exp, State> sum;
    sum.template add<Output::keeps_exponentials>(m_tile);
    m_tile_reference = sum.reference();
    wait_for_copies();
    if constexpr (stages_exponentials<Output>)
      sum_and_keep(arguments, row, begin, thread_id, end, sum);
    else if constexpr (stages_pairs)
      sum_pairs<!Output::keeps_exponentials>(arguments, thread_id, end, sum);
    else
      for (int p = 0; p < end; p += SubTile::chunks) {
        SubTile entries = entries_at(arguments, row, begin, p, thread_id, end);
        sum.add(entries);
      }
    return sum.state();
  }

  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION void store_staged(const ArgumentsOf<Source>& arguments,
                                                const Row& row, std::int64_t begin, int thread_id,
                                                const State& all) const {
    const EmptyRows empty_rows = arguments.empty_rows;
    const int end = staged_of(row, begin, thread_id);
    const std::int64_t first = begin + RowTile::chunks;
    if constexpr (stages_exponentials<Output>) {
      const Output output(all, rescale_factor(m_staged_reference, reference_of_state(all)),
                          empty_rows);
      for (int p = 0; p < end; p += SubTile::chunks)
        exponentials_at(p + thread_id, end - p).store(row, first + p, thread_id, output);
    } else {
      if constexpr (stages_pairs)
        if (row.wide_stores)
          return store_pairs<Output>(arguments, row.y_chunk(first + thread_id),
                                     pairs_of(thread_id, end), all);
      const EntryOutput<Op, Output> output(all, empty_rows);
      for (int p = 0; p < end; p += SubTile::chunks)
        entries_at(arguments, row, begin, p, thread_id, end)
            .store(row, first + p, thread_id, output);
    }
  }

  /// The number of chunks in scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t staged(std::int64_t chunks) {
    return chunks > RowTile::chunks ? chunks - RowTile::chunks : 0;
  }
  /// The end of this lane's slots in scratch memory: the lane has the slots thread_id + p for p =
  /// 0, RowTile::threads, 2 * RowTile::threads, ... below the returned value.
  KOKKOS_FORCEINLINE_FUNCTION static int staged_of(const Row& row, std::int64_t begin,
                                                   int thread_id) {
    return static_cast<int>(staged(row.end - begin)) - thread_id;
  }

  KOKKOS_FORCEINLINE_FUNCTION void stage(const Row& row, std::int64_t begin, int thread_id,
                                         int end) const {
    const std::int64_t stride = RowTile::access == AccessMode::scalar ? row.x_stride : 1;
    const typename V::X* from = row.x_chunk(begin + RowTile::chunks + thread_id);
    Slot* to = m_slots.data() + thread_id;
    for (int p = 0; p < end; p += RowTile::threads) {
      copy_async<through_cache>(to, reinterpret_cast<const Slot*>(from));
      from += RowTile::threads * RowTile::width * stride;
      to += RowTile::threads;
    }
  }

  /// Finds the largest entry first, so that all exponentials have the same reference.
  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION void sum_and_keep(const ArgumentsOf<Source>& arguments,
                                                const Row& row, std::int64_t begin, int thread_id,
                                                int end, OnlineSum<Exp, State>& sum) {
    T max = sum.max();
    for (int p = 0; p < end; p += SubTile::chunks)
      max = entries_at(arguments, row, begin, p, thread_id, end).max(max);
    sum.raise_to(max);
    m_staged_reference = sum.reference();
    for (int p = 0; p < end; p += SubTile::chunks) {
      SubTile sub_tile = entries_at(arguments, row, begin, p, thread_id, end);
      sum.template add_below<true>(sub_tile);
      keep(sub_tile, p + thread_id, end - p);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION auto pairs_of(int thread_id, int end) const {
    return AsyncSegmentHalf2<Source, RowTile::width, RowTile::threads>(m_slots.data() + thread_id,
                                                                       end);
  }

  /// With `precise`, the logarithm of the sum must have all of its digits.
  template <bool precise, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION void sum_pairs(const ArgumentsOf<Source>& arguments, int thread_id,
                                             int end, OnlineSum<Exp, State>& sum) const {
    const auto pairs = pairs_of(thread_id, end);
    sum.raise_to(larger(sum.max(), pairs.largest(arguments)));
    const T factor = Source(arguments).factor();
    const T reference = sum.reference();
    if constexpr (gives_halfs)
      if (ExpHalfFused<T>::serves(factor, reference) && (!precise || factor == T(1))) {
        const ExpHalfFused<T> fused(factor, reference);
        const T term = pairs.sum(fused);
        return sum.add_term(precise ? term * fused.inverse_near_one(reference) : term);
      }
    const Exp exp(reference);
    sum.add_term(pairs.sum([&](T entry) { return exp(factor * entry); }));
  }

  template <class Output, class Pairs>
  KOKKOS_FORCEINLINE_FUNCTION static void store_pairs(const ArgumentsOf<Source>& arguments,
                                                      typename V::Y* y, const Pairs& pairs,
                                                      const State& all) {
    const T factor = Source(arguments).factor();
    if constexpr (gives_halfs && Output::keeps_exponentials)
      if (ExpHalfFused<T>::serves(factor, reference_of_state(all))) {
        ExpHalfFused<T> exp(factor, reference_of_state(all));
        exp.multiply(Output(all, arguments.empty_rows).factor());
        return pairs.store(y, exp);
      }
    const EntryOutput<Op, Output> output(all, arguments.empty_rows);
    pairs.store(y, [&](T entry) { return output(factor * entry); });
  }

  /// Reads this lane's chunks from slot `first` on, and `padding` after the last one.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(int first, int left, const Slot& padding,
                                         Slot (&slots)[SubTile::items]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < SubTile::items; ++i) {
      slots[i] = padding;
      if (i * RowTile::threads < left) slots[i] = m_slots(first + i * RowTile::threads);
    }
  }

  /// The values of this lane's chunks in the slots from thread_id + p on.
  KOKKOS_FORCEINLINE_FUNCTION SubTile entries_at(const ArgumentsOf<Source>& arguments,
                                                 const Row& row, std::int64_t begin, int p,
                                                 int thread_id, int end) const {
    const Source source(arguments);
    Slot slots[SubTile::items];
    fetch(p + thread_id, end - p, raw_chunk_of<typename V::X, RowTile::width>(source.padding()),
          slots);
    SubTile entries;
    entries.template take<true>(
        source, SubTile::columns(source, row, begin + RowTile::chunks + p, thread_id), slots);
    return entries;
  }

  KOKKOS_FORCEINLINE_FUNCTION SubTile exponentials_at(int first, int left) const {
    Slot slots[SubTile::items];
    fetch(first, left, Slot{}, slots);
    SubTile exponentials;
    exponentials.set_chunks(slots);
    return exponentials;
  }

  KOKKOS_FORCEINLINE_FUNCTION void keep(const SubTile& exponentials, int first, int left) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < SubTile::items; ++i)
      if (i * RowTile::threads < left)
        m_slots(first + i * RowTile::threads) = exponentials.chunk(i);
  }

  Slots m_slots;
  RowTile m_tile;
  T m_tile_reference;
  T m_staged_reference;
};

}  // namespace KokkosSoftmax::Impl

#endif
