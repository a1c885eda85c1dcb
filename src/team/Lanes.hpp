// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_LANES_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_LANES_HPP

/// \file
/// Treats the lanes of a vector as threads. Kokkos runs the code of a team's thread in all lanes of
/// its vector. Here each lane gets its number once and then works on entries of its own, outside of
/// any ThreadVectorRange, in variables that GPUs keep in registers. With the vector length 1 (host)
/// this is ordinary code.
///
/// Kokkos::parallel_reduce(ThreadVectorRange) computes the same as `max_over_lanes` and
/// `sum_over_lanes`, but doesn't know the vector length at compile time. On CUDA it takes some
/// hundred instructions (two integer divisions for the lanes' mask, a rolled loop of guarded
/// shuffles, a broadcast) where ten suffice. Getting the lane's number by
/// parallel_for(ThreadVectorRange) takes some sixty instructions, in a kernel of a thousand
/// instructions that a small launch has to fetch from memory before it runs.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

template <int lanes, class Member>
KOKKOS_FORCEINLINE_FUNCTION int lane_number([[maybe_unused]] const Member& member) {
  int number = 0;
  if constexpr (lanes > 1) {
    if constexpr (Intrinsics::has_shuffles)
      number = Intrinsics::lane_number();
    else
      Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, lanes),
                           [&](int lane) { number = lane; });
  }
  return number;
}

/// Like Kokkos::Max, but starts from -inf instead of the lowest finite number. So a row whose
/// entries are all -inf differs from a row of large negative numbers.
template <class T>
struct MaxEntry {
  using reducer = MaxEntry;
  using value_type = T;
  using result_view_type =
      Kokkos::View<T, Kokkos::AnonymousSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  KOKKOS_INLINE_FUNCTION explicit MaxEntry(T& result) : m_result(&result) {}
  KOKKOS_INLINE_FUNCTION void join(T& into, const T& from) const { into = larger(into, from); }
  KOKKOS_INLINE_FUNCTION void init(T& value) const { value = -Kokkos::Experimental::infinity_v<T>; }
  KOKKOS_INLINE_FUNCTION T& reference() const { return *m_result; }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return result_view_type(m_result); }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return true; }

 private:
  T* m_result;
};

/// Combines the values of the lanes of a vector; every lane gets the same result. All lanes of a
/// warp of CUDA must call this together, and elsewhere all lanes of the vector. `lanes` may be less
/// than the vector length if the values of the first `lanes` lanes are repeated in the other lanes.
template <int lanes, class Reducer, class T, class Member, class Combine>
KOKKOS_FORCEINLINE_FUNCTION T combine_over_lanes([[maybe_unused]] const Member& member, T value,
                                                 [[maybe_unused]] const Combine& combine) {
  if constexpr (lanes > 1) {
    if constexpr (Intrinsics::has_shuffles) {
      static_assert(lanes <= Intrinsics::shuffled_lanes && (lanes & (lanes - 1)) == 0);
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        value = combine(value, Intrinsics::shuffle_xor(value, distance));
    } else {
      const T mine = value;
      Kokkos::parallel_reduce(
          Kokkos::ThreadVectorRange(member, lanes),
          [&](int, T& result) { result = combine(result, mine); }, Reducer(value));
    }
  }
  return value;
}

template <int lanes, class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T max_over_lanes(const Member& member, T value) {
  return combine_over_lanes<lanes, MaxEntry<T>>(member, value,
                                                [](T a, T b) { return larger(a, b); });
}

KOKKOS_FORCEINLINE_FUNCTION std::uint32_t larger_word(std::uint32_t a, std::uint32_t b) {
  return a < b ? b : a;
}

/// The same for 32-bit words, for which fmax would convert to floating point.
template <int lanes, class Member>
KOKKOS_FORCEINLINE_FUNCTION std::uint32_t max_word_over_lanes(const Member& member,
                                                              std::uint32_t word) {
  return combine_over_lanes<lanes, Kokkos::Max<std::uint32_t>>(
      member, word, [](std::uint32_t a, std::uint32_t b) { return larger_word(a, b); });
}

template <int lanes, class T, class Member>
KOKKOS_FORCEINLINE_FUNCTION T sum_over_lanes(const Member& member, T value) {
  return combine_over_lanes<lanes, Kokkos::Sum<T>>(member, value, [](T a, T b) { return a + b; });
}

}  // namespace KokkosSoftmax::Impl

#endif
