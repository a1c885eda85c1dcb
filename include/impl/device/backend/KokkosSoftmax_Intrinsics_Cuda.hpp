// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_CUDA_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_CUDA_HPP

// Included by Intrinsics.hpp for device code. The instructions are described in NVIDIA's PTX ISA
// manual.

#include <type_traits>

namespace KokkosSoftmax::Impl::Intrinsics {

KOKKOS_FORCEINLINE_FUNCTION float fast_exp2(float x) {
  float power;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
  return power;
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION void make_opaque(T& value) {
  if constexpr (std::is_same_v<T, double>) asm("" : "+d"(value));
  if constexpr (std::is_same_v<T, std::uint32_t>) asm("" : "+r"(value));
  if constexpr (std::is_pointer_v<T> || std::is_same_v<T, std::int64_t>) asm("" : "+l"(value));
}

KOKKOS_FORCEINLINE_FUNCTION void make_opaque_each_time(int& value) {
  asm volatile("" : "+r"(value));
}

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t upper_word(double x) {
  return static_cast<std::uint32_t>(__double2hiint(x));
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t lower_word(double x) {
  return static_cast<std::uint32_t>(__double2loint(x));
}
KOKKOS_FORCEINLINE_FUNCTION double of_words(std::uint32_t upper, std::uint32_t lower) {
  return __hiloint2double(static_cast<int>(upper), static_cast<int>(lower));
}

KOKKOS_FORCEINLINE_FUNCTION float product(float a, float b) { return __fmul_rn(a, b); }
KOKKOS_FORCEINLINE_FUNCTION double product(double a, double b) { return __dmul_rn(a, b); }

inline constexpr bool has_half_pair_max = __CUDA_ARCH__ >= 800;

template <class X>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t half_pair_max(std::uint32_t a, std::uint32_t b) {
  std::uint32_t larger = a;
#if __CUDA_ARCH__ >= 800
  if constexpr (std::is_same_v<X, Kokkos::Experimental::bhalf_t>)
    asm("max.bf16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
  else
    asm("max.f16x2 %0, %1, %2;" : "=r"(larger) : "r"(a), "r"(b));
#endif
  return larger;
}

inline constexpr bool has_whole_moves = true;

KOKKOS_FORCEINLINE_FUNCTION void store_global(void* to, const Words<4>& words) {
  asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(to)),
               "r"(words.word[0]), "r"(words.word[1]), "r"(words.word[2]), "r"(words.word[3])
               : "memory");
}

template <int count>
KOKKOS_FORCEINLINE_FUNCTION Words<count> load_scratch(const void* from) {
  static_assert(count == 2 || count == 4);
  const auto there = static_cast<std::uint32_t>(__cvta_generic_to_shared(from));
  Words<count> words;
  auto& word = words.word;
  if constexpr (count == 4)
    asm volatile("ld.shared.v4.b32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(word[0]), "=r"(word[1]), "=r"(word[2]), "=r"(word[3])
                 : "r"(there));
  else
    asm volatile("ld.shared.v2.b32 {%0, %1}, [%2];" : "=r"(word[0]), "=r"(word[1]) : "r"(there));
  return words;
}

template <class Chunk, class T, int width>
using Moved = Chunk;

inline constexpr bool has_shuffles = true;

KOKKOS_FORCEINLINE_FUNCTION int lane_number() { return static_cast<int>(threadIdx.x); }

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shuffle_xor(T value, int distance) {
  return __shfl_xor_sync(0xffffffffu, value, distance);
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T shuffle_xor(std::uint32_t lanes, T value, int distance) {
  return __shfl_xor_sync(lanes, value, distance);
}

inline constexpr bool has_max_over_warp = __CUDA_ARCH__ >= 800;

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t max_over_warp(std::uint32_t word) {
#if __CUDA_ARCH__ >= 800
  return __reduce_max_sync(0xffffffffu, word);
#else
  return word;
#endif
}

KOKKOS_FORCEINLINE_FUNCTION bool any_lane(bool condition) {
  return __any_sync(0xffffffffu, condition) != 0;
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane(T value, int lane) {
  return __shfl_sync(0xffffffffu, value, lane);
}

template <class T>
KOKKOS_FORCEINLINE_FUNCTION T value_of_lane_before(T value, int distance) {
  return __shfl_up_sync(0xffffffffu, value, distance);
}
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t ballot(bool condition) {
  return __ballot_sync(0xffffffffu, condition);
}
KOKKOS_FORCEINLINE_FUNCTION void vector_barrier() { __syncwarp(); }

KOKKOS_FORCEINLINE_FUNCTION int vector_length() { return static_cast<int>(blockDim.x); }
KOKKOS_FORCEINLINE_FUNCTION int number_in_team() {
  return static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x);
}
KOKKOS_FORCEINLINE_FUNCTION int lanes_of_team() {
  return static_cast<int>(blockDim.y * blockDim.x);
}

template <class Word>
KOKKOS_FORCEINLINE_FUNCTION Word load_relaxed(const Word* word) {
  return *static_cast<const volatile Word*>(word);
}
template <class Word>
KOKKOS_FORCEINLINE_FUNCTION void store_relaxed(Word* word, Word value) {
  *static_cast<volatile Word*>(word) = value;
}

KOKKOS_FORCEINLINE_FUNCTION void before_next_poll() {}

}  // namespace KokkosSoftmax::Impl::Intrinsics

#endif
