// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_PORTABLE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_PORTABLE_HPP

// Included by Intrinsics.hpp for hosts, and for devices that have no file of their own.

#include <atomic>
#include <thread>

namespace KokkosSoftmax::Impl::Intrinsics {

KOKKOS_FORCEINLINE_FUNCTION float fast_exp2(float x) { return Kokkos::exp2(x); }

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void make_opaque(T&) {}

KOKKOS_FORCEINLINE_FUNCTION void make_opaque_each_time(int&) {}

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t upper_word(double x) {
  return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x) >> 32);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t lower_word(double x) {
  return static_cast<std::uint32_t>(Kokkos::bit_cast<std::uint64_t>(x));
}
KOKKOS_FORCEINLINE_FUNCTION double of_words(std::uint32_t upper, std::uint32_t lower) {
  return Kokkos::bit_cast<double>(std::uint64_t(upper) << 32 | lower);
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T product(T a, T b) {
#if defined(__clang__)
#pragma clang fp contract(off)
#endif
  return a * b;
}

// Functions that this backend doesn't have are only declared. They are named in branches that are
// never taken.
inline constexpr bool has_half_pair_max = false;
template <class X>
std::uint32_t half_pair_max(std::uint32_t, std::uint32_t);

inline constexpr bool has_max_over_warp = false;
std::uint32_t max_over_warp(std::uint32_t);

inline constexpr bool has_whole_moves = false;
void store_global(void*, const Words<4>&);
template <int count>
Words<count> load_scratch(const void*);

}  // namespace KokkosSoftmax::Impl::Intrinsics

#if defined(__HIP_DEVICE_COMPILE__)
#include <impl/device/backend/KokkosSoftmax_Intrinsics_Hip.hpp>
#else
namespace KokkosSoftmax::Impl::Intrinsics {

template <class Chunk, class T, int width>
using Moved = Chunk;

inline constexpr bool has_shuffles = false;
int lane_number();
template <class T>
T shuffle_xor(T, int);
template <class T>
T shuffle_xor(std::uint32_t, T, int);
KOKKOS_FORCEINLINE_FUNCTION bool any_lane(bool condition) { return condition; }
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool condition) { return condition ? 1 : 0; }
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane(T value, int) {
  return value;
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane_before(T value, int) {
  return value;
}
KOKKOS_FORCEINLINE_FUNCTION void vector_barrier() {}
int vector_length();
int number_in_team();
int lanes_of_team();

// On hosts the accesses are ordered, which costs little there: when a thread reads a word,
// everything that the writer did before it is complete, so that entries of y can overwrite entries
// of x.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_relaxed(const Word* word) {
  KOKKOS_IF_ON_DEVICE((return *static_cast<const volatile Word*>(word);))
  KOKKOS_IF_ON_HOST(
      (return std::atomic_ref<Word>(*const_cast<Word*>(word)).load(std::memory_order_acquire);))
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_relaxed(Word* word, Word value) {
  KOKKOS_IF_ON_DEVICE((*static_cast<volatile Word*>(word) = value;))
  KOKKOS_IF_ON_HOST((std::atomic_ref<Word>(*word).store(value, std::memory_order_release);))
}

// A host thread yields its core to the threads that it waits for.
KOKKOS_FORCEINLINE_FUNCTION void before_next_poll() {
  KOKKOS_IF_ON_HOST((std::this_thread::yield();))
}

}  // namespace KokkosSoftmax::Impl::Intrinsics
#endif

#endif
