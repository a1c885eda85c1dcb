// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_ONLINESUM_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_ONLINESUM_HPP

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>

namespace KokkosSoftmax::Impl {

/// A state to which tiles are added one after another.
///
/// Each term is exp(v - reference). A reference that followed each new maximum would add a rounding
/// error per tile. So the reference either moves in steps with the maximum (StateTraits), or it
/// stays the same until an entry exceeds it by more than slack(). Each multiplication of the sum
/// then makes it, and all earlier rounding errors in it, smaller by a factor, and a row whose
/// maximum rises slowly is as accurate as any other.
template <class Exp, RowState State>
class OnlineSum {
  using Traits = StateTraits<State>;
  using T = typename Traits::Value;

 public:
  /// Adds the entries of a tile. A Tile must have max(start) and sum<keep>(exp).
  template <bool keep = false, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add(Tile& tile) {
    raise_to(tile.max(max()));
    add_below<keep>(tile);
  }

  /// The same for the first tile, in fewer instructions.
  template <bool keep = false, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void start(Tile& tile) {
    [[maybe_unused]] const T max = tile.max(this->max());
    if constexpr (keeps_max) m_max = max;
    if constexpr (Traits::has_reference && !Traits::moves_in_steps) m_reference = max;
    m_sum.start(tile.template sum<keep>(Exp(reference())));
  }

  /// An entry or a reference that no entry so far exceeds by more than slack().
  KOKKOS_FORCEINLINE_FUNCTION T max() const {
    if constexpr (keeps_max)
      return m_max;
    else
      return m_reference;
  }

  /// Prepares for entries of up to `max`, which must not be less than max().
  KOKKOS_FORCEINLINE_FUNCTION void raise_to([[maybe_unused]] T max) {
    if constexpr (Traits::moves_in_steps) {
      if (max == m_max) return;  // as after most tiles: saves the two references
      const T to = Traits::reference_of(max);
      if (to != reference()) m_sum.multiply(rescale_factor(reference(), to));
      m_max = max;
    } else if constexpr (Traits::has_reference) {
      if constexpr (keeps_max) m_max = max;
      if (max > m_reference + slack()) {
        m_sum.multiply(rescale_factor(m_reference, max));
        m_reference = max;
      }
    }
  }

  /// Adds a tile for whose entries raise_to() has prepared.
  template <bool keep, class Tile>
  KOKKOS_FORCEINLINE_FUNCTION void add_below(Tile& tile) {
    m_sum.add(tile.template sum<keep>(Exp(reference())));
  }

  /// Adds `term`, a sum of exponentials exp(v - reference()).
  KOKKOS_FORCEINLINE_FUNCTION void add_term(T term) { m_sum.add(term); }

  /// The reference of the terms of the last tile.
  KOKKOS_FORCEINLINE_FUNCTION T reference() const {
    if constexpr (Traits::moves_in_steps)
      return Traits::reference_of(m_max);
    else
      return m_reference;
  }

  KOKKOS_FORCEINLINE_FUNCTION State state() const {
    if constexpr (Traits::moves_in_steps)
      return Traits::make(m_max, m_sum.value());
    else if constexpr (keeps_max)
      return Traits::make(m_max, sum_relative_to_max());
    else
      return Traits::make(m_reference, m_sum.value());
  }

 private:
  /// Whether the largest entry is kept. The output of log_softmax is computed from it: results near
  /// 0 would lose digits otherwise.
  static constexpr bool keeps_max = Traits::moves_in_steps || requires {
    requires !Exp::logarithm_joins_reference;
  };

  /// The sum has the term exp(max - max) = 1, so that it is less than 1 only because of rounding.
  KOKKOS_FORCEINLINE_FUNCTION T sum_relative_to_max() const {
    if (m_max == m_reference) return m_sum.value();
    const T sum = product(m_sum.value(), rescale_factor(m_reference, m_max));
    return sum < T(1) ? T(1) : sum;
  }

  /// How far entries may be above the reference.
  KOKKOS_FORCEINLINE_FUNCTION static T slack() {
    if constexpr (requires { Exp::slack(); })
      return Exp::slack();
    else
      return T(1);
  }

  T m_max = -Kokkos::Experimental::infinity_v<T>;  // only if keeps_max
  T m_reference = Traits::has_reference ? -Kokkos::Experimental::infinity_v<T> : T(0);
  CompensatedSum<T> m_sum;
};

}  // namespace KokkosSoftmax::Impl

#endif
