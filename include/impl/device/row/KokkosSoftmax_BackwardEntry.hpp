// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_ROW_BACKWARDENTRY_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_ROW_BACKWARDENTRY_HPP

/// \file
/// What the backward passes make of an entry. With the softmax p of a row and the scale s,
///
///     softmax_backward:      dx_j = s * p_j * (dy_j - sum_k p_k * dy_k),  p = y
///     log_softmax_backward:  dx_j = s * (dy_j - p_j * sum_k dy_k),        p = exp(y)
///     logsumexp_backward:    dx_j = s * dlse * p_j,                       p = exp(v - lse)
///
/// The first two are dx_j = t_j - p_j * sum_k t_k, with t = s * p * dy or t = s * dy.

#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpHalf.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// What is computed from an entry of y and of dy.
template <class T>
struct EntryPair {
  T p;
  T t;
};

/// The exponential with the accuracy that a result of type X has.
template <class X, class T>
using ExpForResult = std::conditional_t<sizeof(X) == 2, ExpHalf<T>, ExpAccurate<T>>;

/// The pair of softmax_backward. An entry that was masked has y = 0, and t = 0 whatever dy is.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair_of_softmax(T y, T dy, T scale) {
  return {y, y == T(0) ? T(0) : product(scale, product(y, dy))};
}

/// The pair of log_softmax_backward for entries of type X. An entry that was masked has y = -inf,
/// and t = 0 whatever dy is.
template <class X, class T>
KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair_of_log_softmax(T y, T dy, T scale) {
  return {ExpForResult<X, T>::of_difference(y),
          y == -Kokkos::Experimental::infinity_v<T> ? T(0) : product(scale, dy)};
}

/// The softmax of an entry of type X with the value v. lse is subtracted first: as the reference of
/// the exponential it would add an error of the size of v, because it isn't one of the references
/// with few bits that the exponential is made for.
template <class X, class T>
KOKKOS_FORCEINLINE_FUNCTION T softmax_from_lse(T v, T lse) {
  // If 0 were returned here, nvcc would branch.
  const T difference = v == -Kokkos::Experimental::infinity_v<T> ? v : v - lse;
  return ExpForResult<X, T>::of_difference(difference);
}

}  // namespace KokkosSoftmax::Impl

#endif
