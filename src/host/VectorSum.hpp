// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_VECTORSUM_HPP
#define KOKKOSSOFTMAX_SRC_HOST_VECTORSUM_HPP

#include <host/Vector.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// A sum per element that also accumulates what rounding drops from it (Kahan, CACM 8 (1965) 40).
template <class L>
class VectorSum {
  using T = typename L::T;
  using V = typename L::V;

 public:
  VectorSum() = default;
  KOKKOSSOFTMAX_HOST_FUNCTION VectorSum(V sum, V dropped) : m_sum(sum), m_dropped(dropped) {}

  KOKKOSSOFTMAX_HOST_FUNCTION void add(V term) {
    term -= m_dropped;
    const V sum = m_sum + term;
    const V dropped = (sum - m_sum) - term;
    m_dropped = dropped - dropped == V{} ? dropped : V{};  // an infinite sum drops nothing
    m_sum = sum;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void multiply(V factor) {
    m_sum *= factor;
    m_dropped *= factor;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION V value() const { return m_sum; }
  KOKKOSSOFTMAX_HOST_FUNCTION V dropped() const { return m_dropped; }

 private:
  V m_sum{};
  V m_dropped{};
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
