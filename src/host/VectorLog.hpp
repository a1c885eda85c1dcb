// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTORLOG_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTORLOG_HPP

#include <host/VectorExp.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class T>
struct LogConstants;
template <>
struct LogConstants<float> {
  using Int = std::int32_t;
  static constexpr Int sqrt_half = 0x3f3504f3;  // the bits of sqrt(1/2)
};
template <>
struct LogConstants<double> {
  using Int = std::int64_t;
  static constexpr Int sqrt_half = 0x3fe6a09e667f3bcd;
};

/// log(x) to an ulp or two, for sums of exponentials: normal numbers, 0, +inf and NaN.
///
/// log(2^k (1 + f)) = k ln(2) + f - s (f - z P(z)), s = f / (2 + f), z = s^2, |f| <= sqrt(2) - 1.
/// P is a minimax fit of (2 atanh(s) - 2 s) / (s z) (Remez' algorithm), with a relative error of
/// 3e-7 (float) and 5e-16 (double), which is multiplied by z / 3 < 0.01.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V log_of(typename L::V x) {
  using T = typename L::T;
  using V = typename L::V;
  using C = ExpConstants<T>;
  using Int = Vector<typename LogConstants<T>::Int, L::width>;
  const Int offset = (Int)x - LogConstants<T>::sqrt_half;
  const V k = __builtin_convertvector(offset >> C::mantissa_bits, V);
  const Int mantissa = ((Int{} + 1) << C::mantissa_bits) - 1;
  const V f = (V)((offset & mantissa) + LogConstants<T>::sqrt_half) - T(1);
  const V s = f / (T(2) + f);
  const V z = s * s;
  V p;
  if constexpr (sizeof(T) == 4)
    p = horner(z, L::splat(0.295805117f), 0.399887641f, 0.666666851f);
  else
    p = horner(z, L::splat(0.14616875683547314), 0.15331684010120874, 0.18182890368918466,
               0.22222211115835478, 0.28571428626106088, 0.39999999999899176, 0.66666666666666697);
  const V low = s * (f - z * p) - k * C::ln2_low;
  const V result = k * C::ln2_high + (f - low);
  constexpr T infinity = NumberTraits<T>::infinity;
  const V special = x == T(0) ? L::splat(-infinity) : x;
  const auto is_normal = (x > T(0)) & (x < infinity);
  return is_normal ? result : special;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
