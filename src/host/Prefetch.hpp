// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PREFETCH_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PREFETCH_HPP

/// \file
/// Prefetches of cache lines.

#include <host/Processor.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Prefetches a cache line. Processors prefetch by themselves, except while their instructions
/// under way are all exponentials. An address behind an array does no harm.
KOKKOSSOFTMAX_HOST_FUNCTION void prefetch_at(const void* p, std::int64_t bytes = 0) {
  __builtin_prefetch(static_cast<const char*>(p) + bytes, 0, 3);
}

inline constexpr std::int64_t far_ahead = 16384;
/// The bytes ahead for rows of many pages. Processors that prefer their own prefetchers take up to
/// a third less time with 512 bytes if pages have 4 KB. Others take less time with 16 KB
/// (docs/trials.md).
KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t ahead_in_wide_rows() {
  return prefers_own_prefetchers() ? 512 : far_ahead;
}

/// Where lines go that are prefetched far ahead.
enum class PrefetchTo {
  second_level,
  first_level,  // alone: they are not in the second-level cache, also later
  both_levels   // the second one, and the first one shortly before they are read
};

/// Prefetches the cache line at p + bytes. With both_levels, p must be the address that is read
/// now.
template <PrefetchTo level>
KOKKOSSOFTMAX_HOST_FUNCTION void prefetch_far(const void* p, std::int64_t bytes = far_ahead) {
  constexpr int locality = level == PrefetchTo::first_level ? 0 : 2;
  __builtin_prefetch(static_cast<const char*>(p) + bytes, 0, locality);
  constexpr std::int64_t near_ahead = 2048;
  if constexpr (level == PrefetchTo::both_levels) prefetch_at(p, near_ahead);
}

/// Calls f.operator()<level>() with the level that takes less time on this processor.
///
/// That is the first level on AMD's Zen 5. With the second one, a call there can take up to twice
/// as long after other accesses to memory (docs/trials.md). Later processors of AMD are treated
/// like Zen 5.
template <class F>
KOKKOSSOFTMAX_HOST_FUNCTION decltype(auto) with_far_prefetches(const F& f) {
  if (is_amd() && !prefers_own_prefetchers())
    return f.template operator()<PrefetchTo::first_level>();
  return f.template operator()<PrefetchTo::second_level>();
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
