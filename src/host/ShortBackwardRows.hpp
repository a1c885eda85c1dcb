// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_SHORTBACKWARDROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_SHORTBACKWARDROWS_HPP

/// \file
/// Backward passes of contiguous rows of a few vectors, which are kept in registers until the row
/// is written.

#include <host/BackwardPairs.hpp>
#include <host/Jobs.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Rows of `vectors` vectors. They are streamed only if they are whole cache lines; see
/// with_streams().
///
/// \tparam is_whole  whether the last vector has as many elements as the others
template <class L, bool is_log, int vectors, bool is_whole, class X>
class ShortBackwardRows {
  using T = typename L::T;
  using V = typename L::V;
  using Job = HostBackwardJob<X, T>;

 public:
  explicit ShortBackwardRows(const Job& job)
      : m_pairs(job.scale),
        m_rest(static_cast<int>(job.columns) - (vectors - 1) * L::width),
        m_streams(job.streams) {}

  void run(const Job& job) const {
    const X* y = job.y;
    const X* dy = job.dy;
    X* dx = job.dx;
    for (std::int64_t r = job.rows; r > 0; --r) {
      compute(y, dy, dx);
      y += job.y_stride;
      dy += job.dy_stride;
      dx += job.dx_stride;
    }
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION void compute(const X* y, const X* dy, X* dx) const {
    V p[vectors], t[vectors], sum{};
    for (int k = 0; k < vectors; ++k) {
      const V y_k = load(y, k);
      p[k] = m_pairs.p(y_k);
      t[k] = m_pairs.t(y_k, load(dy, k));
      sum += t[k];
    }
    sum = L::reduce_in_all_lanes(sum, [](V a, V b) { return a + b; });
    for (int k = 0; k < vectors; ++k) store(dx, k, m_pairs.result(p[k], t[k], sum));
  }
  /// Elements behind a row are 0, and so is their t.
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const X* p, int k) const {
    return is_whole || k < vectors - 1 ? L::load(p + k * L::width) : m_rest.load(p + k * L::width);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void store(X* p, int k, V v) const {
    if (!is_whole && k == vectors - 1)
      m_rest.store(p + k * L::width, v);
    else if (is_whole && m_streams)
      L::stream_to(p + k * L::width, v);
    else
      L::store(p + k * L::width, v);
  }

  Pairs<L, is_log> m_pairs;
  FirstElements<T, L::width> m_rest;
  bool m_streams;
};

inline constexpr int max_vectors_of_short_backward_rows = 8;

/// Computes the rows of a job if they have at most `vectors` vectors; returns whether it did.
template <class L, bool is_log, int vectors = max_vectors_of_short_backward_rows, class X>
bool short_backward_rows(const HostBackwardJob<X, typename L::T>& job) {
  if constexpr (vectors == 0) {
    return false;
  } else {
    if (job.columns > vectors * L::width) return false;
    if (job.columns <= (vectors - 1) * L::width)
      return short_backward_rows<L, is_log, vectors - 1>(job);
    if (job.columns == vectors * L::width)
      ShortBackwardRows<L, is_log, vectors, true, X>(job).run(job);
    else
      ShortBackwardRows<L, is_log, vectors, false, X>(job).run(job);
    return true;
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
