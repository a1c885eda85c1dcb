// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_PARTIALSUMS_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_PARTIALSUMS_HPP

/// \file
/// The order in which a thread adds up the entries that it holds.

#include <Kokkos_Core.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>

namespace KokkosSoftmax::Impl {

/// Entry j of a thread is added to partial sum j mod `accumulators`, so that few additions wait for
/// the one before.
inline constexpr int accumulators = 4;

/// The sum of the partial sums. With up to 8 entries per thread, the entries so are added in the
/// order of halved_sum().
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T sum_of_partials(const T (&partial)[accumulators]) {
  return (partial[0] + partial[2]) + (partial[1] + partial[3]);
}

/// The sum of the first `count` numbers, a power of two: adds the second half to the first half,
/// and so on. The numbers are lost.
template <int count, class T, int size>
KOKKOS_FORCEINLINE_FUNCTION T halved_sum(T (&number)[size]) {
  if constexpr (count > 1) {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < count / 2; ++j) number[j] += number[j + count / 2];
    return halved_sum<count / 2>(number);
  }
  return number[0];
}
template <class T, int size>
KOKKOS_FORCEINLINE_FUNCTION T halved_sum(T (&number)[size], int count) {
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (int half = count / 2; half > 0; half /= 2) KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (int j = 0; j < half; ++j) number[j] += number[j + half];
  return number[0];
}

}  // namespace KokkosSoftmax::Impl

#endif
