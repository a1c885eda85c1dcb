// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_INTRINSICS_HPP

/// \file
/// Functions of a processor that neither C++ nor Kokkos offers, with one file per backend. Kernels
/// have no other backend-specific code, except those in schedules/cluster/. Each file defines, in
/// the namespace Intrinsics:
///
/// - fast_exp2(x): 2^x of a float to two units of 2^-23; results below the smallest normal number
///   may be 0
/// - make_opaque(value): makes the compiler forget what it knows about a value
/// - make_opaque_each_time(number): the same each time the call is executed, so that what is
///   computed from the number in a loop isn't kept in registers from one iteration to the next
/// - upper_word(x), lower_word(x), of_words(upper, lower): take a double apart into its upper and
///   lower 32 bits, and put it together again
/// - product(a, b): a * b, rounded by itself. Programs whose kernels call the library's functions
///   may be compiled so that a product and an addition become one operation, with other bits.
/// - has_half_pair_max, half_pair_max<X>(a, b): the elementwise maximum of two pairs of a half type
/// - has_whole_moves, store_global(to, words), load_scratch<count>(from): stores and loads that the
///   compiler can't split into smaller ones
/// - Moved<Chunk, T, width>: the type of a variable for a chunk of `width` entries of T that is
///   moved and not changed. The compiler keeps arrays of this type in registers.
/// - has_shuffles, lane_number(), shuffle_xor(value, distance): the lanes of a vector. The distance
///   is less than shuffled_lanes. All lanes of a warp call it.
/// - shuffle_xor(lanes, value, distance): shuffle_xor for some lanes of a warp alone, whose bits in
///   `lanes` are set
/// - has_max_over_warp, max_over_warp(word): the largest word of 32 bits in the 32 lanes of a warp
/// - any_lane(condition): whether the condition holds in any lane of the warp. All lanes of a warp
///   call it. Without shuffles, it is the condition itself, which must be the same in all lanes of
///   a vector.
/// - value_of_lane(value, lane), value_of_lane_before(value, distance): the value of another lane
///   of the vector, and that of the lane `distance` lanes before (of this lane if there is none).
///   All lanes of a warp call them.
/// - ballot(condition): a bit per lane of the vector: whether the condition holds there. All lanes
///   of a warp call it.
/// - vector_barrier(): after it, the lanes of a vector see what the others have written to scratch
///   memory before
/// - vector_length(), number_in_team(), lanes_of_team(): the lanes of the vector, the number of
///   this lane among all lanes of the team, and their number. Lanes with neighbouring numbers are
///   neighbours in a warp.
/// - load_relaxed(word), store_relaxed(word, value): loads and stores of words of 32 or 64 bits, by
///   which teams exchange data through global memory. Each access moves the whole word between the
///   thread and memory that all teams see. On devices it orders no other accesses.
/// - before_next_poll(): is called between two polls for such words
///
/// A has_... constant says whether the backend has the functions listed after it.

#include <Kokkos_Core.hpp>
#include <cmath>
#include <cstdint>

namespace KokkosSoftmax::Impl::Intrinsics {

/// Neighbouring 32-bit words that are moved in one load or store.
template <int count>
struct alignas(count * sizeof(std::uint32_t)) Words {
  std::uint32_t word[count];
};

/// The largest vector whose lanes are combined by shuffles. GPUs execute threads in groups of 32
/// (warps of CUDA, wavefronts of AMD's RDNA) or 64 (wavefronts of AMD's CDNA) with consecutive
/// numbers. A vector of 2^n <= 32 lanes begins at a multiple of its length. So a shuffle at a
/// distance less than its length stays in the vector, also if another thread of the team has the
/// other half of the wavefront and has left the code with the shuffle.
inline constexpr int shuffled_lanes = 32;

}  // namespace KokkosSoftmax::Impl::Intrinsics

#if defined(__CUDA_ARCH__)
#include <impl/device/backend/KokkosSoftmax_Intrinsics_Cuda.hpp>
#else
#include <impl/device/backend/KokkosSoftmax_Intrinsics_Portable.hpp>
#endif

namespace KokkosSoftmax::Impl {

/// a * b + c, with one rounding if the machine has an instruction for that. (Without such an
/// instruction std::fma is emulated and a hundred times slower. None of the callers depends on the
/// single rounding.)
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T multiply_add(T a, T b, T c) {
  KOKKOS_IF_ON_DEVICE((return Kokkos::fma(a, b, c);))
#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
  KOKKOS_IF_ON_HOST((return std::fma(a, b, c);))
#else
  KOKKOS_IF_ON_HOST((return a * b + c;))
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
