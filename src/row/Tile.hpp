// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_TILE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_TILE_HPP

#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <row/EdgeEntry.hpp>
#include <row/TileSlots.hpp>

namespace KokkosSoftmax::Impl {

/// The entries of a tile, in the type of the computation. Slots without an entry hold -inf, which
/// adds nothing to a sum.
template <RowSource Source_, int items, int width, int threads, AccessMode access,
          Strides strides = Strides::one_or_any>
class Tile : public TileSlots<Source_, items, width, threads, access, strides> {
  using V = typename Source_::Types;
  using Slots = TileSlots<Source_, items, width, threads, access, strides>;
  using Columns = EntryColumns<typename Slots::Row, width, threads>;

 public:
  using Source = Source_;
  using Slots::edge_column;
  using Slots::size;
  using typename Slots::Raw;
  using typename Slots::Row;
  using typename Slots::T;
  using typename Slots::X;
  using typename Slots::Y;

  /// Loads the chunks from number `first` on. The tile with chunk 0 also loads the peeled entries.
  /// `see` is called with the chunks as they are in memory.
  template <class See>
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id, const See& see) {
    const Source source(arguments);
    Raw chunk[items];
    if constexpr (access == AccessMode::peeled_vectors) {
      // First, because nvcc may use the first chunk before it loads the last one otherwise.
      const std::int64_t edge_column = Slots::edge_column(row, first, thread_id);
      Slots::load_chunks(source, row, first, thread_id, chunk);
      const EdgeEntry<Source> edge(source, row, edge_column);
      see(chunk);
      take_chunks(source, columns(source, row, first, thread_id), chunk);
      m_edge = edge.value(source, row);
    } else {
      Slots::load_chunks(source, row, first, thread_id, chunk);
      see(chunk);
      take_chunks(source, columns(source, row, first, thread_id), chunk);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void load(const ArgumentsOf<Source>& arguments, const Row& row,
                                        std::int64_t first, int thread_id) {
    load(arguments, row, first, thread_id, [](const Raw(&)[items]) {});
  }

  /// The same for a source with staged inputs, see StagedInputs.
  template <class Staged>
  KOKKOS_FORCEINLINE_FUNCTION void load_staged(const ArgumentsOf<Source>& arguments, const Row& row,
                                               std::int64_t first, int thread_id,
                                               const Staged& staged) {
    Raw chunk[items];
    Slots::load_chunks(Source(arguments), row, first, thread_id, chunk);
    take_staged(arguments, row, first, thread_id, chunk, staged);
  }
  /// The same for chunks that have been loaded before.
  template <class Staged>
  KOKKOS_FORCEINLINE_FUNCTION void take_staged(const ArgumentsOf<Source>& arguments, const Row& row,
                                               std::int64_t first, int thread_id,
                                               const Raw (&chunk)[items], const Staged& staged) {
    const Source source(arguments);
    m_edge = staged.apply(source, row, columns(source, row, first, thread_id), thread_id,
                          Slots::edge_column(row, first, thread_id), chunk, m_value);
  }

  /// The same for chunks that have been loaded before, without peeled entries. column_of(j) is the
  /// column of the thread's entry j, see columns(). `from_scratch`: the chunks come from scratch
  /// memory.
  template <bool from_scratch = false, class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void take(const Source& source, const ColumnOf& column_of,
                                        const Raw (&chunk)[items]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) widen<X, width>(chunk[i], m_value + i * width);
    m_edge = -Kokkos::Experimental::infinity_v<T>;
    apply_source<from_scratch>(source, m_value, column_of);
  }

  /// The same for entries that have been widened before.
  template <class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void take(const Source& source, const ColumnOf& column_of,
                                        const T (&entry)[size]) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = entry[j];
    m_edge = -Kokkos::Experimental::infinity_v<T>;
    apply_source(source, m_value, column_of);
  }

  /// The columns of the thread's entries in the tile whose first chunk is number `first`.
  KOKKOS_FORCEINLINE_FUNCTION static auto columns([[maybe_unused]] const Source& source,
                                                  [[maybe_unused]] const Row& row,
                                                  [[maybe_unused]] std::int64_t first,
                                                  [[maybe_unused]] int thread_id) {
    if constexpr (Source::value_is_scaled_raw)
      return AnyColumn{};
    else
      return Columns(row, first + thread_id,
                     Slots::chunks_left(row.read_end(source), first, thread_id));
  }

  /// Fills the tile with -inf, for a row or a part of a row that this thread doesn't work on.
  KOKKOS_FORCEINLINE_FUNCTION void clear() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = -Kokkos::Experimental::infinity_v<T>;
    m_edge = -Kokkos::Experimental::infinity_v<T>;
  }

  /// chunk(i) returns what the tile holds in chunk i, to be stashed; set_chunks() puts the chunks
  /// back. The peeled entry is lost; `edge` stands in its place.
  using ValueChunk = Chunk<T, width>;
  KOKKOS_FORCEINLINE_FUNCTION ValueChunk chunk(int i) const {
    ValueChunk chunk;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) chunk.entry[k] = m_value[i * width + k];
    return chunk;
  }
  KOKKOS_FORCEINLINE_FUNCTION void set_chunks(const ValueChunk (&values)[items], T edge = T(0)) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = values[j / width].entry[j % width];
    m_edge = edge;
  }

  /// The largest of the entries and `start`. NaN is ignored here; it appears in the sum.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    if constexpr (access == AccessMode::peeled_vectors) start = larger(start, m_edge);
    // If nvcc knows that `start` is -inf, it uses seven instructions for the maximum of -inf and a
    // double, instead of three.
    make_opaque(start);
    T partial[accumulators] = {start, start, start, start};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      partial[j % accumulators] = larger(partial[j % accumulators], m_value[j]);
    return larger(larger(partial[0], partial[1]), larger(partial[2], partial[3]));
  }

  /// The sum of factor * entry over the entries that `load` with the same arguments has read.
  KOKKOS_FORCEINLINE_FUNCTION T total(const Row& row, std::int64_t first, int thread_id,
                                      T factor) const {
    const int left = Slots::chunks_left(row, first, thread_id);
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      if (Slots::holds(j / width, left)) partial[j % accumulators] += factor * m_value[j];
    if constexpr (access == AccessMode::peeled_vectors)
      if (Slots::edge_column(row, first, thread_id) >= 0) partial[0] += factor * m_edge;
    return sum_of_partials(partial);
  }

  /// The sum of exp(entry). With `keep`, the terms replace the entries.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) {
    if constexpr (keep && std::is_same_v<Exp, ExpAccurate<double>>) {
      if (exp.shift() != T(0)) subtract(exp.shift());
      return sum_by_terms<keep>([&](T v) { return exp.of_shifted(v); });
    } else {
      return sum_by(exp, [&](const auto& term) { return sum_by_terms<keep>(term); });
    }
  }

  /// Replaces the values by map(value).
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void transform(const Map& map) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] = map(m_value[j]);
    if constexpr (access == AccessMode::peeled_vectors) m_edge = map(m_edge);
  }

  /// Stores map(value) for the values that the tile holds, in the places from which `load` with the
  /// same arguments has read.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store(const Row& row, std::int64_t first, int thread_id,
                                         const Map& map) const {
    const int left = Slots::chunks_left(row, first, thread_id);
    Y* p = row.y_chunk(first + thread_id);
    if (access == AccessMode::full_tile || access == AccessMode::guarded_vectors ||
        (strides == Strides::one_or_any && row.wide_stores))
      store_chunks(left, p, map);
    else
      store_entries(left, p, row.y_stride, map);
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) row.y[column * row.y_stride] = static_cast<Y>(map(m_edge));
    }
  }

  /// Stores y in the places of the entries that the source masks. What the source keeps of the row
  /// is computed anew, so that it needn't stay in registers while the row is reduced.
  KOKKOS_FORCEINLINE_FUNCTION static void store_masked(const ArgumentsOf<Source>& arguments,
                                                       const Row& row, std::int64_t first,
                                                       int thread_id, Y y) {
    std::int64_t number = row.number;
    make_opaque(number);
    const Source source(arguments);
    const SourceRow<Source> source_row(arguments, number);
    const int left = Slots::chunks_left(row, first, thread_id);
    const auto store = [&](std::int64_t entry) {
      if (source.is_masked(source_row, row.numbers(entry))) row.y[entry * row.y_stride] = y;
    };
    const std::int64_t begin = row.head + (first + thread_id) * width;
    for (int j = 0; j < size; ++j)
      if (Slots::holds(j / width, left)) store(begin + Columns::offset(j));
    if constexpr (access == AccessMode::peeled_vectors) {
      const std::int64_t column = Slots::edge_column(row, first, thread_id);
      if (column >= 0) store(column);
    }
  }

 private:
  template <class ColumnOf>
  KOKKOS_FORCEINLINE_FUNCTION void take_chunks(const Source& source, const ColumnOf& column_of,
                                               const Raw (&chunk)[items]) {
    if constexpr (knows_rows<Source>) {
      source.apply(column_of, chunk, m_value);
      m_edge = -Kokkos::Experimental::infinity_v<T>;
    } else {
      take(source, column_of, chunk);
    }
  }

  template <bool keep, class Term>
  KOKKOS_FORCEINLINE_FUNCTION T sum_by_terms(const Term& term) {
    T partial[accumulators] = {};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j)
      add_term<keep>(partial[j % accumulators], term, m_value[j], m_value[j]);
    if constexpr (access == AccessMode::peeled_vectors) {
      // only the first few warps can have a peeled entry: the others skip the exponential
      if (m_edge != -Kokkos::Experimental::infinity_v<T>)
        add_term<keep>(partial[0], term, m_edge, m_edge);
      else if (keep)
        m_edge = T(0);
    }
    return sum_of_partials(partial);
  }

  KOKKOS_FORCEINLINE_FUNCTION void subtract(T shift) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < size; ++j) m_value[j] -= shift;
    m_edge -= shift;
  }

  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_chunks(int left, Y* p, const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (!Slots::holds(i, left)) continue;
      Chunk<Y, width> out;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(map(m_value[i * width + k]));
      store_whole(reinterpret_cast<Chunk<Y, width>*>(p) + i * threads, out);
    }
  }

  /// The same, entry by entry, for a y that is strided or not aligned in the same way as x.
  template <class Map>
  KOKKOS_FORCEINLINE_FUNCTION void store_entries(int left, Y* p, std::int64_t stride,
                                                 const Map& map) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i, p += threads * width * stride) {
      if constexpr (Slots::template is_opaque<Y>) make_opaque(p);
      Y out[width];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) out[k] = static_cast<Y>(map(m_value[i * width + k]));
      if (!Slots::holds(i, left)) continue;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) p[k * stride] = out[k];
    }
  }

 protected:
  T m_value[size];
  T m_edge;
};

}  // namespace KokkosSoftmax::Impl

#endif
