// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_BACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_HOST_BACKWARD_HPP

/// \file
/// The kernels of backward passes on a host. Rows of a few vectors are in ShortBackwardRows.hpp,
/// strided rows in BackwardPanel.hpp, and the formulas in BackwardPairs.hpp.

#include <host/BackwardPairs.hpp>
#include <host/BackwardPanel.hpp>
#include <host/Kernels.hpp>
#include <host/Prefetch.hpp>
#include <host/RowReduction.hpp>
#include <host/ShortBackwardRows.hpp>
#include <host/StreamedRow.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// One contiguous row.
template <class L, bool is_log, class X>
class BackwardRow {
  using T = typename L::T;
  using V = typename L::V;

 public:
  /// `prefetches`: whether the next row is prefetched.
  KOKKOSSOFTMAX_HOST_FUNCTION BackwardRow(const HostBackwardJob<X, T>& job, std::int64_t r,
                                          const Pairs<L, is_log>& pairs, bool prefetches)
      : m_y(job.y + r * job.y_stride),
        m_dy(job.dy + r * job.dy_stride),
        m_dx(job.dx + r * job.dx_stride),
        m_streams(job.streams),
        m_prefetches(prefetches),
        m_next_y_in_sum(is_long(job) ? m_y + job.y_stride : m_y),
        m_next_y_in_write(is_long(job) ? m_y : m_y + job.y_stride),
        m_next_dy(m_dy + job.dy_stride),
        m_pairs(pairs) {}

  /// The sum of t of columns [first, last), divided over the lanes.
  KOKKOSSOFTMAX_HOST_FUNCTION V sum(std::int64_t first, std::int64_t last) const {
    VectorSum<L> all;
    std::int64_t c = first;
    for (; c + block <= last; c += block) all.add(sum_of_block(c, c + block));
    if (c < last) all.add(sum_of_block(c, last));
    return all.value();
  }

  /// Writes columns [first, last), given the sum of t of all columns.
  KOKKOSSOFTMAX_HOST_FUNCTION void write(std::int64_t first, std::int64_t last, T sum) const {
    const V all = L::splat(sum);
    const auto result = [&](std::int64_t c, const auto& access)
                            KOKKOSSOFTMAX_HOST_LAMBDA { return result_at(c, access, all); };
    if (m_streams)
      stream_columns<L>(m_dx, first, last, result);
    else
      for_each_vector<L>(first, last,
                         [&](std::int64_t c, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                           access.store(m_dx + c, result(c, access));
                         });
  }

 private:
  /// So many columns are added without compensation, in so many sums of vectors.
  static constexpr int accumulators = 4;
  static constexpr std::int64_t block = 8 * accumulators * L::width;

  /// Whether y of the next row is prefetched while this one is summed, and not while it is written.
  static bool is_long(const HostBackwardJob<X, T>& job) {
    constexpr std::int64_t most_bytes = 8192;  // measured on AMD's Zen 4 (docs/trials.md)
    return job.columns * static_cast<std::int64_t>(sizeof(X)) > most_bytes;
  }
  /// The sum of t of columns [first, last), at most a block.
  KOKKOSSOFTMAX_HOST_FUNCTION V sum_of_block(std::int64_t first, std::int64_t last) const {
    V partial[accumulators] = {};
    std::int64_t c = first;
    for (; c + accumulators * L::width <= last; c += accumulators * L::width)
      for (int a = 0; a < accumulators; ++a) {
        if (m_prefetches)
          prefetch_far<PrefetchTo::second_level>(m_next_y_in_sum + c + a * L::width, 0);
        partial[a] += t_at(c + a * L::width, L{});
      }
    for_each_vector<L>(c, last, [&](std::int64_t i, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
      partial[0] += t_at(i, access);
    });
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
  }
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION V result_at(std::int64_t c, const Access& access, V sum) const {
    if (m_prefetches) {
      prefetch_far<PrefetchTo::second_level>(m_next_y_in_write + c, 0);
      prefetch_far<PrefetchTo::second_level>(m_next_dy + c, 0);
    }
    const V y = access.load(m_y + c);
    return m_pairs.result(m_pairs.p(y), m_pairs.t(y, access.load(m_dy + c)), sum);
  }
  /// Elements that aren't loaded are 0, and so is their t.
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION V t_at(std::int64_t c, const Access& access) const {
    return m_pairs.t(access.load(m_y + c), access.load(m_dy + c));
  }

  const X* m_y;
  const X* m_dy;
  X* m_dx;
  bool m_streams;
  bool m_prefetches;
  // What is prefetched while this row is summed or written, so that memory is read and written at
  // the same time: y and dy of the next row. A pointer to y of this row has no effect.
  const X* m_next_y_in_sum;
  const X* m_next_y_in_write;
  const X* m_next_dy;
  Pairs<L, is_log> m_pairs;
};

template <class X>
struct BackwardKernelsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using Job = HostBackwardJob<X, T>;

  static void rows(const Job& job) {
    const bool is_beyond_cache = job.streams;
    with_streams(job, [is_beyond_cache](const Job& job, bool has_ends) {
      if (job.is_log)
        rows_of<true>(job, has_ends, is_beyond_cache);
      else
        rows_of<false>(job, has_ends, is_beyond_cache);
    });
  }
  static double sum(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last) {
    return L::sum(job.is_log ? row<true>(job, r).sum(first, last)
                             : row<false>(job, r).sum(first, last));
  }
  static void write(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                    double all) {
    if (job.is_log)
      row<true>(job, r).write(first, last, static_cast<T>(all));
    else
      row<false>(job, r).write(first, last, static_cast<T>(all));
    if (job.streams) end_streams();
  }
  static void sum_panel(const Job& job, std::int64_t first, std::int64_t last,
                        HostBackwardSums& sums) {
    with_backward_panel<L>(job, [&](auto&& panel) { panel.sum(first, last, sums); });
  }
  static void merge_panels(HostBackwardSums& into, const HostBackwardSums& from,
                           std::int64_t rows) {
    add_to(into, rows, [&](std::int64_t r) KOKKOSSOFTMAX_HOST_LAMBDA -> double {
      return from.sum[r] - from.dropped[r];
    });
  }
  static void write_panel(const Job& job, std::int64_t first, std::int64_t last,
                          const HostBackwardSums& sums) {
    with_backward_panel<L>(job, [&](auto&& panel) { panel.write(first, last, sums); });
    if (job.streams) end_streams();
  }

  static constexpr HostBackwardKernels<X> all() {
    return {&rows, &sum, &write, &sum_panel, &merge_panels, &write_panel};
  }

 private:
  using V = typename L::V;
  template <bool is_log>
  static BackwardRow<L, is_log, X> row(const Job& job, std::int64_t r) {
    return {job, r, Pairs<L, is_log>(job.scale), job.streams};
  }

  template <bool is_log>
  static void rows_of(const Job& job, bool has_ends, bool is_beyond_cache) {
    if (short_backward_rows<L, is_log>(job)) return;
    const Pairs<L, is_log> pairs(job.scale);
    for (std::int64_t r = 0; r < job.rows; ++r) {
      if (has_ends) prefetch_at(job.dx + r * job.dx_stride + job.columns);
      const BackwardRow<L, is_log, X> row(job, r, pairs, is_beyond_cache);
      row.write(0, job.columns, L::sum(row.sum(0, job.columns)));
    }
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
