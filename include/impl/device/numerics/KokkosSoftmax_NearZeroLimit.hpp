// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_NEARZEROLIMIT_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_NUMERICS_NEARZEROLIMIT_HPP

/// \file
/// Which log-sum-exps are near 0. This file includes nothing of Kokkos, and has no functions (see
/// host/Kernels.hpp).

namespace KokkosSoftmax::Impl {

/// A log-sum-exp whose magnitude is below this limit is near 0. The sum of its row, relative to the
/// largest entry, is then near 1, and the rounding of the sum would cost the result its digits.
/// Such a result is computed a second time from the row, as max + log1p(sum of the other terms).
///
/// The documented bound holds up to 1/16 for the largest entry and for the logarithm of the sum.
/// The limit is more than the sum of both, so that rounding can't hide such a row.
template <class T>
inline constexpr T near_zero_limit = T(9) / T(64);

/// The limit of the sum relative to the largest entry, a bit more than exp(1/16) = 1.0645.
template <class T>
inline constexpr T near_zero_sum = T(1.07);

/// How far a sum with weights may be from 1 or -1 to be near it. docs/weights.md promises the
/// digits of sums that are at most 1/32 + (1 + 1/32) (exp(1/32) - 1) + 1/16 = 0.127 away. The
/// logarithm of a sum near 1 must be less than near_zero_limit, because a settled part is a unit of
/// the merged sum: log(1 - 0.13) = -0.1393 > -9/64 = -0.1406.
template <class T>
inline constexpr T near_one_limit = T(0.13);

}  // namespace KokkosSoftmax::Impl

#endif
