// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_STEPPEDSTATE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_TEAM_STEPPEDSTATE_HPP

#include <cstdint>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/team/KokkosSoftmax_RowState.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The distance between references of a SteppedState.
enum class ReferenceStep { one_half, four };

/// The largest entry of a row, and the sum of exp(entry - reference). The reference is a multiple
/// of a step below the maximum, a function of the maximum, so that no register holds both. Each
/// move of the reference makes the sum, and all rounding errors in it, smaller by a factor of
/// e^step or more, so that a row whose maximum rises slowly is as accurate as any other. A multiple
/// of the step has few bits, which ExpAccurate needs. It isn't above the maximum, so that the term
/// of a result that is a normal number is one, too.
///
/// With a step of 4, the lanes and teams that work on a row mostly have the same reference, so that
/// nobody has to rescale a sum, which takes 10 instructions of float and 50 of double. ExpForSum
/// rounds v - reference, so that float needs a step of 1/2 for the accuracy of float. (With a
/// larger step than 4, the factor for an exponential can be a number without a normal one's digits
/// although the result is normal.)
template <class T, ReferenceStep step>
struct SteppedState {
  T max = -Kokkos::Experimental::infinity_v<T>;
  T sum = T(0);

  KOKKOS_FORCEINLINE_FUNCTION void merge(const SteppedState& other) {
    const T larger_max = other.max > max ? other.max : max;
    const T reference = StateTraits<SteppedState>::reference_of(larger_max);
    sum = sum_relative_to(reference, *this) + sum_relative_to(reference, other);
    max = larger_max;
  }

  /// The log-sum-exp of the entries.
  KOKKOS_FORCEINLINE_FUNCTION T value() const {
    return StateTraits<SteppedState>::reference_of(max) + Kokkos::log(sum);
  }
};

template <class T, ReferenceStep step_>
struct StateTraits<SteppedState<T, step_>> {
  using Value = T;
  static constexpr T step = step_ == ReferenceStep::one_half ? T(0.5) : T(4);
  static constexpr bool has_reference = true;
  static constexpr bool moves_in_steps = true;

  /// The multiple of the step that is nearest to max minus half a step or, for float, to max minus
  /// a step, which takes an addition less. (The boundaries between references are then multiples of
  /// the step, and with them numbers that a maximum of normally distributed entries is seldom
  /// near.) Numbers that are too large for the additions are few enough to be references
  /// themselves. (The instruction that rounds a double takes a GPU many times as long as an
  /// addition.)
  KOKKOS_FORCEINLINE_FUNCTION static T reference_of(T max) {
    // 1.5 * 2^23 or 1.5 * 2^52 times the step: numbers of this size are multiples of the step.
    if constexpr (std::is_same_v<T, float>) {
      constexpr T round = T(12582912) * step;
      return is_below(max, round / 4) ? (max + (round - step)) - round : max;
    } else {
      constexpr T round = T(6755399441055744) * step;
      return is_below(max, round / 4) ? ((max - step / 2) + round) - round : max;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION static T max(const SteppedState<T, step_>& state) {
    return state.max;
  }
  KOKKOS_FORCEINLINE_FUNCTION static SteppedState<T, step_> make(T max, T sum) {
    return {max, sum};
  }

 private:
  /// |x| < limit, for limits of few bits. Doubles are compared by their upper halves, because the
  /// units for double precision are busy with exponentials.
  KOKKOS_FORCEINLINE_FUNCTION static bool is_below(T x, T limit) {
    if constexpr (std::is_same_v<T, double>) {
      KOKKOS_IF_ON_DEVICE(
          (constexpr std::uint32_t all_but_sign = 0x7fffffffu;
           return (Intrinsics::upper_word(x) & all_but_sign) < Intrinsics::upper_word(limit);))
    }
    return Kokkos::abs(x) < limit;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
