// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_ROWREDUCTION_HPP
#define KOKKOSSOFTMAX_SRC_HOST_ROWREDUCTION_HPP

/// \file
/// The state of a contiguous row or of some of its columns, in one pass.

#include <host/Operations.hpp>
#include <host/Prefetch.hpp>
#include <host/VectorSum.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// exp(from - to); 1 if both are the same infinity.
template <class T>
double rescale_factor(T from, T to) {
  return from == to ? 1.0 : __builtin_exp(static_cast<double>(from) - static_cast<double>(to));
}

/// Adds up the exponentials of a row, block after block. The reference stays the same until an
/// entry exceeds it by more than 1, see OnlineSum (team/OnlineSum.hpp).
///
/// \tparam keep  whether the exponentials are written to a buffer
template <class Op, class Values, class L, bool keep>
class RowReduction {
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template Exp<L>;
  static constexpr int accumulators = 4;

 public:
  /// The columns of a block: each element of each accumulator adds up 16 exponentials.
  static constexpr int block_columns = 16 * accumulators * L::width;

  /// With each line of x, prefetches the line `ahead` bytes behind it.
  KOKKOSSOFTMAX_HOST_FUNCTION explicit RowReduction(const Values& values,
                                                    std::int64_t ahead = far_ahead)
      : m_values(values), m_ahead(ahead) {}

  /// The same for a row the largest entries of whose first block are known, see largest().
  KOKKOSSOFTMAX_HOST_FUNCTION RowReduction(const Values& values, V max, std::int64_t ahead)
      : m_values(values), m_ahead(ahead) {
    raise_to(max);
    m_is_started = true;
  }

  /// In each lane, the largest of some of the first n entries; together all of them.
  template <class X>
  KOKKOSSOFTMAX_HOST_FUNCTION static V largest(const Values& values, const X* x, int n,
                                               std::int64_t ahead) {
    V max[accumulators];
    for (V& m : max) m = L::splat(-NumberTraits<T>::infinity);
    for_each_vector(values, x, n, ahead,
                    [&](int k, int, V v) KOKKOSSOFTMAX_HOST_LAMBDA { max[k] = larger(v, max[k]); });
    for (int k = 1; k < accumulators; ++k) max[0] = larger(max[0], max[k]);
    return max[0];
  }

  /// Adds `columns` entries, at most block_columns. All blocks of a row except the last one have
  /// block_columns.
  ///
  /// Calls meanwhile() once per whole vector, so that other work overlaps.
  template <class X, class Meanwhile>
  KOKKOSSOFTMAX_HOST_FUNCTION void add(const X* x, std::int64_t columns, T* kept,
                                       const Meanwhile& meanwhile) {
    const int n = static_cast<int>(columns);
    if (m_blocks == 0 && !m_is_started) raise_to(largest(m_values, x, n, m_ahead));
    Terms terms = sum_of_exp(x, n, kept, meanwhile);
    if (any(terms.max > m_reference + T(1))) {
      raise_to(terms.max);
      terms = sum_of_exp(x, n, kept, [] {});
    }
    m_max = terms.max;
    m_sum.add(terms.sum);
    if constexpr (keep) m_references[m_blocks % max_blocks] = m_reference[0];
    ++m_blocks;
  }

  KOKKOSSOFTMAX_HOST_FUNCTION T reference() const { return m_reference[0]; }
  /// The sum, divided over the lanes.
  KOKKOSSOFTMAX_HOST_FUNCTION V sums() const { return m_sum.value(); }

  /// The state, the same in all lanes.
  KOKKOSSOFTMAX_HOST_FUNCTION LaneStates<L> lane_states() const {
    const V max = L::splat(L::max(m_max));
    return {max, m_reference, end_sum<Op, L>(max, L::splat(L::sum(m_sum.value())))};
  }
  HostState<T> state() const {
    const LaneStates<L> row = lane_states();
    return {row.max[0], m_reference[0], static_cast<double>(row.sum[0])};
  }

  /// Makes all exponentials in the buffer relative to the last reference.
  void rescale(T* kept, std::int64_t columns) const requires keep {
    for (std::int64_t b = 0; b < m_blocks; ++b) {
      if (m_references[b] == m_reference[0]) continue;
      const T factor = static_cast<T>(rescale_factor<T>(m_references[b], m_reference[0]));
      const std::int64_t first = b * block_columns;
      for (int i = 0; i < block_columns && first + i < columns; ++i) kept[first + i] *= factor;
    }
  }

 private:
  static constexpr int max_blocks = keep ? span_columns / block_columns : 1;

  struct Terms {
    V sum;
    V max;  // of all entries so far
  };

  KOKKOSSOFTMAX_HOST_FUNCTION void raise_to(V max) {
    const V reference = Exp::reference(L::splat(L::max(max)));
    if (m_blocks > 0)
      m_sum.multiply(L::splat(static_cast<T>(rescale_factor(m_reference[0], reference[0]))));
    m_reference = reference;
  }

  template <class X, class Meanwhile>
  KOKKOSSOFTMAX_HOST_FUNCTION Terms sum_of_exp(const X* x, int n, [[maybe_unused]] T* kept,
                                               const Meanwhile& meanwhile) const {
    const std::conditional_t<keep, Exp, ExpForSum<L>> exp(m_reference);
    V sum[accumulators] = {};
    V max[2] = {m_max, m_max};
    for_each_vector(m_values, x, n, m_ahead,
                    [&](int k, [[maybe_unused]] int i, V v) KOKKOSSOFTMAX_HOST_LAMBDA {
                      max[k % 2] = larger(v, max[k % 2]);
                      if constexpr (keep) {
                        const V e = exp(v);
                        L::store(kept + i, e);
                        sum[k] += e;
                      } else {
                        exp.add(sum[k], v);
                      }
                      meanwhile();
                    });
    return {(sum[0] + sum[1]) + (sum[2] + sum[3]), larger(max[0], max[1])};
  }

  /// f(accumulator, column, values of L::width columns); -inf beyond column n.
  ///
  /// For float and double, Intel's processors with AVX-512 take up to a tenth less time with
  /// prefetches into both levels (docs/trials.md). Half types, and AMD's processors, were not
  /// measured.
  template <class X, class F>
  KOKKOSSOFTMAX_HOST_FUNCTION static void for_each_vector(const Values& values, const X* x, int n,
                                                          std::int64_t ahead, const F& f) {
    if constexpr (sizeof(V) == 64 && sizeof(X) == sizeof(T))
      if (!is_amd()) return for_each_vector<PrefetchTo::both_levels>(values, x, n, ahead, f);
    with_far_prefetches([&]<PrefetchTo level>() KOKKOSSOFTMAX_HOST_LAMBDA {
      for_each_vector<level>(values, x, n, ahead, f);
    });
  }
  template <PrefetchTo level, class X, class F>
  KOKKOSSOFTMAX_HOST_FUNCTION static void for_each_vector(const Values& values, const X* x, int n,
                                                          std::int64_t ahead, const F& f) {
    int i = 0;
    for (; i + accumulators * L::width <= n; i += accumulators * L::width)
#pragma GCC unroll 4
      for (int k = 0; k < accumulators; ++k) {
        prefetch_far<level>(x + i + k * L::width, ahead);
        f(k, i + k * L::width, values(L::load(x + i + k * L::width)));
      }
    for (; i + L::width <= n; i += L::width) {
      prefetch_far<level>(x + i, ahead);
      f(0, i, values(L::load(x + i)));
    }
    if (i < n) {
      prefetch_far<level>(x + i, ahead);
      const FirstElements<T, L::width> rest(n - i);
      f(1, i, rest.select(values(rest.load(x + i)), L::splat(-NumberTraits<T>::infinity)));
    }
  }

  Values m_values;
  std::int64_t m_ahead;
  V m_max = L::splat(-NumberTraits<T>::infinity);
  V m_reference = L::splat(-NumberTraits<T>::infinity);
  VectorSum<L> m_sum;
  std::int64_t m_blocks = 0;
  bool m_is_started = false;
  T m_references[max_blocks];
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
