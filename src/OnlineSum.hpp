// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ONLINESUM_HPP
#define KOKKOSSOFTMAX_SRC_ONLINESUM_HPP

#include <CompensatedSum.hpp>
#include <RowReduction.hpp>

namespace KokkosSoftmax::Impl {

/// A LogSumExpState that takes in tile after tile.
template <class Exp, class T>
class OnlineSum {
 public:
  /// Tile needs max(start) and sum<keep>(exp).
  template <bool keep = false, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile& tile) {
    raise_to(tile.max(m_max));
    add_below<keep>(tile);
  }

  /// The largest entry so far, or of those that are to come, or hardly less.
  KOKKOS_FORCEINLINE_FUNCTION T max() const { return m_max; }
  KOKKOS_FORCEINLINE_FUNCTION void raise_to(T max) {
    if (max > m_max + slack()) {
      const T reference = Exp::reference(max);
      m_sum.scale(rescaling(m_reference, reference));
      m_max = max;
      m_reference = reference;
    }
  }

  /// A tile without an entry above max().
  template <bool keep, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add_below(Tile& tile) {
    m_sum.add(tile.template sum<keep>(Exp(m_reference)));
  }

  /// The sum of terms that stand against reference().
  KOKKOS_FORCEINLINE_FUNCTION void add_term(T term) { m_sum.add(term); }

  /// What the terms of the last tile stand against.
  KOKKOS_FORCEINLINE_FUNCTION T reference() const { return m_reference; }

  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> state() const {
    return {m_reference, m_sum.value()};
  }

 private:
  /// How far entries may be above what terms stand against.
  KOKKOS_FORCEINLINE_FUNCTION static T slack() {
    if constexpr (requires { Exp::slack(); })
      return Exp::slack();
    else
      return T(0);
  }

  T m_max = -Kokkos::Experimental::infinity_v<T>;
  T m_reference = -Kokkos::Experimental::infinity_v<T>;
  CompensatedSum<T> m_sum;
};

}  // namespace KokkosSoftmax::Impl

#endif
