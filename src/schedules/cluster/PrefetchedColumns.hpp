// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_PREFETCHEDCOLUMNS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_PREFETCHEDCOLUMNS_HPP

#include <schedules/cluster/AsyncCopy.hpp>
#include <schedules/cluster/ColumnImage.hpp>

namespace KokkosSoftmax::Impl {

/// What a team reads that works on many rows of a SharedInputsSource: its ColumnImage, and its tile
/// of x, which is copied to scratch memory while the team works on the row before. Each lane reads
/// what it has copied itself, so that no barrier is needed.
template <class Source, class Tile>
class PrefetchedColumns {
  using X = typename Source::Types::X;
  using T = typename Source::Types::Compute;
  using Image = ColumnImage<Source, Tile>;
  using Row = typename Tile::Row;
  using Raw = typename Tile::Raw;
  static constexpr int threads = Tile::threads;
  static constexpr int items = Tile::items;

 public:
  /// `scratch` is the team's memory for it, from a multiple of 16 bytes on.
  KOKKOS_FORCEINLINE_FUNCTION explicit PrefetchedColumns(char* scratch)
      : m_slots(reinterpret_cast<Raw*>(scratch)), m_image(scratch + slot_bytes), m_edge() {}

  static constexpr std::size_t scratch_bytes() { return slot_bytes + Image::scratch_bytes(); }

  KOKKOS_FORCEINLINE_FUNCTION const Image& image() const { return m_image; }

  /// Starts to copy the chunks from number `begin` on. Call it when the tile of the row before has
  /// been loaded.
  KOKKOS_FORCEINLINE_FUNCTION void prefetch(const ArgumentsOf<Source>& arguments, const Row& row,
                                            std::int64_t begin, int thread_id) {
    const Source source(arguments);
    const auto columns = Tile::columns(source, row, begin, thread_id);
    const int left = columns.chunks_left();
    const Raw* const p = reinterpret_cast<const Raw*>(row.x_chunk(begin + thread_id));
    Raw* const slots = m_slots + thread_id;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (columns.holds(i, left))
        copy_async<false>(slots + i * threads, p + i * threads);
      else
        slots[i * threads] = raw_chunk_of<X, Tile::width>(source.padding());
    }
    const std::int64_t edge_column = Tile::edge_column(row, begin, thread_id);
    if (edge_column >= 0) m_edge = row.x[edge_column];
  }

  KOKKOS_FORCEINLINE_FUNCTION void load(Tile& tile, const ArgumentsOf<Source>& arguments,
                                        const Row& row, std::int64_t first, int thread_id) const {
    Raw chunk[items];
    wait_for_copies();
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) chunk[i] = m_slots[thread_id + i * threads];
    tile.take_staged(arguments, row, first, thread_id, chunk, *this);
  }

  /// See Tile::take_staged().
  template <class Columns, int size>
  KOKKOS_FORCEINLINE_FUNCTION T apply(const Source& source, const Row& row,
                                      const Columns& /*columns*/, int thread_id,
                                      std::int64_t edge_column, const Raw (&chunk)[items],
                                      T (&value)[size]) const {
    return m_image.apply(source, row, thread_id, edge_column, m_edge, chunk, value);
  }

 private:
  static constexpr std::size_t slot_bytes = Tile::chunks * sizeof(Raw);
  static_assert(slot_bytes % 16 == 0);

  Raw* m_slots;
  Image m_image;
  X m_edge;
};

}  // namespace KokkosSoftmax::Impl

#endif
