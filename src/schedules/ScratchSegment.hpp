// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SCRATCHSEGMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SCRATCHSEGMENT_HPP

#include <op/Epilogue.hpp>
#include <row/Tile.hpp>
#include <team/OnlineSum.hpp>

namespace KokkosSoftmax::Impl {

/// A share of a row that a team reads once and holds until the row's state is known: the first tile
/// in registers, the chunks behind it parked in the team's level-0 scratch. Each lane reads back
/// only what it has parked, so that no barrier is needed. Parked are the weights of softmax,
/// against the largest entry that their lane had seen by then, or what log_softmax needs; entries
/// of half types as they are in memory, where they take half of the room, and their weights anew
/// from them.
template <class Exec, class V, Operation operation, class Shape>
class HeldShare {
 public:
  using T = typename V::Compute;
  using Piece = TeamTile<V, Shape>;
  using Row = typename Piece::Row;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;

  /// For shares of up to `chunks` chunks.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION HeldShare(const Member& member, std::int64_t chunks)
      : m_parked(static_cast<int>(parked(chunks))),
        m_places(member.team_scratch(0), m_parked),
        m_references(member.team_scratch(0), references(m_parked)) {}

  /// Reads the chunks from number `begin` to the row's end; this lane's state.
  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> load(const KernelArguments<V>& arguments,
                                                     const Row& row, std::int64_t begin, int rank) {
    OnlineSum<Exp, T> sum;
    for (std::int64_t t = tiles(row, begin) - 1; t > 0; --t) {
      Piece piece;
      piece.load(arguments, row, begin + t * Piece::chunks, rank, [&](const auto& chunk) {
        if constexpr (parks_entries) park(t, rank, [&](int i) { return chunk[i]; });
      });
      sum.template add<parks_weights>(piece);
      if constexpr (!parks_entries) park(t, rank, [&](int i) { return piece.place(i); });
      if constexpr (parks_weights) m_references(reference_place(t, rank)) = sum.reference();
    }
    m_tile.load(arguments, row, begin, rank);
    sum.template add<Output::keeps_weights>(m_tile);
    m_reference = sum.reference();
    return sum.state();
  }

  /// Writes the output of the same chunks, given the row's state.
  KOKKOS_FORCEINLINE_FUNCTION void store(const KernelArguments<V>& arguments, const Row& row,
                                         std::int64_t begin, int rank,
                                         const LogSumExpState<T>& all) const {
    const EmptyRows empty_rows = arguments.empty_rows;
    m_tile.store(row, begin, rank, Output(all, m_reference, empty_rows));
    const std::int64_t end = tiles(row, begin);
    for (std::int64_t t = 1; t < end; ++t) {
      Place places[Piece::items];
      fetch(t, rank, places);
      Piece piece;
      const std::int64_t first = begin + t * Piece::chunks;
      if constexpr (parks_entries) {
        piece.take(arguments, places);
        piece.store(row, first, rank, EntryEpilogue<Output, T>(all, empty_rows));
      } else {
        piece.put(places);
        const T reference = parks_weights ? m_references(reference_place(t, rank)) : all.max;
        piece.store(row, first, rank, Output(all, reference, empty_rows));
      }
    }
  }

  static std::size_t scratch_bytes(std::int64_t chunks) {
    return Places::shmem_size(parked(chunks)) + References::shmem_size(references(parked(chunks)));
  }

  /// The most chunks that a share can have with so much scratch.
  static std::int64_t most_chunks(std::size_t scratch) {
    constexpr std::size_t of_references = parks_weights ? Piece::threads * sizeof(T) : 0;
    constexpr std::size_t of_tile = Piece::chunks * sizeof(Place) + of_references;
    const std::size_t for_alignment = scratch_bytes(0);
    const std::size_t bytes = scratch > for_alignment ? scratch - for_alignment : 0;
    const std::size_t left = bytes % of_tile;  // for a part of a tile
    const std::size_t places = left > of_references ? (left - of_references) / sizeof(Place) : 0;
    return (1 + static_cast<std::int64_t>(bytes / of_tile)) * Piece::chunks +
           static_cast<std::int64_t>(places);
  }

 private:
  static constexpr bool parks_entries = sizeof(typename V::X) < sizeof(T);
  static constexpr bool parks_weights = !parks_entries && Output::keeps_weights;
  using Place = std::conditional_t<parks_entries, typename Piece::Raw, typename Piece::Place>;
  template <class Value>
  using Scratch = Kokkos::View<Value*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Places = Scratch<Place>;
  using References = Scratch<T>;

  /// Chunks and references in scratch.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t parked(std::int64_t chunks) {
    if (Output::one_value_a_row) return 0;  // summed and forgotten
    return chunks > Piece::chunks ? chunks - Piece::chunks : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t references(std::int64_t parked) {
    return parks_weights ? (parked + Piece::chunks - 1) / Piece::chunks * Piece::threads : 0;
  }

  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t tiles(const Row& row, std::int64_t begin) {
    return (row.end - begin + Piece::chunks - 1) / Piece::chunks;
  }

  /// Where a lane's chunks of a tile are in scratch, one every Piece::threads; tile 0 isn't there.
  KOKKOS_FORCEINLINE_FUNCTION static int first_place(std::int64_t tile, int rank) {
    return static_cast<int>(tile - 1) * Piece::chunks + rank;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int reference_place(std::int64_t tile, int rank) {
    return static_cast<int>(tile - 1) * Piece::threads + rank;
  }

  template <class PlaceOfItem>
  KOKKOS_FORCEINLINE_FUNCTION void park(std::int64_t tile, int rank, const PlaceOfItem& of) const {
    if (Output::one_value_a_row) return;
    const int first = first_place(tile, rank);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Piece::items; ++i)
      if (first + i * Piece::threads < m_parked) m_places(first + i * Piece::threads) = of(i);
  }

  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t tile, int rank,
                                         Place (&places)[Piece::items]) const {
    const int first = first_place(tile, rank);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Piece::items; ++i) {
      places[i] = Place{};
      if (first + i * Piece::threads < m_parked) places[i] = m_places(first + i * Piece::threads);
    }
  }

  int m_parked;
  Places m_places;
  References m_references;
  Piece m_tile;
  T m_reference;
};

}  // namespace KokkosSoftmax::Impl

#endif
