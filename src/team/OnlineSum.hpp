// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_TEAM_ONLINESUM_HPP
#define KOKKOSSOFTMAX_SRC_TEAM_ONLINESUM_HPP

#include <numerics/CompensatedSum.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

/// A LogSumExpState that takes in tile after tile.
///
/// The terms stand against a reference, which stays until an entry exceeds it by more than slack().
/// So each multiplication of the sum shrinks it by exp(-slack()) at least, and with it all earlier
/// roundings: a row whose maximum rises slowly is as accurate as any other. A reference that
/// followed each new maximum would add a rounding per tile.
template <class Exp, class T>
class OnlineSum {
 public:
  /// Tile needs max(start) and sum<keep>(exp).
  template <bool keep = false, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile& tile) {
    raise_to(tile.max(max()));
    add_below<keep>(tile);
  }

  /// The largest entry so far.
  KOKKOS_FORCEINLINE_FUNCTION T max() const { return m_max; }

  /// Prepares for entries of up to `max`, which is not less than max().
  KOKKOS_FORCEINLINE_FUNCTION void raise_to(T max) {
    m_max = max;
    if (max > m_reference + slack()) {
      const T reference = Exp::reference(max);
      m_sum.scale(rescale_factor(m_reference, reference));
      m_reference = reference;
    }
  }

  /// A tile whose entries raise_to() has prepared for.
  template <bool keep, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add_below(Tile& tile) {
    m_sum.add(tile.template sum<keep>(Exp(m_reference)));
  }

  /// The sum of terms that stand against reference().
  KOKKOS_FORCEINLINE_FUNCTION void add_term(T term) { m_sum.add(term); }

  /// What the terms of the last tile stand against.
  KOKKOS_FORCEINLINE_FUNCTION T reference() const { return m_reference; }

  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> state() const {
    if constexpr (needs_max)
      return {m_max, m_sum.value() * rescale_factor(m_reference, m_max)};
    else
      return {m_reference, m_sum.value()};
  }

 private:
  /// Whether the output is computed from the largest entry itself: log_softmax, for the digits of
  /// results near 0.
  static constexpr bool needs_max = requires { requires !Exp::logarithm_joins_reference; };

  /// How far entries may be above what terms stand against.
  KOKKOS_FORCEINLINE_FUNCTION static T slack() {
    if constexpr (requires { Exp::slack(); })
      return Exp::slack();
    else
      return T(1);
  }

  T m_max = -Kokkos::Experimental::infinity_v<T>;
  T m_reference = -Kokkos::Experimental::infinity_v<T>;
  CompensatedSum<T> m_sum;
};

}  // namespace KokkosSoftmax::Impl

#endif
