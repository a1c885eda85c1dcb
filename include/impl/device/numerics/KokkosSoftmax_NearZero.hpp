// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_NEARZERO_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_NEARZERO_HPP

/// \file
/// The arithmetic of log-sum-exps near 0: max + log1p(sum of the other terms). The other terms are
/// computed as exp(v) and not as exp(v - max), because the rounding of v - max would cost a float
/// 20 ulp at v = -80. The functions take few registers, so that a kernel needs no more registers
/// than for ordinary rows.

#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/numerics/KokkosSoftmax_NearZeroLimit.hpp>

namespace KokkosSoftmax::Impl {

/// Whether reference + log(sum) is near 0. `slack`: how far entries can be above the reference.
/// With the slack 0, the reference is the largest entry, and no logarithm is needed. With another
/// slack, the digits of a float are enough for the decision.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_near_zero(T reference, T sum, T slack) {
  constexpr T limit = near_zero_limit<T>;
  if (!(reference < limit && reference > -(slack + limit))) return false;
  if (slack == T(0)) return sum < near_zero_sum<T>;
  const float lse = static_cast<float>(reference) + Kokkos::log(static_cast<float>(sum));
  return Kokkos::abs(lse) < near_zero_limit<float>;
}

/// Whether the largest entry of a row is near 0, too, so that the functions below are right.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION bool is_max_near_zero(T max) {
  return Kokkos::abs(max) < near_zero_limit<T>;
}

/// log(1 + x), -1/3 < x < 1/2, to an ulp or two: 2 atanh(s), s = x / (2 + x), as a series in s^2 <
/// 0.04.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T log1p_of_small(T x) {
  const T s = x / (T(2) + x);
  const T z = product(s, s);
  T series;
  if constexpr (sizeof(T) == 4)
    series = horner(z, T(2.0 / 11), T(2.0 / 9), T(2.0 / 7), T(2.0 / 5), T(2.0 / 3));
  else
    series = horner(z, T(2.0 / 23), T(2.0 / 21), T(2.0 / 19), T(2.0 / 17), T(2.0 / 15), T(2.0 / 13),
                    T(2.0 / 11), T(2.0 / 9), T(2.0 / 7), T(2.0 / 5), T(2.0 / 3));
  return multiply_add(product(s, z), series, T(2) * s);
}

/// log(exp(max) + sum), where `sum` is the sum of exp(v) of all entries except the largest one.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T log_sum_exp_near_zero(T max, T sum) {
  return max + log1p_of_small(product(sum, exp_polynomial(-max)));
}

/// How many entries a thread has: few, if it held them in registers, or any number. Sums of few
/// terms need no compensation, and small numbers take fewer registers.
enum class EntryNumber { few, many };
template <EntryNumber entries>
using EntryCount = std::conditional_t<entries == EntryNumber::few, int, std::int64_t>;

/// Adds exp(v) of entries that are less than `max`. If the log-sum-exp is near 0, one entry isn't.
/// The order of additions is that of PartialSums.hpp for each 8 entries; the sums of 8 are added
/// one after another.
template <class T, EntryNumber entries>
class SumBelowMax {
 public:
  static constexpr int batch = 8;

  KOKKOS_FORCEINLINE_FUNCTION explicit SumBelowMax(T max) : m_exp(T(0)), m_max(max) {}

  /// Adds one of the 8 entries of a batch, -inf in place of those that aren't there. An array of
  /// partial sums would take a loop that is unrolled.
  KOKKOS_FORCEINLINE_FUNCTION void add(T v) {
    const T sum = m_partial0 + (v < m_max ? m_exp(v) : T(0));
    m_partial0 = m_partial1;
    m_partial1 = m_partial2;
    m_partial2 = m_partial3;
    m_partial3 = sum;
  }
  KOKKOS_FORCEINLINE_FUNCTION void end_batch() {
    const T sum = (m_partial0 + m_partial2) + (m_partial1 + m_partial3);
    if constexpr (entries == EntryNumber::few)
      m_sum += sum;
    else
      m_sum.add(sum);
    m_partial0 = m_partial1 = m_partial2 = m_partial3 = T(0);
  }

  KOKKOS_FORCEINLINE_FUNCTION T value() const {
    if constexpr (entries == EntryNumber::few)
      return m_sum;
    else
      return m_sum.value();
  }

 private:
  ExpAccurate<T> m_exp;
  T m_max;
  T m_partial0 = T(0), m_partial1 = T(0), m_partial2 = T(0), m_partial3 = T(0);
  std::conditional_t<entries == EntryNumber::few, T, CompensatedSum<T>> m_sum{};
};

/// The sum of exp(v) of `count` values value(0), value(1), ... that are below `max`.
template <EntryNumber entries, class T, class Value>
KOKKOS_FORCEINLINE_FUNCTION T sum_below_max(T max, EntryCount<entries> count, const Value& value) {
  constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
  constexpr int batch = SumBelowMax<T, entries>::batch;
  SumBelowMax<T, entries> sum(max);
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (EntryCount<entries> first = 0; first < count; first += batch) {
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int j = 0; j < batch; ++j) sum.add(first + j < count ? value(first + j) : -infinity);
    sum.end_batch();
  }
  return sum.value();
}

/// The largest of `count` values.
template <class T, class Value>
KOKKOS_FORCEINLINE_FUNCTION T max_of(std::int64_t count, const Value& value) {
  T max = -Kokkos::Experimental::infinity_v<T>;
  KOKKOSSOFTMAX_IMPL_NO_UNROLL
  for (std::int64_t i = 0; i < count; ++i) max = larger(max, value(i));
  return max;
}

}  // namespace KokkosSoftmax::Impl

#endif
