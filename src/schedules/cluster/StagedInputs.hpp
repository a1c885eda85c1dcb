// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_STAGEDINPUTS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_STAGEDINPUTS_HPP

#include <backend/DivideUp.hpp>
#include <row/EdgeEntry.hpp>
#include <row/GeneralSource.hpp>
#include <schedules/cluster/AsyncCopy.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A peeled entry and its bias in scratch memory.
template <class T>
struct EdgeSlot {
  T x;
  T bias;
};

/// The peeled entry of a thread in the scratch memory of its team, where it is copied together with
/// its bias. In registers, the compiler would spill it, and wait for it before it loads anything
/// else.
template <class Source>
class StagedEdge {
  using T = typename Source::Types::Compute;
  static_assert(std::is_same_v<typename Source::Types::X, T>, "a copy has at least four bytes");

 public:
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION StagedEdge(const Source& source, const Row& row, std::int64_t column,
                                         EdgeSlot<T>& slot)
      : m_slot(slot), m_mask(0) {
    if (column < 0 || column >= source.visible_columns(row.source_row)) return;
    copy_async<true>(&m_slot.x, row.x + column);
    if (source.has_bias()) copy_async<true>(&m_slot.bias, source.bias_of(row.source_row, column));
    m_mask = source.mask(row.source_row, column);
  }

  /// Call it after wait_for_copies().
  template <class Row>
  KOKKOS_FORCEINLINE_FUNCTION T value(const Source& source, const Row& row) const {
    if (m_mask == 0) return -Kokkos::Experimental::infinity_v<T>;
    typename Source::Entry entry{m_slot.x};
    if (source.has_bias()) entry.bias = m_slot.bias;
    return source.value(row.source_row, entry);
  }

 private:
  EdgeSlot<T>& m_slot;
  unsigned char m_mask;  // 0 also if there is no entry
};

/// The biases of a team's tile in its scratch memory. They are copied there asynchronously, so that
/// the copies take no registers, and overlap with one another and with the loads of x. Each lane
/// reads what it has copied itself, so that no barrier is needed. The peeled entries are staged in
/// the same way, except those of two bytes, which are too small for such copies.
template <class Source, class Tile>
class StagedInputs {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  static constexpr int width = Tile::width;
  static constexpr int threads = Tile::threads;
  static constexpr bool stages_edges =
      Tile::access == AccessMode::peeled_vectors && std::is_same_v<X, T>;

 public:
  /// `scratch` is the team's memory for them, from a multiple of 16 bytes on.
  KOKKOS_FORCEINLINE_FUNCTION explicit StagedInputs(char* scratch) : m_scratch(scratch) {}

  static std::size_t scratch_bytes(const ArgumentsOf<Source>& arguments) {
    const RowInputs& inputs = arguments.inputs;
    const std::size_t bias = inputs.bias.data == nullptr  ? 0
                             : Source::is_entries(inputs) ? bias_bytes<X>
                                                          : bias_bytes<T>;
    return edge_bytes + bias;
  }

  template <class... Place>
  KOKKOS_FORCEINLINE_FUNCTION void load(Tile& tile, const Place&... place) const {
    tile.load_staged(place..., *this);
  }

  /// The values of a tile, given its chunks of x. Returns that of the peeled entry, whose column is
  /// `edge_column`, or -1 if the thread has none.
  template <class Row, class Columns, class Raw, int items, int size>
  KOKKOS_FORCEINLINE_FUNCTION T apply(const Source& source, const Row& row, const Columns& columns,
                                      int thread_id, std::int64_t edge_column,
                                      const Raw (&chunk)[items], T (&value)[size]) const {
    if (source.has_bias()) copy_biases(source, columns, thread_id);
    if constexpr (stages_edges) {
      const StagedEdge<Source> edge(source, row, edge_column, edges()[thread_id]);
      source.apply(columns, chunk, value, biases(source, columns, thread_id));
      wait_for_copies();
      return edge.value(source, row);
    } else {
      const EdgeEntry<Source> edge(source, row, edge_column);
      source.apply(columns, chunk, value, biases(source, columns, thread_id));
      return edge.value(source, row);
    }
  }

 private:
  static constexpr std::size_t chunk_bytes = 16;  // of a copy
  template <class Bias>
  static constexpr std::size_t bias_bytes = Tile::chunks * sizeof(RawChunk<Bias, width>);
  static constexpr int edge_threads = aligned_entries<X, width>(threads) + width - 2;
  static constexpr std::size_t edge_bytes =
      stages_edges ? divide_up(edge_threads * sizeof(EdgeSlot<T>), chunk_bytes) * chunk_bytes : 0;

  /// Whether a copy can move a single bias.
  template <class Bias>
  static constexpr bool are_copied_alone = sizeof(Bias) >= 4;

  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void copy_biases(const Source& source, const Columns& columns,
                                               int thread_id) const {
    if (source.bias_is_entries())
      copy_biases_as<X>(source, columns, thread_id);
    else
      copy_biases_as<T>(source, columns, thread_id);
  }

  template <class Bias, class Columns>
  KOKKOS_FORCEINLINE_FUNCTION void copy_biases_as(const Source& source, const Columns& columns,
                                                  int thread_id) const {
    using Piece = Chunk<Bias, chunk_alignment<Bias>(width)>;  // of one copy
    constexpr int pieces = width / chunk_alignment<Bias>(width);
    RawChunk<Bias, width>* const to = slots<Bias>(thread_id);
    source.template biases<Bias>(columns).template visit<Tile::items>(
        [&](int j, const Bias* p) {
          KOKKOSSOFTMAX_IMPL_UNROLL
          for (int k = 0; k < pieces; ++k)
            copy_async<true>(reinterpret_cast<Piece*>(to + j * threads) + k,
                             reinterpret_cast<const Piece*>(p) + k);
        },
        [&](int j, int k, const Bias* p) {
          if constexpr (are_copied_alone<Bias>)
            copy_async<true>(reinterpret_cast<Bias*>(to + j * threads) + k, p);
        });
  }

  /// Loads biases from scratch memory, see GeneralSource::apply(), or from where they are if they
  /// can't be copied.
  template <class Columns>
  KOKKOS_FORCEINLINE_FUNCTION auto biases(const Source& source, const Columns& columns,
                                          int thread_id) const {
    return [&, left = columns.chunks_left(), thread_id]<class Bias, int count>(
               int i, RawChunk<Bias, width>* raw) {
      if constexpr (!are_copied_alone<Bias>) {
        const auto in_memory = source.template biases<Bias>(columns);
        if (!in_memory.are_aligned()) return in_memory.template load<count>(i, raw);
      }
      if (i == 0) wait_for_copies();
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = i; j < i + count; ++j) {
        raw[j - i] = {};
        if (Columns::holds(j, left)) raw[j - i] = slots<Bias>(thread_id)[j * threads];
      }
    };
  }

  template <class Bias>
  KOKKOS_FORCEINLINE_FUNCTION RawChunk<Bias, width>* slots(int thread_id) const {
    return reinterpret_cast<RawChunk<Bias, width>*>(m_scratch + edge_bytes) + thread_id;
  }
  KOKKOS_FORCEINLINE_FUNCTION auto edges() const {
    return reinterpret_cast<EdgeSlot<T>*>(m_scratch);
  }

  char* m_scratch;
};

/// The same for sources that load all that they read to registers.
template <class Source, class Tile>
class InputsInRegisters {
 public:
  KOKKOS_FORCEINLINE_FUNCTION explicit InputsInRegisters(char* /*scratch*/) {}

  static std::size_t scratch_bytes(const ArgumentsOf<Source>& /*arguments*/) { return 0; }

  template <class... Place>
  KOKKOS_FORCEINLINE_FUNCTION void load(Tile& tile, const Place&... place) const {
    tile.load(place...);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
