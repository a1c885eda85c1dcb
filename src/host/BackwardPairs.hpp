// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_BACKWARDPAIRS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_BACKWARDPAIRS_HPP

/// \file
/// The entries of backward passes: dx_j = t_j - p_j * sum_k t_k, see row/BackwardSource.hpp.

#include <host/VectorExp.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// p and t of entries, from y and dy. `is_log`: y is the logarithm of p.
template <class L, bool is_log>
class Pairs {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit Pairs(T scale) : m_scale(L::splat(scale)), m_exp(V{}) {}

  KOKKOSSOFTMAX_HOST_FUNCTION V p(V y) const {
    if constexpr (is_log)
      return m_exp(y);
    else
      return y;
  }
  /// 0 for masked entries, whatever dy is.
  KOKKOSSOFTMAX_HOST_FUNCTION V t(V y, V dy) const {
    if constexpr (is_log)
      return y == -NumberTraits<T>::infinity ? V{} : m_scale * dy;
    else
      return y == T(0) ? V{} : m_scale * (y * dy);
  }
  /// dx, given p, t and the sum of t.
  KOKKOSSOFTMAX_HOST_FUNCTION V result(V p, V t, V sum) const {
    const V dx = multiply_add(-p, sum, t);
    if constexpr (is_log)
      return ((p == T(0)) & (t == T(0))) ? V{} : dx;
    else
      return p == T(0) ? V{} : dx;  // t is 0, too
  }

 private:
  V m_scale;
  ExpOfShifted<L> m_exp;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
