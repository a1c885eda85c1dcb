// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_ASYNCSEGMENT_HPP

#include <algorithm>
#include <op/Epilogue.hpp>
#include <row/Tile.hpp>
#include <schedules/cluster/AsyncCopy.hpp>
#include <schedules/cluster/AsyncSegmentHalf2.hpp>
#include <team/OnlineSum.hpp>

namespace KokkosSoftmax::Impl {

/// A share of a row as HeldShare has it, which the device copies to scratch by itself: all of it is
/// on its way from memory at one time, and while the first tile, which is in registers, is summed.
/// The chunks in scratch are worked on in parts so small that they take few registers beside the
/// tile. For softmax of entries that are as wide as what is computed with, the weights take their
/// places, else weights are computed anew from the entries for the output; half types are worked on
/// as StagedPairs does it, with FusedShortExp where results are of half types too.
template <class Exec, class V, Operation operation, class Shape>
class StagedShare {
 public:
  using T = typename V::Compute;
  using Piece = TeamTile<V, Shape>;
  using Row = typename Piece::Row;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;
  static_assert(!Output::one_value_a_row, "nothing would have to be held");

  /// Of the scratch that a team can have, as much as leaves a first-level cache by which the copies
  /// are faster than fewer teams would be, and so little that more teams bring nothing; by
  /// measurements on an H200.
  static constexpr double comfortable_part = 2.0 / 3.0;
  static constexpr double roomy_part = 0.4;

  /// For shares of up to `chunks` chunks.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION StagedShare(const Member& member, std::int64_t chunks)
      : m_places(member.team_scratch(0), staged(chunks)) {
    assume_scratch(m_places.data());
  }

  /// Reads the chunks from number `begin` to the row's end; this lane's state.
  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> load(const KernelArguments<V>& arguments,
                                                     const Row& row, std::int64_t begin, int rank) {
    const int end = staged_of(row, begin, rank);
    stage(row, begin, rank, end);
    m_tile.load(arguments, row, begin, rank);
    OnlineSum<Exp, T> sum;
    sum.template add<Output::keeps_weights>(m_tile);
    m_tile_reference = sum.reference();
    wait_for_copies();
    if constexpr (stages_weights)
      sum_and_keep(arguments, rank, end, sum);
    else if constexpr (stages_pairs)
      sum_pairs(arguments, rank, end, sum);
    else
      for (int p = 0; p < end; p += Part::chunks) {
        Part entries = entries_at(arguments, p + rank, end - p);
        sum.add(entries);
      }
    return sum.state();
  }

  /// Writes the output of the same chunks, given the row's state.
  KOKKOS_FORCEINLINE_FUNCTION void store(const KernelArguments<V>& arguments, const Row& row,
                                         std::int64_t begin, int rank,
                                         const LogSumExpState<T>& all) const {
    const EmptyRows empty_rows = arguments.empty_rows;
    m_tile.store(row, begin, rank, Output(all, m_tile_reference, empty_rows));
    const int end = staged_of(row, begin, rank);
    const std::int64_t first = begin + Piece::chunks;
    if constexpr (stages_weights) {
      const Output output(all, m_staged_reference, empty_rows);
      for (int p = 0; p < end; p += Part::chunks)
        weights_at(p + rank, end - p).store(row, first + p, rank, output);
    } else {
      if constexpr (stages_pairs)
        if (row.wide_stores)
          return store_pairs(arguments, row.y_chunk(first + rank), pairs_of(rank, end), all);
      const EntryEpilogue<Output, T> output(all, empty_rows);
      for (int p = 0; p < end; p += Part::chunks)
        entries_at(arguments, p + rank, end - p).store(row, first + p, rank, output);
    }
  }

  static std::size_t scratch_bytes(std::int64_t chunks) {
    return Places::shmem_size(staged(chunks));
  }

  /// The most chunks that a share can have with so much scratch.
  static std::int64_t most_chunks(std::size_t scratch) {
    const std::size_t for_alignment = scratch_bytes(0);
    const std::size_t bytes = scratch > for_alignment ? scratch - for_alignment : 0;
    return Piece::chunks + static_cast<std::int64_t>(bytes / sizeof(Place));
  }

 private:
  static constexpr bool stages_weights =
      sizeof(typename V::X) == sizeof(T) && Output::keeps_weights;
  static constexpr bool stages_pairs = sizeof(typename V::X) == 2;
  static constexpr bool gives_halfs = sizeof(typename V::Y) < sizeof(T);
  /// Large teams leave the first-level cache too little room for what they have under way.
  static constexpr bool through_cache = Shape::threads < 16;
  static constexpr int part_bytes = 32;  // a lane's, in registers
  static constexpr int part_items =
      std::max(1, part_bytes / static_cast<int>(Piece::width * sizeof(T)));
  using Part = Tile<V, part_items, Piece::width, Piece::threads, Piece::fill>;
  using Place = typename Piece::Raw;
  using Places = Kokkos::View<Place*, typename Exec::scratch_memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Chunks in scratch.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t staged(std::int64_t chunks) {
    return chunks > Piece::chunks ? chunks - Piece::chunks : 0;
  }
  /// Those of this lane are at the places rank + p, p < what this gives, one every Piece::threads.
  KOKKOS_FORCEINLINE_FUNCTION static int staged_of(const Row& row, std::int64_t begin, int rank) {
    return static_cast<int>(staged(row.end - begin)) - rank;
  }

  KOKKOS_FORCEINLINE_FUNCTION void stage(const Row& row, std::int64_t begin, int rank,
                                         int end) const {
    const std::int64_t stride = Piece::fill == Fill::scalar ? row.x_stride : 1;
    const typename V::X* from = row.x_chunk(begin + Piece::chunks + rank);
    Place* to = m_places.data() + rank;
    for (int p = 0; p < end; p += Piece::threads) {
      copy_async<through_cache>(to, reinterpret_cast<const Place*>(from));
      from += Piece::threads * Piece::width * stride;
      to += Piece::threads;
    }
  }

  /// The largest entry first and one reference for all, against which the weights stand.
  KOKKOS_FORCEINLINE_FUNCTION void sum_and_keep(const KernelArguments<V>& arguments, int rank,
                                                int end, OnlineSum<Exp, T>& sum) {
    T max = sum.max();
    for (int p = 0; p < end; p += Part::chunks)
      max = entries_at(arguments, p + rank, end - p).max(max);
    sum.raise_to(max);
    m_staged_reference = sum.reference();
    for (int p = 0; p < end; p += Part::chunks) {
      Part part = entries_at(arguments, p + rank, end - p);
      sum.template add_below<true>(part);
      keep(part, p + rank, end - p);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION auto pairs_of(int rank, int end) const {
    return StagedPairs<V, Piece::width, Piece::threads>(m_places.data() + rank, end);
  }

  KOKKOS_FORCEINLINE_FUNCTION void sum_pairs(const KernelArguments<V>& arguments, int rank, int end,
                                             OnlineSum<Exp, T>& sum) const {
    const auto pairs = pairs_of(rank, end);
    sum.raise_to(larger(sum.max(), pairs.largest(arguments)));
    const T scale = arguments.scale;
    const T reference = sum.reference();
    if constexpr (gives_halfs)
      if (FusedShortExp<T>::serves(reference))
        return sum.add_term(pairs.sum(FusedShortExp<T>(scale, reference)));
    const Exp exp(reference);
    sum.add_term(pairs.sum([&](T entry) { return exp(scale * entry); }));
  }

  template <class Pairs>
  KOKKOS_FORCEINLINE_FUNCTION static void store_pairs(const KernelArguments<V>& arguments,
                                                      typename V::Y* y, const Pairs& pairs,
                                                      const LogSumExpState<T>& all) {
    const T scale = arguments.scale;
    if constexpr (gives_halfs && Output::keeps_weights)
      if (FusedShortExp<T>::serves(all.max)) {
        FusedShortExp<T> exp(scale, all.max);
        exp.multiply(Output(all, arguments.empty_rows).factor);
        return pairs.store(y, exp);
      }
    const EntryEpilogue<Output, T> output(all, arguments.empty_rows);
    pairs.store(y, [&](T entry) { return output(scale * entry); });
  }

  /// This lane's chunks from place `first` on; `nothing` where there are no more.
  KOKKOS_FORCEINLINE_FUNCTION void fetch(int first, int left, const Place& nothing,
                                         Place (&places)[Part::items]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Part::items; ++i) {
      places[i] = nothing;
      if (i * Piece::threads < left) places[i] = m_places(first + i * Piece::threads);
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION Part entries_at(const KernelArguments<V>& arguments, int first,
                                              int left) const {
    Place places[Part::items];
    fetch(first, left, raw_chunk_of<typename V::X, Piece::width>(arguments.nothing), places);
    Part entries;
    entries.take_from_scratch(arguments, places);
    return entries;
  }

  KOKKOS_FORCEINLINE_FUNCTION Part weights_at(int first, int left) const {
    Place places[Part::items];
    fetch(first, left, Place{}, places);
    Part weights;
    weights.put(places);
    return weights;
  }

  KOKKOS_FORCEINLINE_FUNCTION void keep(const Part& weights, int first, int left) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Part::items; ++i)
      if (i * Piece::threads < left) m_places(first + i * Piece::threads) = weights.place(i);
  }

  Places m_places;
  Piece m_tile;
  T m_tile_reference;
  T m_staged_reference;
};

}  // namespace KokkosSoftmax::Impl

#endif
