// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SCRATCHSEGMENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SCRATCHSEGMENT_HPP

#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <row/TileOf.hpp>

namespace KokkosSoftmax::Impl {

/// A segment of a row, which a team reads once and holds until the state of the row is known. The
/// first tile stays in registers, and the chunks after it are stashed in the team's level-0 scratch
/// memory. Each lane reads back only what it has stashed itself, so that no barrier is needed.
///
/// What the output needs is stashed: exponentials for softmax, values for log_softmax. The
/// reference of the exponentials is near the largest entry that the lane had seen when it summed
/// the tile. Entries
/// of half types are stashed as they are in memory, where they take half of the space, and their
/// exponentials are computed from them a second time.
template <class Exec, class Op, class Source, class Shape>
class ScratchSegment {
 public:
  using V = typename Source::Types;
  using T = typename V::Compute;
  using State = typename Op::State;
  using RowTile = TeamTile<Source, Shape>;
  using Row = typename RowTile::Row;

  /// For segments of up to `chunks` chunks.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION ScratchSegment(const Member& member, std::int64_t chunks)
      : m_stashed(static_cast<int>(stashed(chunks))),
        m_slots(member.team_scratch(0), m_stashed),
        m_references(member.team_scratch(0), references(m_stashed)) {}

  /// Reads the chunks from number `begin` to the end of the row. Returns this lane's state.
  KOKKOS_FORCEINLINE_FUNCTION State load(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id) {
    return with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      return load_for<Output>(arguments, row, begin, thread_id);
    });
  }

  /// Writes the output of the same chunks. `all` is the state of the row.
  KOKKOS_FORCEINLINE_FUNCTION void store(const ArgumentsOf<Source>& arguments, const Row& row,
                                         std::int64_t begin, int thread_id, const State& all) {
    store_output<Op>(m_tile, arguments, row, begin, thread_id, all,
                     rescale_factor(m_reference, reference_of_state(all)));
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      store_stashed<Output>(arguments, row, begin, thread_id, all);
    });
  }

  static std::size_t scratch_bytes(std::int64_t chunks) {
    return Slots::shmem_size(stashed(chunks)) + References::shmem_size(references(stashed(chunks)));
  }

  /// The largest number of chunks of a segment, if the team has `scratch` bytes of scratch memory.
  static std::int64_t most_chunks(std::size_t scratch) {
    constexpr std::size_t of_references = has_references ? RowTile::threads * sizeof(T) : 0;
    constexpr std::size_t of_tile = RowTile::chunks * sizeof(Slot) + of_references;
    const std::size_t for_alignment = scratch_bytes(0);
    const std::size_t bytes = scratch > for_alignment ? scratch - for_alignment : 0;
    const std::size_t left = bytes % of_tile;  // for an incomplete tile
    const std::size_t slots = left > of_references ? (left - of_references) / sizeof(Slot) : 0;
    return (1 + static_cast<std::int64_t>(bytes / of_tile)) * RowTile::chunks +
           static_cast<std::int64_t>(slots);
  }

 private:
  static constexpr bool stashes_entries =
      sizeof(typename V::X) < sizeof(T) && Source::value_is_scaled_raw;
  template <class Output>
  static constexpr bool stashes_exponentials = !stashes_entries && Output::keeps_exponentials;
  /// Whether the scratch memory has references; it does if some output of the operation needs them.
  static constexpr bool has_references = !stashes_entries && Op::Outputs::keep_exponentials;
  using Slot =
      std::conditional_t<stashes_entries, typename RowTile::Raw, typename RowTile::ValueChunk>;
  template <class Value>
  using Scratch = Kokkos::View<Value*, typename Exec::scratch_memory_space,
                               Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  using Slots = Scratch<Slot>;
  using References = Scratch<T>;

  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION State load_for(const ArgumentsOf<Source>& arguments, const Row& row,
                                             std::int64_t begin, int thread_id) {
    OnlineSum<typename Output::Exp, State> sum;
    for (std::int64_t t = tiles(row, begin) - 1; t > 0; --t) {
      RowTile tile;
      tile.load(arguments, row, begin + t * RowTile::chunks, thread_id, [&](const auto& chunk) {
        if constexpr (stashes_entries) stash(t, thread_id, [&](int i) { return chunk[i]; });
      });
      sum.template add<stashes_exponentials<Output>>(tile);
      if constexpr (!stashes_entries) stash(t, thread_id, [&](int i) { return tile.chunk(i); });
      if constexpr (stashes_exponentials<Output>)
        m_references(reference_slot(t, thread_id)) = sum.reference();
    }
    m_tile.load(arguments, row, begin, thread_id);
    sum.template add<Output::keeps_exponentials>(m_tile);
    m_reference = sum.reference();
    return sum.state();
  }

  template <class Output>
  KOKKOS_FORCEINLINE_FUNCTION void store_stashed(const ArgumentsOf<Source>& arguments,
                                                 const Row& row, std::int64_t begin, int thread_id,
                                                 const State& all) const {
    const EmptyRows empty_rows = arguments.empty_rows;
    [[maybe_unused]] const Output output(all, empty_rows);
    [[maybe_unused]] const Source source(arguments);
    const std::int64_t end = tiles(row, begin);
    for (std::int64_t t = 1; t < end; ++t) {
      Slot slots[RowTile::items];
      fetch(t, thread_id, slots);
      RowTile tile;
      const std::int64_t first = begin + t * RowTile::chunks;
      if constexpr (stashes_entries) {
        tile.take(source, RowTile::columns(source, row, first, thread_id), slots);
        tile.store(row, first, thread_id, EntryOutput<Op, Output>(all, empty_rows));
      } else {
        tile.set_chunks(slots);
        if constexpr (stashes_exponentials<Output>) {
          const T reference = m_references(reference_slot(t, thread_id));
          tile.store(row, first, thread_id,
                     output.rescaled(rescale_factor(reference, reference_of_state(all))));
        } else {
          tile.store(row, first, thread_id, output);
        }
      }
      finish_masked<Op, RowTile>(arguments, row, first, thread_id, all);
    }
  }

  /// The numbers of chunks and of references in scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t stashed(std::int64_t chunks) {
    if (!Op::writes_entries) return 0;  // the entries are not needed after the sum
    return chunks > RowTile::chunks ? chunks - RowTile::chunks : 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t references(std::int64_t stashed) {
    return has_references ? (stashed + RowTile::chunks - 1) / RowTile::chunks * RowTile::threads
                          : 0;
  }

  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t tiles(const Row& row, std::int64_t begin) {
    return (row.end - begin + RowTile::chunks - 1) / RowTile::chunks;
  }

  /// The place in scratch memory of a lane's first chunk of a tile. The lane's other chunks follow
  /// at a distance of RowTile::threads. Tile 0 is not stashed.
  KOKKOS_FORCEINLINE_FUNCTION static int first_slot(std::int64_t tile, int thread_id) {
    return static_cast<int>(tile - 1) * RowTile::chunks + thread_id;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int reference_slot(std::int64_t tile, int thread_id) {
    return static_cast<int>(tile - 1) * RowTile::threads + thread_id;
  }

  template <class SlotOfItem>
  KOKKOS_FORCEINLINE_FUNCTION void stash(std::int64_t tile, int thread_id,
                                         const SlotOfItem& of) const {
    if (!Op::writes_entries) return;
    const int first = first_slot(tile, thread_id);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < RowTile::items; ++i)
      if (first + i * RowTile::threads < m_stashed) m_slots(first + i * RowTile::threads) = of(i);
  }

  KOKKOS_FORCEINLINE_FUNCTION void fetch(std::int64_t tile, int thread_id,
                                         Slot (&slots)[RowTile::items]) const {
    const int first = first_slot(tile, thread_id);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < RowTile::items; ++i) {
      slots[i] = Slot{};
      if (first + i * RowTile::threads < m_stashed)
        slots[i] = m_slots(first + i * RowTile::threads);
    }
  }

  int m_stashed;
  Slots m_slots;
  References m_references;
  RowTile m_tile;
  T m_reference;
};

}  // namespace KokkosSoftmax::Impl

#endif
