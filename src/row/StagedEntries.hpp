// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_STAGEDENTRIES_HPP
#define KOKKOSSOFTMAX_SRC_ROW_STAGEDENTRIES_HPP

/// \file
/// Moves a range of entries between memory and scratch memory, where it doesn't matter which rows
/// the entries belong to: the lanes move whole chunks.

#include <row/Chunk.hpp>

namespace KokkosSoftmax::Impl {

/// Entries [begin, end) of all entries. Entry e has slot e - base in scratch memory.
struct StagedRange {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t base;

  /// The base is at most `width` - 1 entries before `begin`, at the beginning of a chunk of x.
  template <class X>
  KOKKOS_FORCEINLINE_FUNCTION static StagedRange of(const X* x, std::int64_t begin,
                                                    std::int64_t end) {
    constexpr auto width = static_cast<std::uint64_t>(widest<X>);
    const auto address = reinterpret_cast<std::uintptr_t>(x + begin) / sizeof(X);
    return {begin, end, begin - static_cast<std::int64_t>(address % width)};
  }

  KOKKOS_FORCEINLINE_FUNCTION int first_slot() const { return static_cast<int>(begin - base); }
  KOKKOS_FORCEINLINE_FUNCTION int end_slot() const { return static_cast<int>(end - base); }
};

/// The chunks of a range. The entries before the first whole chunk and after the last one are moved
/// one by one.
template <int width>
struct StagedChunks {
  int first;  // the first whole chunk
  int end;    // one past the last one
  int first_slot;
  int end_slot;

  KOKKOS_FORCEINLINE_FUNCTION explicit StagedChunks(const StagedRange& range)
      : first((range.first_slot() + width - 1) / width),
        end(range.end_slot() / width),
        first_slot(range.first_slot()),
        end_slot(range.end_slot()) {}

  /// The slot of an entry that is moved alone, of which each of the first lanes has one, or -1.
  KOKKOS_FORCEINLINE_FUNCTION int edge_slot(int thread_id) const {
    if (first > end) return thread_id < end_slot - first_slot ? first_slot + thread_id : -1;
    const int head = first_slot + thread_id;
    const int tail = end * width + thread_id - (width - 1);
    if (thread_id < width - 1) return head < first * width ? head : -1;
    return tail < end_slot ? tail : -1;
  }
};

/// Whether chunks of T begin at the address.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool begins_chunk(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % (sizeof(T) * widest<T>) == 0;
}

/// Whether a range can be moved in chunks that begin at the address.
template <int threads, class T>
KOKKOS_FORCEINLINE_FUNCTION bool moves_in_chunks(const T* base) {
  constexpr bool has_lane_per_edge = threads >= 2 * (widest<T> - 1);
  return has_lane_per_edge && begins_chunk(base);
}

/// Copies value(x[e]) of the range's entries to scratch memory, that of slot s to places.of(s).
/// Slots that begin at a multiple of a chunk's width lie side by side. `threads` lanes do this
/// together.
template <int threads, class Places, class X, class T, class Value>
KOKKOS_FORCEINLINE_FUNCTION void stage_in(const X* x, const StagedRange& range, T* scratch,
                                          const Places& places, int thread_id, const Value& value) {
  constexpr int width = widest<X>;
  constexpr int items = sizeof(X) == 2 ? 2 : 4;
  using Raw = RawChunk<X, width>;
  const X* const base = x + range.base;
  if (!moves_in_chunks<threads>(base)) {
    for (int s = range.first_slot() + thread_id; s < range.end_slot(); s += threads)
      scratch[places.of(s)] = value(static_cast<T>(base[s]));
    return;
  }
  const StagedChunks<width> chunks(range);
  const auto* const from = reinterpret_cast<const Raw*>(base);
  const int edge = chunks.edge_slot(thread_id);
  X of_edge{};
  if (edge >= 0) of_edge = base[edge];
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (int first = chunks.first + thread_id; first < chunks.end; first += items * threads) {
    Raw raw[items]{};
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i)
      if (first + i * threads < chunks.end) raw[i] = from[first + i * threads];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      if (first + i * threads >= chunks.end) continue;
      T entry[width];
      widen<X, width>(raw[i], entry);
      T* const to = scratch + places.of((first + i * threads) * width);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) to[k] = value(entry[k]);
    }
  }
  if (edge >= 0) scratch[places.of(edge)] = value(static_cast<T>(of_edge));
}

/// Copies the range's results from scratch memory to y.
template <int threads, class Places, class T, class Y>
KOKKOS_FORCEINLINE_FUNCTION void stage_out(const T* scratch, const StagedRange& range,
                                           const Places& places, Y* y, int thread_id) {
  constexpr int width = widest<Y>;
  Y* const base = y + range.base;
  if (!moves_in_chunks<threads>(base)) {
    for (int s = range.first_slot() + thread_id; s < range.end_slot(); s += threads)
      base[s] = static_cast<Y>(scratch[places.of(s)]);
    return;
  }
  const StagedChunks<width> chunks(range);
  auto* const to = reinterpret_cast<Chunk<Y, width>*>(base);
  for (int c = chunks.first + thread_id; c < chunks.end; c += threads) {
    const T* const from = scratch + places.of(c * width);
    Chunk<Y, width> out;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(from[k]);
    store_whole(to + c, out);
  }
  const int edge = chunks.edge_slot(thread_id);
  if (edge >= 0) base[edge] = static_cast<Y>(scratch[places.of(edge)]);
}

}  // namespace KokkosSoftmax::Impl

#endif
