// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_GRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_HOST_GRADIENT_HPP

/// \file
/// The gradients of operations with one number per row on a host, except for the entries of labels:
/// dx_j = factor * (exp(v_j - lse) - offset), see row/GradientArgs.hpp.

#include <host/Backward.hpp>
#include <host/Kernels.hpp>
#include <host/Operations.hpp>
#include <host/VectorExp.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class L>
class Gradient {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit Gradient(const HostFactors<T>& factors)
      : m_values(factors), m_exp(V{}) {}

  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V x, V lse, V factor, V offset) const {
    const V v = m_values(x);
    const V p = v == -NumberTraits<T>::infinity ? V{} : m_exp(v - lse);
    const V above = p - offset;
    return above == T(0) ? V{} : factor * above;
  }

 private:
  ScaledValues<L> m_values;
  ExpAccurate<L> m_exp;
};

template <class X>
struct GradientKernelsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using V = typename L::V;
  using Job = HostGradientJob<X, T>;

  static void rows(const Job& job) {
    const Gradient<L> gradient(job.factors);
    for (std::int64_t r = 0; r < job.rows; ++r) {
      const X* const x = job.x + r * job.x_stride;
      X* const dx = job.dx + r * job.dx_stride;
      const V lse = L::splat(job.lse[r]), factor = L::splat(job.factor[r]),
              offset = L::splat(job.offset[r]);
      std::int64_t c = 0;
      if (job.streams) {
        c = smaller(to_vector(dx), job.columns);
        const FirstElements<T, L::width> head(static_cast<int>(c));
        head.store(dx, gradient(head.load(x), lse, factor, offset));
        for (; c + L::width <= job.columns; c += L::width)
          L::stream_to(dx + c, gradient(L::load(x + c), lse, factor, offset));
      }
      for_each_vector<L>(c, job.columns,
                         [&](std::int64_t i, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                           access.store(dx + i, gradient(access.load(x + i), lse, factor, offset));
                         });
    }
    if (job.streams) end_streams();
  }

  static void panels(const Job& job) {
    const Gradient<L> gradient(job.factors);
    for (std::int64_t c = 0; c < job.columns; ++c) {
      const StridedRows<L, const X> x(job.x + c * job.x_column_stride, job.x_stride, job.rows);
      const StridedRows<L, X> dx(job.dx + c * job.dx_column_stride, job.dx_stride, job.rows);
      for_each_vector<L>(
          0, job.rows, [&](std::int64_t r, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
            dx.store(access, r,
                     gradient(x.load(access, r), access.load(job.lse + r),
                              access.load(job.factor + r), access.load(job.offset + r)));
          });
    }
  }

  static constexpr HostGradientKernels<X> all() { return {&rows, &panels}; }

 private:
  /// The number of elements from p to the next address at which a vector can be streamed.
  static std::int64_t to_vector(const X* p) {
    constexpr std::int64_t bytes = L::width * sizeof(X);
    return (bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(p) % bytes)) %
           bytes / static_cast<std::int64_t>(sizeof(X));
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
