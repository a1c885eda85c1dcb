// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ONLINESUM_HPP
#define KOKKOSSOFTMAX_SRC_ONLINESUM_HPP

#include <RowReduction.hpp>

namespace KokkosSoftmax::Impl {

/// A LogSumExpState that takes in tile after tile. A long row is very many additions to one number,
/// so the sum carries what rounding drops along (Kahan, CACM 8 (1965) 40).
template <class Exp, class T>
class OnlineSum {
 public:
  /// Tile needs max(start) and sum<false>(exp).
  template <class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile& tile) {
    const T max = tile.max(m_max);
    if (max > m_max) {
      const T reference = Exp::reference(max);
      const T factor = rescaling(m_reference, reference);
      m_sum *= factor;
      m_dropped *= factor;
      m_max = max;
      m_reference = reference;
    }
    const T term = tile.template sum<false>(Exp(m_reference)) - m_dropped;
    const T sum = m_sum + term;
    m_dropped = (sum - m_sum) - term;
    m_sum = sum;
  }

  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> state() const { return {m_reference, m_sum}; }

 private:
  T m_max = -Kokkos::Experimental::infinity_v<T>;
  T m_reference = -Kokkos::Experimental::infinity_v<T>;
  T m_sum = T(0);
  T m_dropped = T(0);
};

}  // namespace KokkosSoftmax::Impl

#endif
