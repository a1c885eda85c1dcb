// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_INPUTCHUNKS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_INPUTCHUNKS_HPP

/// \file
/// How arrays that are read besides x are loaded for a tile: biases, masks and weights.

#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <row/Chunk.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Bytes as they are loaded, in one word.
template <int width>
struct ByteChunk {
  using Word = std::conditional_t<(width > 4), std::uint64_t,
                                  std::conditional_t<(width > 1), std::uint32_t, unsigned char>>;
  Word word;

  KOKKOS_FORCEINLINE_FUNCTION bool is_zero(int k) const {
    return (word & (Word(0xff) << (8 * k))) == 0;
  }
};

/// An array that is read besides x, at the places of a thread's chunks of a tile.
template <class Input, class Columns>
class InputChunks {
  static constexpr int width = Columns::width;

 public:
  /// `row` is the address of column 0, `stride` the distance of columns.
  KOKKOS_FORCEINLINE_FUNCTION InputChunks(const Columns& columns, const Input* row,
                                          std::int64_t stride)
      : m_first(row + columns(0) * stride),
        m_distance(columns.step() * stride),
        m_left(columns.chunks_left()),
        m_are_aligned(width > 1 && stride == 1 && is_aligned(m_first)) {}

  /// Whether chunks can be moved at one time.
  KOKKOS_FORCEINLINE_FUNCTION bool are_aligned() const { return m_are_aligned; }

  /// Calls whole(j, p) for each of `count` chunks that is read, where p points to it, if
  /// are_aligned(); otherwise single(j, k, p) for each of its entries.
  template <int count, class Whole, class Single>
  KOKKOS_FORCEINLINE_FUNCTION void visit(const Whole& whole, const Single& single) const {
    const Input* p = m_first;
    if (m_are_aligned) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j)
        if (Columns::holds(j, m_left)) whole(j, p + Columns::offset(j * width));
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j, p += Columns::offset(width) * m_distance) {
        if (!Columns::holds(j, m_left)) continue;
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int k = 0; k < width; ++k) single(j, k, p + k * m_distance);
      }
    }
  }

  /// Loads chunks i to i + count - 1. Chunks that needn't be read, because no chunk of x is read
  /// there, become 0.
  template <int count, class Raw>
  KOKKOS_FORCEINLINE_FUNCTION void load(int i, Raw* chunk) const {
    if (m_are_aligned) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = i; j < i + count; ++j) {
        chunk[j - i] = Raw{};
        if (Columns::holds(j, m_left))
          load_chunk(m_first + Columns::offset(j * width), chunk[j - i]);
      }
    } else if (width == 1 && Columns::holds(i + count - 1, m_left)) {
      load_entries<false, count>(i, chunk);  // guards per entry would cost as much as the loads
    } else {
      load_entries<true, count>(i, chunk);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static bool is_aligned(const Input* p) {
    constexpr int entries = chunk_alignment<Input>(width);
    return reinterpret_cast<std::uintptr_t>(p) / sizeof(Input) % entries == 0;
  }

  /// load() entry by entry. `guarded`: some of the chunks may have to be skipped.
  template <bool guarded, int count, class Raw>
  KOKKOS_FORCEINLINE_FUNCTION void load_entries(int i, Raw* chunk) const {
    const Input* p = m_first + Columns::offset(i * width) * m_distance;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = i; j < i + count; ++j, p += Columns::offset(width) * m_distance) {
      chunk[j - i] = Raw{};
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < width; ++k)
        if (!guarded || Columns::holds(j, m_left)) set(chunk[j - i], k, p[k * m_distance]);
    }
  }

  template <class Raw>
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunk(const Input* p, Raw& chunk) {
    chunk = *reinterpret_cast<const Raw*>(p);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void load_chunk(const unsigned char* p,
                                                     ByteChunk<width>& chunk) {
    using Bytes = std::conditional_t<width == 2, std::uint16_t, typename ByteChunk<width>::Word>;
    chunk.word = *reinterpret_cast<const Bytes*>(p);
  }

  template <class Entry, int size>
  KOKKOS_FORCEINLINE_FUNCTION static void set(Chunk<Entry, size>& chunk, int k, Input input) {
    if constexpr (std::is_same_v<Entry, Input>)
      chunk.entry[k] = input;
    else  // two entries in a word
      chunk.entry[k / 2] |= Entry(Kokkos::bit_cast<std::uint16_t>(input)) << (k % 2 * 16);
  }
  KOKKOS_FORCEINLINE_FUNCTION static void set(ByteChunk<width>& chunk, int k, unsigned char byte) {
    chunk.word |= typename ByteChunk<width>::Word(byte) << (8 * k);
  }

  const Input* m_first;
  std::int64_t m_distance;
  int m_left;
  bool m_are_aligned;
};

}  // namespace KokkosSoftmax::Impl

#endif
