// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELSUMS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELSUMS_HPP

/// \file
/// Log-sum-exps of rows that lie side by side, in panels of a few vectors: while the exponentials
/// of a panel are added up, the next one is read into a buffer.

#include <host/NearZero.hpp>
#include <host/PanelPrefetch.hpp>
#include <host/Processor.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// \tparam vectors  of a panel; a cache line each if vectors have 64 bytes
template <class Op, class Values, class L, int vectors, class Job>
class PipelinedPanelSums {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  static constexpr std::int64_t panel_rows = vectors * L::width;
  /// The exponentials that are added up before they are added to the sum with compensation.
  static constexpr std::int64_t block_columns = 16;
  static constexpr std::int64_t most_bytes =
      std::int64_t{1024} * (sizeof(T) == sizeof(float) ? 48 : 256);
  /// From a panel that is kept to the next one. They aren't at the same place within a page.
  static constexpr std::int64_t distance = (most_bytes + 2048) / sizeof(T);
  static_assert(2 * distance <= host_panel_buffer_size<T>);

 public:
  explicit PipelinedPanelSums(const Job& job)
      : m_job(job),
        m_values(job.factors),
        m_kept(job.buffer),
        m_kept_of_next(job.buffer + distance) {}

  /// Whether panels of so many columns are computed. Longer rows take less time in PanelReduction,
  /// which keeps no values (measured on AMD's Zen 5, and on Intel's Xeons with AVX-512). Processors
  /// of others than AMD with shorter vectors were not measured.
  static bool takes(std::int64_t columns) {
    constexpr std::int64_t most_on_amd = most_bytes / (panel_rows * sizeof(T));
    constexpr std::int64_t most_on_others =
        sizeof(V) == 64 ? (sizeof(T) == sizeof(float) ? 64 : 256) : 0;
    return columns <= (is_amd() ? most_on_amd : most_on_others);
  }

  /// Computes all whole panels; returns the number of their rows.
  std::int64_t run() {
    const std::int64_t end = m_job.rows / panel_rows * panel_rows;
    if (end == 0) return 0;
    with_far_prefetches([&]<PrefetchTo level>() {
      compute<level, false>(0);
      for (std::int64_t r = 0; r < end; r += panel_rows) {
        begin_panel();
        compute<level, true>(r + panel_rows < end ? r + panel_rows : r);
        finish(r);
      }
    });
    return end;
  }

 private:
  void begin_panel() {
    for (int k = 0; k < vectors; ++k) m_max[k] = m_largest_of_next[k];
    T* const kept = m_kept;
    m_kept = m_kept_of_next;
    m_kept_of_next = kept;
  }

  /// Adds up the exponentials of the panel that is kept, and reads the one at row `next`.
  ///
  /// \tparam adds  whether there is a panel that is kept
  template <PrefetchTo level, bool adds>
  void compute(std::int64_t next) {
    const X* x = m_job.x + next;
    PanelPrefetch<level, L, vectors, true, X> ahead(x, m_job.columns, m_job.x_column_stride);
    const T* kept = m_kept;
    T* to = m_kept_of_next;
    // Copies of members stay in registers, where stores through pointers don't change them.
    V max[vectors];
    V largest[vectors];
    for (int k = 0; k < vectors; ++k) {
      max[k] = m_max[k];
      m_sums[k] = VectorSum<L>();
      largest[k] = L::splat(-NumberTraits<T>::infinity);
    }
    for (std::int64_t c = 0; c < m_job.columns;) {
      V sums[vectors] = {};
      for (const std::int64_t end = smaller(c + block_columns, m_job.columns); c < end; ++c) {
        ahead.begin_column();
#pragma GCC unroll 8
        for (int k = 0; k < vectors; ++k) {
          ahead.line_at(k);
          const V v = m_values(L::load(x + k * L::width));
          if constexpr (adds) ExpForSum<L>(max[k]).add(sums[k], L::load(kept + k * L::width));
          largest[k] = larger(v, largest[k]);
          L::store(to + k * L::width, v);
        }
        ahead.end_column();
        x += m_job.x_column_stride;
        kept += panel_rows;
        to += panel_rows;
      }
      if constexpr (adds)
        for (int k = 0; k < vectors; ++k) m_sums[k].add(sums[k]);
    }
    for (int k = 0; k < vectors; ++k) m_largest_of_next[k] = largest[k];
  }

  /// Writes the results of the panel that is kept, which begins at row r.
  void finish(std::int64_t r) const {
    for (int k = 0; k < vectors; ++k) {
      const LaneStates<L> rows{m_max[k], m_max[k], end_sum<Op, L>(m_max[k], m_sums[k].value())};
      const auto make_of_row = [&] {
        SumsBesideMax<L> sums;
        for (std::int64_t c = 0; c < m_job.columns; ++c)
          sums.add(
              written_value<L>(m_job.factors, L::load(m_kept + c * panel_rows + k * L::width)));
        return [sums](int lane) { return sums.log_sum_exp(lane); };
      };
      write_row_values<L>(m_job, r + k * L::width,
                          log_sum_exps<Op, Job>(rows, L::width, make_of_row), L::width);
    }
  }

  const Job& m_job;
  Values m_values;
  V m_max[vectors]{};
  V m_largest_of_next[vectors]{};
  VectorSum<L> m_sums[vectors];
  T* m_kept;          // the values of the panel that is computed
  T* m_kept_of_next;  // and of the next one
};

/// Computes the first rows of a job in panels if what is kept of a panel isn't too large. Returns
/// their number, which may be 0. Half types are left out because they take long to compile.
template <class Op, class Values, class L, class Job>
std::int64_t pipelined_panel_sums(const Job& job) {
  using Panels = PipelinedPanelSums<Op, Values, L, 4, Job>;
  if constexpr (!Op::writes_entries && sizeof(typename Job::X) >= 4)
    if (Panels::takes(job.columns)) return Panels(job).run();
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
