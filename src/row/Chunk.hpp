// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_CHUNK_HPP
#define KOKKOSSOFTMAX_SRC_ROW_CHUNK_HPP

/// \file
/// Chunks: neighbouring entries that a thread moves in one load or store.

#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The number of entries of T in a 16-byte load, the widest load of today's GPUs.
template <class T>
inline constexpr int widest = 16 / static_cast<int>(sizeof(T));

/// The alignment of a chunk of `width` entries of T, in entries.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION constexpr int chunk_alignment(int width) {
  return width < widest<T> ? width : widest<T>;
}

/// `width` entries that are moved in one load or store, or in as few as possible if they are more
/// than 16 bytes.
template <class T, int width>
struct alignas(sizeof(T) * chunk_alignment<T>(width)) Chunk {
  T entry[width];
};

/// *to = chunk in the global memory of a device, in one store. nvcc splits the assignment into
/// several stores in places, by no rule that could be found, most often for entries of two bytes.
template <class T, int width>
KOKKOS_FORCEINLINE_FUNCTION void store_whole(Chunk<T, width>* to, const Chunk<T, width>& chunk) {
  if constexpr (Intrinsics::has_whole_moves && sizeof(chunk) == sizeof(Intrinsics::Words<4>))
    Intrinsics::store_global(to, Kokkos::bit_cast<Intrinsics::Words<4>>(chunk));
  else
    *to = chunk;
}

/// *from in the scratch memory of a device, in one load, for the same reason.
template <int width>
KOKKOS_FORCEINLINE_FUNCTION Chunk<std::uint32_t, width> load_whole(
    const Chunk<std::uint32_t, width>* from) {
  static_assert(width == 2 || width == 4);
  if constexpr (Intrinsics::has_whole_moves)
    return Kokkos::bit_cast<Chunk<std::uint32_t, width>>(Intrinsics::load_scratch<width>(from));
  else
    return *from;
}

/// A chunk as it is loaded from memory, before the computation. Entries of two bytes are kept in
/// pairs, so that registers are selected, stashed and fetched as a whole.
template <class X, int width>
inline constexpr bool moves_in_pairs = sizeof(X) == 2 && width % 2 == 0;
template <class X, int width>
using RawChunk =
    std::conditional_t<moves_in_pairs<X, width>, Chunk<std::uint32_t, width / 2>, Chunk<X, width>>;

/// A chunk whose entries are all `entry`.
template <class X, int width>
KOKKOS_FORCEINLINE_FUNCTION RawChunk<X, width> raw_chunk_of(X entry) {
  RawChunk<X, width> raw;
  if constexpr (moves_in_pairs<X, width>) {
    const std::uint32_t half = Kokkos::bit_cast<std::uint16_t>(entry);
    for (int p = 0; p < width / 2; ++p) raw.entry[p] = half << 16 | half;
  } else {
    for (int k = 0; k < width; ++k) raw.entry[k] = entry;
  }
  return raw;
}

/// Converts the entries of a chunk to the type of the computation.
template <class X, int width, class T>
KOKKOS_FORCEINLINE_FUNCTION void widen(const RawChunk<X, width>& raw, T* value) {
  if constexpr (moves_in_pairs<X, width>) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int p = 0; p < width / 2; ++p) {
      const std::uint32_t pair = raw.entry[p];
      if constexpr (std::is_same_v<X, Kokkos::Experimental::bhalf_t>) {  // a float's upper half
        value[2 * p] = Kokkos::bit_cast<float>(pair << 16);
        value[2 * p + 1] = Kokkos::bit_cast<float>(pair & 0xffff0000u);
      } else {
        value[2 * p] = static_cast<T>(Kokkos::bit_cast<X>(static_cast<std::uint16_t>(pair)));
        value[2 * p + 1] =
            static_cast<T>(Kokkos::bit_cast<X>(static_cast<std::uint16_t>(pair >> 16)));
      }
    }
  } else {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) value[k] = static_cast<T>(raw.entry[k]);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
