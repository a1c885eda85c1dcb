// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_HOSTCOPY_HPP
#define KOKKOSSOFTMAXSWEEP_HOSTCOPY_HPP

/// \file
/// Three ways to copy memory on a host, one slice per thread. Which is the fastest depends on the
/// processor and on whether the memory is in a cache:
///
/// - memcpy is what the C library chooses for the length of a slice;
/// - plain stores fill caches, so that a processor reads each cache line before it is overwritten
///   (read for ownership): three bytes move instead of two;
/// - streaming stores write whole cache lines past the caches, without that read.
///
/// This header needs neither Kokkos nor a library, so that unit_tests can include it.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

// __x86_64__ implies SSE2. The compiler's flags, which are those of Kokkos' architecture, decide
// whether wider vectors are used.
#if defined(__x86_64__)
#define KOKKOSSOFTMAXSWEEP_HAS_STREAMING_STORES
#include <immintrin.h>
#endif

namespace KokkosSoftmaxSweep {

enum class HostCopy { memcpy, plain_stores, streaming_stores };

inline const char* to_string(HostCopy copy) {
  switch (copy) {
    case HostCopy::memcpy:
      return "memcpy";
    case HostCopy::plain_stores:
      return "plain stores";
    case HostCopy::streaming_stores:
      return "streaming stores";
  }
  return "";
}

/// The ways to copy that are compiled for this processor.
inline std::vector<HostCopy> host_copies() {
#ifdef KOKKOSSOFTMAXSWEEP_HAS_STREAMING_STORES
  return {HostCopy::memcpy, HostCopy::plain_stores, HostCopy::streaming_stores};
#else
  return {HostCopy::memcpy, HostCopy::plain_stores};
#endif
}

constexpr std::size_t cache_line = 64;

struct Slice {
  std::size_t begin, end;
};

/// Slice `number` of `count` slices of [0, size). Slices are whole cache lines, so that no two
/// threads write one line. Slices at the end may be empty.
inline Slice slice_of(std::size_t size, std::size_t number, std::size_t count) {
  const std::size_t lines = (size + cache_line - 1) / cache_line;
  const std::size_t lines_per_slice = (lines + count - 1) / count;
  const std::size_t begin = number * lines_per_slice * cache_line;
  return {std::min(size, begin), std::min(size, begin + lines_per_slice * cache_line)};
}

#ifdef KOKKOSSOFTMAXSWEEP_HAS_STREAMING_STORES

#if defined(__AVX512F__)
using Vector = __m512i;
inline Vector load(const std::byte* from) { return _mm512_loadu_si512(from); }
inline void store(std::byte* to, Vector v) { _mm512_storeu_si512(to, v); }
inline void stream(std::byte* to, Vector v) {
  _mm512_stream_si512(reinterpret_cast<Vector*>(to), v);
}
#elif defined(__AVX__)
using Vector = __m256i;
inline Vector load(const std::byte* from) {
  return _mm256_loadu_si256(reinterpret_cast<const Vector*>(from));
}
inline void store(std::byte* to, Vector v) {
  _mm256_storeu_si256(reinterpret_cast<Vector*>(to), v);
}
inline void stream(std::byte* to, Vector v) {
  _mm256_stream_si256(reinterpret_cast<Vector*>(to), v);
}
#else
using Vector = __m128i;
inline Vector load(const std::byte* from) {
  return _mm_loadu_si128(reinterpret_cast<const Vector*>(from));
}
inline void store(std::byte* to, Vector v) { _mm_storeu_si128(reinterpret_cast<Vector*>(to), v); }
inline void stream(std::byte* to, Vector v) { _mm_stream_si128(reinterpret_cast<Vector*>(to), v); }
#endif

/// The distance of a prefetch ahead of the loads: one page, which a core reads in some 100 ns.
constexpr std::size_t prefetch_distance = 4096;

/// Calls store_vector(to, vector) for each vector of whole cache lines.
template <bool prefetch, class Store>
void copy_lines(const std::byte* from, std::byte* to, std::size_t lines,
                const Store& store_vector) {
  constexpr std::size_t vectors = cache_line / sizeof(Vector);
  for (std::size_t line = 0; line < lines; ++line, from += cache_line, to += cache_line) {
    // An address beyond the end does no harm: a prefetch never faults.
    if constexpr (prefetch)
      _mm_prefetch(
          reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(from) + prefetch_distance),
          _MM_HINT_T0);
    Vector v[vectors];  // loads before stores: the compiler doesn't know that they don't overlap
    for (std::size_t i = 0; i < vectors; ++i) v[i] = load(from + i * sizeof(Vector));
    for (std::size_t i = 0; i < vectors; ++i) store_vector(to + i * sizeof(Vector), v[i]);
  }
}

/// copy_lines() from the first whole cache line of `to` to the last one, and memcpy before and
/// after them.
template <bool prefetch, class Store>
void copy_by_vectors(const std::byte* from, std::byte* to, std::size_t bytes,
                     const Store& store_vector) {
  const std::size_t misalignment = reinterpret_cast<std::uintptr_t>(to) % cache_line;
  const std::size_t head = std::min(bytes, (cache_line - misalignment) % cache_line);
  const std::size_t lines = (bytes - head) / cache_line;
  const std::size_t tail = head + lines * cache_line;
  std::memcpy(to, from, head);
  copy_lines<prefetch>(from + head, to + head, lines, store_vector);
  std::memcpy(to + tail, from + tail, bytes - tail);
}

inline void copy_plainly(const std::byte* from, std::byte* to, std::size_t bytes) {
  copy_by_vectors<false>(from, to, bytes, [](std::byte* p, Vector v) { store(p, v); });
}

inline void copy_streaming(const std::byte* from, std::byte* to, std::size_t bytes) {
  copy_by_vectors<true>(from, to, bytes, [](std::byte* p, Vector v) { stream(p, v); });
  _mm_sfence();  // streaming stores are weakly ordered: others must see them before the slice is
                 // done
}

#else

/// Copies words, which compilers combine into vectors.
inline void copy_plainly(const std::byte* from, std::byte* to, std::size_t bytes) {
  const std::size_t words = bytes / sizeof(std::uint64_t) * sizeof(std::uint64_t);
  for (std::size_t i = 0; i < words; i += sizeof(std::uint64_t)) {
    std::uint64_t word;
    std::memcpy(&word, from + i, sizeof(word));
    std::memcpy(to + i, &word, sizeof(word));
  }
  std::memcpy(to + words, from + words, bytes - words);
}

inline void copy_streaming(const std::byte* from, std::byte* to, std::size_t bytes) {
  copy_plainly(from, to, bytes);
}

#endif

/// Copies one slice in the calling thread. The memory must not overlap.
inline void copy_slice(HostCopy copy, const std::byte* from, std::byte* to, std::size_t bytes) {
  if (bytes == 0) return;
  switch (copy) {
    case HostCopy::memcpy:
      std::memcpy(to, from, bytes);
      return;
    case HostCopy::plain_stores:
      return copy_plainly(from, to, bytes);
    case HostCopy::streaming_stores:
      return copy_streaming(from, to, bytes);
  }
}

}  // namespace KokkosSoftmaxSweep

#endif
