// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_COMPENSATEDSUM_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_COMPENSATEDSUM_HPP

#include <Kokkos_Core.hpp>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>

namespace KokkosSoftmax::Impl {

/// A sum that also accumulates what rounding drops from it (Kahan, CACM 8 (1965) 40). A long row
/// means very many additions to one number: without the compensation, a sum of 10^5 floats loses
/// two digits.
template <class T>
class CompensatedSum {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void add(T term) {
    term -= m_dropped;
    const T sum = m_sum + term;
    const T dropped = (sum - m_sum) - term;
    // An infinite sum drops nothing. Otherwise inf - inf would follow.
    m_dropped = Kokkos::abs(dropped) < Kokkos::Experimental::infinity_v<T> ? dropped : T(0);
    m_sum = sum;
  }

  /// The same for the first term.
  KOKKOS_FORCEINLINE_FUNCTION void start(T term) { m_sum = term; }

  KOKKOS_FORCEINLINE_FUNCTION void multiply(T factor) {
    m_sum = Intrinsics::product(m_sum, factor);
    m_dropped = Intrinsics::product(m_dropped, factor);
  }

  KOKKOS_FORCEINLINE_FUNCTION T value() const { return m_sum; }

 private:
  T m_sum = T(0);
  T m_dropped = T(0);
};

}  // namespace KokkosSoftmax::Impl

#endif
