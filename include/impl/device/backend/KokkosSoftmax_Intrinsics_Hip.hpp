// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_HIP_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_HIP_HPP

// Included by Intrinsics_Portable.hpp for device code. Defines the functions for the lanes of a
// vector and for the words that teams exchange.

namespace KokkosSoftmax::Impl::Intrinsics {

// clang moves a structure of 16 bytes by memcpy, and keeps an array of such structures in memory.
template <class Chunk, class T, int width>
using Moved = T __attribute__((ext_vector_type(width)));

inline constexpr bool has_shuffles = true;

KOKKOS_FORCEINLINE_FUNCTION int lane_number() { return static_cast<int>(threadIdx.x); }

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shuffle_xor(T value, int distance) {
  return __shfl_xor(value, distance);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shuffle_xor(std::uint32_t /*lanes*/, T value, int distance) {
  return __shfl_xor(value, distance);
}

KOKKOS_FORCEINLINE_FUNCTION bool any_lane(bool condition) { return __any(condition) != 0; }

// A vector is a part of a wavefront, whose first lane has a number that is a multiple of its
// length.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane(T value, int lane) {
  return __shfl(value, lane, static_cast<int>(blockDim.x));
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane_before(T value, int distance) {
  return __shfl_up(value, distance, static_cast<int>(blockDim.x));
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool condition) {
  const unsigned first = __lane_id() / blockDim.x * blockDim.x;
  return static_cast<std::uint32_t>(__ballot(condition) >> first);
}
KOKKOS_FORCEINLINE_FUNCTION void vector_barrier() {
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
}

KOKKOS_FORCEINLINE_FUNCTION int vector_length() { return static_cast<int>(blockDim.x); }
KOKKOS_FORCEINLINE_FUNCTION int number_in_team() {
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}
KOKKOS_FORCEINLINE_FUNCTION int lanes_of_team() {
  return static_cast<int>(blockDim.y * blockDim.x);
}

// Atomic accesses of device scope ("agent") bypass the cache of the compute unit, which other
// compute units don't update. `volatile` does so too, with the larger scope of the whole system and
// a wait after each access.
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_relaxed(const Word* word) {
  return __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_relaxed(Word* word, Word value) {
  __hip_atomic_store(word, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
}

// A team also polls the record that it has published itself. The thread that publishes can share a
// wavefront with a thread that polls, and the threads of a wavefront run in lockstep. The barrier
// is no instruction. It forbids the compiler to make a loop of polls part of a branch that runs
// before the branch with the publication.
KOKKOS_FORCEINLINE_FUNCTION void before_next_poll() { __builtin_amdgcn_wave_barrier(); }

}  // namespace KokkosSoftmax::Impl::Intrinsics

#endif
