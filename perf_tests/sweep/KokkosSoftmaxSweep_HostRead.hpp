// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_HOSTREAD_HPP
#define KOKKOSSOFTMAXSWEEP_HOSTREAD_HPP

/// \file
/// Ways to read memory on a host. A read of x is the limit of log-sum-exp, which writes little.
/// Which way is the fastest depends on the processor and on whether the memory is in a cache:
///
/// - loads rely on the prefetchers of the processor;
/// - prefetched loads ask for each cache line one page ahead;
/// - four streams read four parts of a slice at the same time, also with prefetches.
///
/// The result of a read is the exclusive or of all words of eight bytes, so that no load can be
/// left out and a read can be checked. This header needs neither Kokkos nor a library.

#include <KokkosSoftmaxSweep_HostCopy.hpp>
#include <array>

namespace KokkosSoftmaxSweep {

enum class HostRead { loads, prefetched_loads, four_streams };

inline const char* to_string(HostRead read) {
  switch (read) {
    case HostRead::loads:
      return "loads";
    case HostRead::prefetched_loads:
      return "prefetched loads";
    case HostRead::four_streams:
      return "four streams";
  }
  return "";
}

/// The ways to read that are compiled for this processor.
inline std::vector<HostRead> host_reads() {
#ifdef KOKKOSSOFTMAXSWEEP_HAS_STREAMING_STORES  // vectors and prefetches
  return {HostRead::loads, HostRead::prefetched_loads, HostRead::four_streams};
#else
  return {HostRead::loads};
#endif
}

/// The exclusive or of the words. A last word that is incomplete is filled with zeros.
inline std::uint64_t read_words(const std::byte* from, std::size_t bytes) {
  std::uint64_t result = 0;
  for (std::size_t i = 0; i < bytes; i += sizeof(result)) {
    std::uint64_t word = 0;
    std::memcpy(&word, from + i, std::min(sizeof(word), bytes - i));
    result ^= word;
  }
  return result;
}

#ifdef KOKKOSSOFTMAXSWEEP_HAS_STREAMING_STORES

#if defined(__AVX512F__)
inline Vector exclusive_or(Vector a, Vector b) { return _mm512_xor_si512(a, b); }
#elif defined(__AVX__)
inline Vector exclusive_or(Vector a, Vector b) {  // for integers it needs AVX2
  return _mm256_castps_si256(_mm256_xor_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b)));
}
#else
inline Vector exclusive_or(Vector a, Vector b) { return _mm_xor_si128(a, b); }
#endif

/// Reads `streams` neighbouring parts at the same time. Each part has `lines` cache lines.
template <int streams, bool prefetch>
std::uint64_t read_lines(const std::byte* from, std::size_t lines) {
  constexpr std::size_t vectors = cache_line / sizeof(Vector);
  constexpr std::size_t chains = vectors * streams;  // independent, so that loads don't wait
  const std::size_t part = lines * cache_line;
  Vector results[chains] = {};
  for (std::size_t offset = 0; offset < part; offset += cache_line)
    for (std::size_t s = 0; s < streams; ++s) {
      const std::byte* const line = from + s * part + offset;
      // An address beyond the end does no harm: a prefetch never faults.
      if constexpr (prefetch)
        _mm_prefetch(reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(line) +
                                                   prefetch_distance),
                     _MM_HINT_T0);
      for (std::size_t i = 0; i < vectors; ++i) {
        Vector& result = results[s * vectors + i];
        result = exclusive_or(result, load(line + i * sizeof(Vector)));
      }
    }
  std::array<std::byte, sizeof(results)> bytes;
  std::memcpy(bytes.data(), results, sizeof(results));
  return read_words(bytes.data(), bytes.size());
}

template <int streams, bool prefetch>
std::uint64_t read_by_vectors(const std::byte* from, std::size_t bytes) {
  const std::size_t lines = bytes / cache_line / streams;
  const std::size_t done = lines * streams * cache_line;
  return read_lines<streams, prefetch>(from, lines) ^ read_words(from + done, bytes - done);
}

/// Reads one slice in the calling thread.
inline std::uint64_t read_slice(HostRead read, const std::byte* from, std::size_t bytes) {
  switch (read) {
    case HostRead::loads:
      return read_by_vectors<1, false>(from, bytes);
    case HostRead::prefetched_loads:
      return read_by_vectors<1, true>(from, bytes);
    case HostRead::four_streams:
      return read_by_vectors<4, true>(from, bytes);
  }
  return 0;
}

#else

inline std::uint64_t read_slice(HostRead, const std::byte* from, std::size_t bytes) {
  return read_words(from, bytes);
}

#endif

}  // namespace KokkosSoftmaxSweep

#endif
