// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPCONSTANTS_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_EXPCONSTANTS_HPP

/// \file
/// The constants of exp, for the scalar functions of Exp.hpp and for the vectors of hosts. This
/// file includes nothing of Kokkos, and has no functions (see host/Kernels.hpp).

#include <cstdint>

namespace KokkosSoftmax::Impl {

/// exp(x) = 2^n exp(r), n = round(x log2(e)), r = x - n ln(2), |r| <= ln(2) / 2 (Cody and Waite,
/// Software Manual for the Elementary Functions, 1980). ln(2) is split into ln2_high, which has few
/// bits so that n * ln2_high is exact, and ln2_low.
template <class T>
struct ExpConstants;

/// The coefficients of exp(r), highest power first: minimax fits with the first two terms fixed
/// (Remez' algorithm). The relative error is 1.1e-7 (float) and 3.0e-16 (double).
#define KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_FLOAT \
  8.31239848e-3f, 4.18912817e-2f, 1.66671194e-1f, 4.99992238e-1f, 1.0f, 1.0f
#define KOKKOSSOFTMAX_IMPL_EXP_POLYNOMIAL_DOUBLE                                                  \
  2.7476372799289511e-7, 2.7635405510742016e-6, 2.4801935394185109e-5, 1.9841184331107216e-4,     \
      1.3888888510232525e-3, 8.3333333714735843e-3, 4.1666666668168119e-2, 1.6666666666610371e-1, \
      4.9999999999998279e-1, 1.0, 1.0

/// The same with one more term, for results that are within 2 ulp. The relative error is 3.1e-9
/// (float) and 3.7e-18 (double).
#define KOKKOSSOFTMAX_IMPL_EXP_LONG_POLYNOMIAL_FLOAT \
  1.3814531e-3f, 8.36874517e-3f, 4.1668391e-2f, 1.66665204e-1f, 4.99999934e-1f, 1.0f, 1.0f
#define KOKKOSSOFTMAX_IMPL_EXP_LONG_POLYNOMIAL_DOUBLE                                             \
  2.50000593174860579e-8, 2.76303060462789998e-7, 2.75575866769462518e-6, 2.48014929502448102e-5, \
      1.98412695059139565e-4, 1.38888889437593817e-3, 8.33333333349491402e-3,                     \
      4.16666666665297301e-2, 1.66666666666664116e-1, 5.00000000000001067e-1, 1.0, 1.0

/// The coefficients of 2^f, |f| <= 1/2, highest power first: minimax fits with the value 1 at f =
/// 0. The relative error is 9.4e-8 (float) and 3e-16 (double).
#define KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_FLOAT \
  1.3269521e-3f, 9.671291e-3f, 5.550711e-2f, 2.4022247e-1f, 6.93147e-1f, 1.0f
#define KOKKOSSOFTMAX_IMPL_EXP2_POLYNOMIAL_DOUBLE                                                 \
  7.11175882383370223e-9, 1.02105064509057992e-7, 1.32152356336780645e-6, 1.52526477477379108e-5, \
      1.54035308008211358e-4, 1.33335582464806515e-3, 9.61812910738071146e-3,                     \
      5.55041086643465844e-2, 2.40226506959104722e-1, 6.93147180559951616e-1, 1.0

template <>
struct ExpConstants<float> {
  using Bits = std::uint32_t;
  static constexpr int mantissa_bits = 23;
  /// Adding 1.5 * 2^23 rounds to an integer. With 127 added as well, the low bits of the sum are
  /// the exponent of 2^n.
  static constexpr float round_and_bias = 12582912.0f + 127.0f;
  static constexpr float log2_e = 1.44269504f;
  static constexpr float ln2 = 0.693147182f;
  static constexpr float ln2_high = 0.693359375f;  // 355 / 512
  static constexpr float ln2_low = -2.12194440e-4f;
  static constexpr float lowest = -88.0f;  // below, exp(x) isn't a normal number; the result is 0
  static constexpr float lowest_term = -86.0f;  // stands for lower x in sums of exp(x) with exp(0)
  /// References whose absolute value is below `fine_limit` must have few bits. The vector kernels
  /// of hosts round them to multiples of fine_step = ulp(fine_round).
  static constexpr float fine_limit = 8192.0f;
  static constexpr float fine_round = 24576.0f;
  static constexpr float fine_step = 1.0f / 512;
};

template <>
struct ExpConstants<double> {
  using Bits = std::uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double round_and_bias = 6755399441055744.0 + 1023.0;
  static constexpr double log2_e = 1.4426950408889634;
  static constexpr double ln2 = 0.6931471805599453;
  static constexpr double ln2_high = 0.693145751953125;  // 22713 / 2^15
  static constexpr double ln2_low = 1.42860682030941723212e-6;
  static constexpr double lowest = -709.0;
  static constexpr double lowest_term = -706.0;
  static constexpr double fine_limit = 68719476736.0;   // 2^36
  static constexpr double fine_round = 206158430208.0;  // 1.5 * 2^37
  static constexpr double fine_step = 1.0 / 32768;
};

}  // namespace KokkosSoftmax::Impl

#endif
