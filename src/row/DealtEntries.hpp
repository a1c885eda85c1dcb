// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_DEALTENTRIES_HPP
#define KOKKOSSOFTMAX_SRC_ROW_DEALTENTRIES_HPP

/// \file
/// Moves a range of entries between memory and the registers of a vector's lanes, where it doesn't
/// matter which rows the entries belong to. Some neighbouring entries are a *piece*. The pieces are
/// dealt out to the lanes in turn, so that a load of the vector is of neighbouring chunks.

#include <row/Chunk.hpp>

namespace KokkosSoftmax::Impl {

/// A range of entries. Entry e has the slot e - base.
struct SlotRange {
  std::int64_t base;
  int first_slot;
  int end_slot;

  /// Of `count` entries from `begin` on. The base is at most `widest` - 1 entries before, at the
  /// beginning of a chunk of x.
  template <class X>
  KOKKOS_FORCEINLINE_FUNCTION SlotRange(const X* x, std::int64_t begin, int count) {
    constexpr auto width = static_cast<std::uint64_t>(widest<X>);
    const auto address = reinterpret_cast<std::uintptr_t>(x + begin) / sizeof(X);
    first_slot = static_cast<int>(address % width);
    base = begin - first_slot;
    end_slot = first_slot + count;
  }

  /// Moves the first entry to slot 0.
  KOKKOS_FORCEINLINE_FUNCTION void move_to_front() {
    base += first_slot;
    end_slot -= first_slot;
    first_slot = 0;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool contains(int slot) const {
    return slot >= first_slot && slot < end_slot;
  }
};

/// The slots of the lanes. Lane l has the pieces l, l + lanes, l + 2 lanes, ... of `piece` slots
/// each.
template <int lanes_, int piece_, int pieces_>
struct DealtSlots {
  static constexpr int lanes = lanes_;
  static constexpr int piece = piece_;
  static constexpr int pieces = pieces_;          ///< of a lane
  static constexpr int count = piece * pieces;    ///< slots of a lane
  static constexpr int capacity = lanes * count;  ///< slots of all lanes
  static constexpr int of_round = lanes * piece;  ///< slots of one piece of each lane

  /// The first slot of a lane's piece p.
  KOKKOS_FORCEINLINE_FUNCTION static int first(int lane, int p) {
    return p * of_round + lane * piece;
  }
  KOKKOS_FORCEINLINE_FUNCTION static int lane_of(int slot) { return slot / piece % lanes; }
  /// The number of a slot among those of its lane.
  KOKKOS_FORCEINLINE_FUNCTION static int number_of(int slot) {
    return slot / of_round * piece + slot % piece;
  }
};

/// Whether chunks of `width` entries of T begin at the address.
template <int width, class T>
KOKKOS_FORCEINLINE_FUNCTION bool begins_chunk(const T* p) {
  return reinterpret_cast<std::uintptr_t>(p) % (sizeof(T) * width) == 0;
}

/// The place of a lane's piece p in a range.
template <class Slots>
struct PlaceOfPiece {
  int slot;            // the first one
  bool is_all_inside;  // whether pieces p of all lanes are in the range
  bool is_whole;       // whether this one is
  bool has_some;       // slots of the range, if it isn't whole

  KOKKOS_FORCEINLINE_FUNCTION PlaceOfPiece(const SlotRange& range, int lane, int p, bool in_chunks)
      : slot(Slots::first(lane, p)) {
    const int begin = range.first_slot, end = range.end_slot;
    is_all_inside = in_chunks && begin <= p * Slots::of_round && (p + 1) * Slots::of_round <= end;
    is_whole = in_chunks && slot >= begin && slot + Slots::piece <= end;
    has_some = !is_whole && slot < end && slot + Slots::piece > begin;
  }
};

/// A lane's entries as they are in memory.
template <class Slots, class X>
class DealtEntries {
  static constexpr int piece = Slots::piece;
  static constexpr int width = piece < widest<X> ? piece : widest<X>;
  static constexpr int chunks = piece / width;  // of a piece
  using Raw = RawChunk<X, width>;

 public:
  /// Loads the entries of the range. The other slots have `padding`.
  KOKKOS_FORCEINLINE_FUNCTION DealtEntries(const X* x, const SlotRange& range, int lane,
                                           X padding) {
    const X* const base = x + range.base;
    const bool in_chunks = begins_chunk<width>(base);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int p = 0; p < Slots::pieces; ++p) {
      const PlaceOfPiece<Slots> place(range, lane, p, in_chunks);
      const auto* const from = reinterpret_cast<const Raw*>(base + place.slot);
      if (place.is_all_inside) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int i = 0; i < chunks; ++i) m_raw[p * chunks + i] = from[i];
        continue;
      }
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < chunks; ++i) {
        Raw& raw = m_raw[p * chunks + i];
        raw = raw_chunk_of<X, width>(padding);
        if (place.is_whole) raw = from[i];
      }
      if (place.has_some) load_some(base, range, place.slot, padding, p);
    }
  }

  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION void widen(T (&value)[Slots::count]) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < Slots::count / width; ++i)
      Impl::widen<X, width>(m_raw[i], value + i * width);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void load_some(const X* base, const SlotRange& range, int slot,
                                             X padding, int p) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < chunks; ++i) {
      Chunk<X, width> chunk;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k) {
        const int s = slot + i * width + k;
        chunk.entry[k] = padding;
        if (range.contains(s)) chunk.entry[k] = base[s];
      }
      m_raw[p * chunks + i] = Kokkos::bit_cast<Raw>(chunk);
    }
  }

  Raw m_raw[Slots::count / width];
};

/// Stores a lane's results in the slots of the range.
template <class Slots, class T, class Y>
KOKKOS_FORCEINLINE_FUNCTION void store_dealt(const T (&value)[Slots::count], const SlotRange& range,
                                             Y* y, int lane) {
  constexpr int width = Slots::piece < widest<Y> ? Slots::piece : widest<Y>;
  Y* const base = y + range.base;
  const bool in_chunks = begins_chunk<width>(base);
  KOKKOSSOFTMAX_IMPL_UNROLL
  for (int p = 0; p < Slots::pieces; ++p) {
    const PlaceOfPiece<Slots> place(range, lane, p, in_chunks);
    const T* const of_piece = value + p * Slots::piece;
    auto* const to = reinterpret_cast<Chunk<Y, width>*>(base + place.slot);
    const auto store_piece = [&] {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < Slots::piece / width; ++i) {
        Chunk<Y, width> out;
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < width; ++k) out.entry[k] = static_cast<Y>(of_piece[i * width + k]);
        store_whole(to + i, out);
      }
    };
    if (place.is_all_inside) {
      store_piece();
      continue;
    }
    if (place.is_whole) store_piece();
    if (place.has_some) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < Slots::piece; ++k) {
        const int s = place.slot + k;
        if (range.contains(s)) base[s] = static_cast<Y>(of_piece[k]);
      }
    }
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
