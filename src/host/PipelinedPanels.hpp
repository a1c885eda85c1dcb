// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELS_HPP

/// \file
/// Rows that lie side by side, in panels of a few vectors, three panels at a time: while the
/// exponentials of a panel are computed, the next one is read into a buffer, and the one before is
/// written. See PipelinedRows.

#include <host/PanelLines.hpp>
#include <host/PanelPrefetch.hpp>
#include <host/PipelinedRows.hpp>
#include <host/Processor.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// How the results of a panel are written.
enum class PanelStores {
  cached,         // through the caches
  streamed,       // past the caches; the columns are whole cache lines of y
  streamed_lines  // past the caches, in lines that can have rows of two panels: see PanelLines
};

/// \tparam vectors  of a panel; a cache line each if vectors have 64 bytes
template <class Op, class Values, class L, int vectors, PanelStores stores, class Job>
class PipelinedPanels {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template ExpOfShifted<L>;
  using Output = typename Op::template Output<L>;
  using Lines = PanelLines<Op, L, vectors, Y>;
  static constexpr bool in_lines = stores == PanelStores::streamed_lines;
  static constexpr std::int64_t panel_rows = vectors * L::width;
  static constexpr std::int64_t rows_before = in_lines ? Lines::rows_before : 0;
  /// From a column that is kept to the next one.
  static constexpr std::int64_t kept_stride = rows_before + panel_rows;
  /// The exponentials that are added up before they are added to the sum with compensation.
  static constexpr std::int64_t block_columns = 16;

 public:
  explicit PipelinedPanels(const Job& job)
      : m_job(job),
        m_values(job.factors),
        m_kept(job.buffer + rows_before),
        m_kept_of_others(m_kept + host_panel_distance<T>) {}

  /// Whether panels of so many columns are computed. The buffer holds longer ones only in part.
  static constexpr bool takes(std::int64_t columns) {
    const std::int64_t bytes = columns * kept_stride * static_cast<std::int64_t>(sizeof(T));
    if constexpr (!in_lines) return bytes <= host_panel_bytes;
    // Reading longer rows twice takes less time than keeping them beyond the second-level cache
    // (measured on AMD's Zen 4; docs/trials.md). An entry of log_softmax needs one exponential,
    // also if it is read twice.
    constexpr std::int64_t unit = 20 * 1024;
    if constexpr (!Op::keeps_exponentials)
      return bytes <= unit * static_cast<std::int64_t>(sizeof(T));
    return bytes <= (sizeof(T) == sizeof(float) ? 8 * unit : host_panel_bytes_of_lines);
  }

  /// Computes all whole panels; returns the number of their rows.
  std::int64_t run() {
    const std::int64_t end = m_job.rows / panel_rows * panel_rows;
    if (end == 0) return 0;
    read_first();
    with_far_prefetches([&]<PrefetchTo level>() { compute_until<level>(end); });
    begin_panel();
    write_last(end - panel_rows);
    return end;
  }

 private:
  void begin_panel() {
    for (int k = 0; k < vectors; ++k) {
      m_states[k].max = m_largest[k];
      m_states[k].reference = Exp::reference(m_largest[k]);
    }
    T* const kept = m_kept;
    m_kept = m_kept_of_others;
    m_kept_of_others = kept;
    if constexpr (Op::keeps_exponentials) subtract_shifts();
  }
  /// Subtracts the shifts from the values of the panel. They are seldom other than 0.
  void subtract_shifts() {
    V shifts[vectors];
    bool are_zero = true;
    for (int k = 0; k < vectors; ++k) {
      shifts[k] = Exp::shift_of(m_states[k].reference);
      are_zero = are_zero && !any(shifts[k] != T(0));
    }
    if (are_zero) [[likely]]
      return;
    T* v = m_kept;
    for (std::int64_t c = 0; c < m_job.columns; ++c, v += kept_stride)
      for (int k = 0; k < vectors; ++k)
        L::store(v + k * L::width, L::load(v + k * L::width) - shifts[k]);
  }
  template <PrefetchTo level>
  void compute_until(std::int64_t end) {
    for (std::int64_t r = 0; r < end; r += panel_rows) {
      begin_panel();
      const std::int64_t next = r + panel_rows < end ? r + panel_rows : r;
      if (r == 0)
        compute<level, false>(r, next);
      else
        compute<level, true>(r, next);
      end_panel(r);
    }
  }
  void end_panel(std::int64_t r) {
    for (int k = 0; k < vectors; ++k) {
      m_states[k].sum = end_sum<Op, L>(m_states[k].max, m_sums[k].value());
      write_beside(m_job, r + k * L::width, m_states[k], L::width);
      Output(m_states[k], m_job.zero_empty_rows).get(m_output[k]);
    }
    if constexpr (in_lines) m_lines.begin_panel(m_output);
  }

  void read_first() {
    V largest[vectors];
    for (V& max : largest) max = L::splat(-NumberTraits<T>::infinity);
    const X* x = m_job.x;
    T* to = m_kept_of_others;
    for (std::int64_t c = 0; c < m_job.columns;
         ++c, x += m_job.x_column_stride, to += kept_stride) {
      if constexpr (in_lines) Lines::begin(to);
      for (int k = 0; k < vectors; ++k)
        keep(m_values(L::load(x + k * L::width)), to + k * L::width, largest[k]);
    }
    for (int k = 0; k < vectors; ++k) m_largest[k] = largest[k];
  }
  void write_last(std::int64_t r) {
    auto* y = m_job.y + r;
    const T* from = m_kept_of_others;
    for (std::int64_t c = 0; c < m_job.columns;
         ++c, y += m_job.y_column_stride, from += kept_stride) {
      V results[vectors];
      get(m_output, y, from, results);
      for (int k = 0; k < vectors; ++k) write(y, from, k, results[k]);
      if constexpr (in_lines) m_lines.write_end(y, from);
    }
  }

  /// Computes the panel at row r, reads the one at row `next`, and writes the one before.
  template <PrefetchTo level, bool writes>
  void compute(std::int64_t r, std::int64_t next) {
    const X* x = m_job.x + next;
    PanelPrefetch<level, L, vectors, in_lines, X> ahead(x, m_job.columns, m_job.x_column_stride);
    auto* y = m_job.y + r - panel_rows;
    T* kept = m_kept;
    T* other = m_kept_of_others;
    // Copies of members stay in registers, where stores through pointers don't change them.
    typename Exp::Parameters exps[vectors];
    typename Output::Parameters output[vectors];
    V largest[vectors];
    for (int k = 0; k < vectors; ++k) {
      Exp(m_states[k].reference).get(exps[k]);
      Output(m_output[k]).get(output[k]);
      m_sums[k] = VectorSum<L>();
      largest[k] = L::splat(-NumberTraits<T>::infinity);
    }
    for (std::int64_t c = 0; c < m_job.columns;) {
      V sums[vectors] = {};
      for (const std::int64_t end = smaller(c + block_columns, m_job.columns); c < end; ++c) {
        ahead.begin_column();
        V results[vectors];
        if constexpr (writes) get(output, y, other, results);
        if constexpr (writes && in_lines) Lines::keep_end(other, kept);
#pragma GCC unroll 8
        for (int k = 0; k < vectors; ++k) {
          ahead.line_at(k);
          // loads before stores: see distance_in_page()
          const V read = L::load(x + k * L::width);
          const V v = L::load(kept + k * L::width);
          if constexpr (writes) write(y, other, k, results[k]);
          keep(m_values(read), other + k * L::width, largest[k]);
          if constexpr (Op::keeps_exponentials) {
            const V e = Exp(exps[k])(v);
            L::store(kept + k * L::width, e);
            sums[k] += e;
          } else {
            Exp(exps[k]).add(sums[k], v);
          }
        }
        x += m_job.x_column_stride;
        ahead.end_column();
        y += m_job.y_column_stride;
        kept += kept_stride;
        other += kept_stride;
      }
      for (int k = 0; k < vectors; ++k) m_sums[k].add(sums[k]);
    }
    for (int k = 0; k < vectors; ++k) m_largest[k] = largest[k];
  }

  KOKKOSSOFTMAX_HOST_FUNCTION static void keep(V v, T* to, V& largest) {
    largest = larger(v, largest);
    L::store(to, v);
  }
  /// The results of a column, the vectors of which write() writes.
  KOKKOSSOFTMAX_HOST_FUNCTION void get(const typename Output::Parameters (&output)[vectors],
                                       const Y* y, const T* kept, V (&results)[vectors]) const {
    if constexpr (in_lines)
      m_lines.get(y, kept, results);
    else
      for (int k = 0; k < vectors; ++k)
        results[k] = Output(output[k])(L::load(kept + k * L::width));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION void write(Y* y, const T* kept, int k, V v) const {
    if constexpr (in_lines)
      m_lines.write(y, kept, k, v);
    else if constexpr (stores == PanelStores::streamed)
      L::stream_to(y + k * L::width, v);
    else
      L::store(y + k * L::width, v);
  }

  const Job& m_job;
  Values m_values;
  LaneStates<L> m_states[vectors]{};
  typename Output::Parameters m_output[vectors];
  V m_largest[vectors]{};
  VectorSum<L> m_sums[vectors];
  Lines m_lines;
  T* m_kept;            // of the panel that is computed
  T* m_kept_of_others;  // of the one before; values of the next one replace it
};

/// Computes the first rows of a job in panels if what is kept of a panel isn't too large. Returns
/// their number, which may be 0. The number of vectors is the one that was the fastest on AMD's
/// Zen 4. Other processors were not measured. Half types are left out because they take long to
/// compile.
template <class Op, class Values, class L, class Job>
std::int64_t pipelined_panels(const Job& job) {
  if constexpr (Op::writes_entries && sizeof(typename Job::X) >= 4) {
    if (!is_amd()) return 0;
    const auto run = [&]<PanelStores stores>() -> std::int64_t {
      using Panels = PipelinedPanels<Op, Values, L, 4, stores, Job>;
      return Panels::takes(job.columns) ? Panels(job).run() : 0;
    };
    if (!job.streams) return run.template operator()<PanelStores::cached>();
    constexpr std::int64_t line = 64 / sizeof(typename Job::Y);
    if (job.y_column_stride % line == 0 && to_cache_line(job.y) == 0)
      return run.template operator()<PanelStores::streamed>();
    return run.template operator()<PanelStores::streamed_lines>();
  }
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
