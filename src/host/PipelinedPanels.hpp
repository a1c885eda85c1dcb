// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDPANELS_HPP

/// \file
/// Rows that lie side by side, in panels of a few vectors, two panels at a time: while a panel is
/// read and its exponentials are computed, the one before is written.

#include <host/PanelLines.hpp>
#include <host/PanelPrefetch.hpp>
#include <host/Processor.hpp>
#include <host/VectorSum.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// How the results of a panel are written.
enum class PanelStores {
  cached,         // through the caches
  streamed,       // past the caches; the columns are whole cache lines of y
  streamed_lines  // past the caches, in lines that can have rows of two panels: see PanelLines
};

/// The entries of a panel are read once. So the references of its exponentials are chosen before
/// its largest entries are known: they follow from its first columns. If a later entry exceeds its
/// row's reference too much, which is rare, the exponentials are computed a second time.
///
/// \tparam vectors  of a panel
template <class Op, class Values, class L, int vectors, PanelStores stores, class Job>
class PipelinedPanels {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  /// What entries can exceed their reference by. Sums of 2^31 exponentials are finite, and the
  /// terms of ExpForSum have errors of two units in the last place, as kept exponentials have.
  static constexpr int most_above_reference = !Op::keeps_exponentials      ? 16
                                              : sizeof(T) == sizeof(float) ? 60
                                                                           : 600;
  using ExpForLogSoftmax = ExpForSum<L, most_above_reference>;
  using Exp = std::conditional_t<Op::keeps_exponentials, ExpOfShifted<L>, ExpForLogSoftmax>;
  using ExpForAnyReference =
      std::conditional_t<Op::keeps_exponentials, ExpAccurate<L>, ExpForLogSoftmax>;
  using Output = typename Op::template Output<L>;
  using Lines = PanelLines<Op, L, vectors, Y>;
  static constexpr bool in_lines = stores == PanelStores::streamed_lines;
  static constexpr std::int64_t panel_rows = vectors * L::width;
  static constexpr std::int64_t rows_before = in_lines ? Lines::rows_before : 0;
  /// From a column that is kept to the next one.
  static constexpr std::int64_t kept_stride = rows_before + panel_rows;
  /// The exponentials that are added up before they are added to the sum with compensation.
  static constexpr std::int64_t block_columns = 16;
  /// The columns that the references follow from. log_softmax has more, because its entries may
  /// exceed their references by less.
  static constexpr std::int64_t first_columns = Op::keeps_exponentials ? 4 : 32;

 public:
  explicit PipelinedPanels(const Job& job)
      : m_job(job), m_values(job.factors), m_kept(job.buffer + rows_before) {}

  /// The longest rows that are computed. Some longer ones, which the buffer holds, too, take less
  /// time if they are read twice: see docs/trials.md.
  static std::int64_t most_columns() { return is_amd() ? most_on_amd() : most_on_others(); }

  /// Computes all whole panels; returns the number of their rows.
  std::int64_t run() {
    const std::int64_t end = m_job.rows / panel_rows * panel_rows;
    if (end == 0) return 0;
    if constexpr (in_lines)
      for (std::int64_t c = 0; c < m_job.columns; ++c) Lines::begin(m_kept + c * kept_stride);
    choose_references(0);
    compute_alone(0);
    end_panel(0);
    with_far_prefetches([&]<PrefetchTo level>() { compute_from_second<level>(end); });
    write_last(end - panel_rows);
    return end;
  }

 private:
  static constexpr bool is_float = sizeof(T) == sizeof(float);
  static constexpr bool has_wide_vectors = sizeof(V) == 64;
  /// The entries of log_softmax need one exponential, also if they are read twice.
  static constexpr bool is_log = !Op::keeps_exponentials;
  /// The longest rows that the buffer holds.
  static constexpr std::int64_t most_of_buffer =
      (in_lines ? host_panel_bytes_of_lines : host_panel_bytes) /
      (kept_stride * static_cast<std::int64_t>(sizeof(T)));

  /// Measured on AMD's Zen 3 (vectors of 32 bytes) and Zen 4 (64 bytes).
  static constexpr std::int64_t most_on_amd() {
    if constexpr (stores == PanelStores::cached) return most_of_buffer;
    if constexpr (has_wide_vectors) {
      constexpr std::int64_t of_lines =
          is_log ? (is_float ? 256 : 512) : (is_float ? 512 : most_of_buffer);
      return in_lines ? of_lines : most_of_buffer;
    }
    if constexpr (is_log) return in_lines ? 32 : (is_float ? 64 : 128);
    return is_float ? (in_lines ? 200 : 256) : most_of_buffer;
  }
  /// Measured on Intel's Xeons with AVX-512.
  static constexpr std::int64_t most_on_others() {
    if constexpr (stores == PanelStores::cached) return 16;
    return in_lines && (is_log || is_float) ? 1024 : most_of_buffer;
  }

  template <PrefetchTo level>
  void compute_from_second(std::int64_t end) {
    for (std::int64_t r = panel_rows; r < end; r += panel_rows) {
      choose_references(r);
      compute<level, true, Exp>(r);
      end_panel(r);
    }
  }

  void choose_references(std::int64_t r) {
    V largest[vectors];
    for (V& max : largest) max = L::splat(-NumberTraits<T>::infinity);
    const X* x = m_job.x + r;
    const std::int64_t columns = smaller(first_columns, m_job.columns);
    for (std::int64_t c = 0; c < columns; ++c, x += m_job.x_column_stride)
      for (int k = 0; k < vectors; ++k)
        largest[k] = larger(m_values(L::load(x + k * L::width)), largest[k]);
    for (int k = 0; k < vectors; ++k) m_references[k] = Exp::reference(largest[k]);
  }

  void end_panel(std::int64_t r) {
    if (!fit_references()) [[unlikely]] {
      raise_references();
      compute_alone(r);
    }
    for (int k = 0; k < vectors; ++k) {
      const LaneStates<L> rows{m_largest[k], m_references[k],
                               end_sum<Op, L>(m_largest[k], m_sums[k].value())};
      Output(rows, m_job.zero_empty_rows).get(m_output[k]);
      if (m_job.lse.data != nullptr || m_job.max.data != nullptr)
        write_beside(m_job, r + k * L::width, near_max(rows), L::width);
    }
    if constexpr (in_lines) m_lines.begin_panel(m_output);
  }
  /// Whether the exponentials that Exp has computed are right.
  bool fit_references() const {
    bool fit = true;
    for (int k = 0; k < vectors; ++k) {
      fit = fit && !any(exceed_references(k));
      if constexpr (Op::keeps_exponentials)
        fit = fit && !any(Exp::shift_of(m_references[k]) != T(0));
    }
    return fit;
  }
  /// The results of a row depend on its own entries alone, so that other references stay the same.
  void raise_references() {
    for (int k = 0; k < vectors; ++k)
      m_references[k] = exceed_references(k) ? Exp::reference(m_largest[k]) : m_references[k];
  }
  auto exceed_references(int k) const {
    return m_largest[k] > m_references[k] + T(most_above_reference);
  }
  /// The same states with references near the largest values, to which the logarithms of the sums
  /// are then added without cancellation.
  static LaneStates<L> near_max(const LaneStates<L>& rows) {
    const V reference = Exp::reference(rows.max);
    const V factor = ExpForSum<L>::of_at_most_one(rows.reference - reference);
    return {rows.max, reference, rows.reference == reference ? rows.sum : rows.sum * factor};
  }

  /// Computes the panel at row r for any references, while none is written.
  void compute_alone(std::int64_t r) {
    compute<PrefetchTo::second_level, false, ExpForAnyReference>(r);
  }
  /// Computes the panel at row r, and writes the one before. Not inlined: GCC 12 then has enough
  /// registers for the loop.
  template <PrefetchTo level, bool writes, class ExpOfPanel>
  [[gnu::noinline]] void compute(std::int64_t r) {
    const X* x = m_job.x + r;
    PanelPrefetch<level, L, vectors, in_lines, X> ahead(x, m_job.columns, m_job.x_column_stride);
    [[maybe_unused]] Y* y = writes ? m_job.y + (r - panel_rows) : nullptr;
    T* kept = m_kept;
    // Copies of members can stay in registers, where stores through pointers don't change them.
    typename ExpOfPanel::Parameters exps[vectors];
    Parameters output;
    V largest[vectors];
    for (int k = 0; k < vectors; ++k) {
      ExpOfPanel(m_references[k]).get(exps[k]);
      Output(m_output[k]).get(output[k]);
      m_sums[k] = VectorSum<L>();
      largest[k] = L::splat(-NumberTraits<T>::infinity);
    }
    for (std::int64_t c = 0; c < m_job.columns;) {
      V sums[vectors] = {};
      for (const std::int64_t end = smaller(c + block_columns, m_job.columns); c < end; ++c) {
        ahead.begin_column();
        ColumnWriter<writes> writer(m_lines, output, y, kept);
#pragma GCC unroll 8
        for (int i = 0; i < vectors; ++i) {
          const int k = in_lines ? vectors - 1 - i : i;
          ahead.line_at(k);
          const V v = m_values(L::load(x + k * L::width));
          writer.write(k);
          largest[k] = larger(v, largest[k]);
          if constexpr (Op::keeps_exponentials) {
            const V e = ExpOfPanel(exps[k])(v);
            L::store(kept + k * L::width, e);
            sums[k] += e;
          } else {
            L::store(kept + k * L::width, v);
            ExpOfPanel(exps[k]).add(sums[k], v);
          }
        }
        writer.end();
        x += m_job.x_column_stride;
        ahead.end_column();
        if constexpr (writes) y += m_job.y_column_stride;
        kept += kept_stride;
      }
      for (int k = 0; k < vectors; ++k) m_sums[k].add(sums[k]);
    }
    for (int k = 0; k < vectors; ++k) m_largest[k] = largest[k];
  }

  void write_last(std::int64_t r) {
    Y* y = m_job.y + r;
    T* kept = m_kept;
    for (std::int64_t c = 0; c < m_job.columns;
         ++c, y += m_job.y_column_stride, kept += kept_stride) {
      ColumnWriter<true> writer(m_lines, m_output, y, kept);
      for (int i = 0; i < vectors; ++i) writer.write(in_lines ? vectors - 1 - i : i);
      if constexpr (in_lines) m_lines.write_end(y, kept);
    }
  }

  /// Writes a column of the panel before: write(k) writes vector k, whose place in `kept` may be
  /// replaced then.
  using Parameters = typename Output::Parameters[vectors];
  struct NoColumnWriter {
    KOKKOSSOFTMAX_HOST_FUNCTION NoColumnWriter(const Lines&, const Parameters&, Y*, T*) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void write(int) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void end() {}
  };
  class VectorsWriter {
   public:
    KOKKOSSOFTMAX_HOST_FUNCTION VectorsWriter(const Lines&, const Parameters& output, Y* y,
                                              const T* kept)
        : m_output(output), m_y(y), m_kept(kept) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void write(int k) {
      const V v = Output(m_output[k])(L::load(m_kept + k * L::width));
      if constexpr (stores == PanelStores::streamed)
        L::stream_to(m_y + k * L::width, v);
      else
        L::store(m_y + k * L::width, v);
    }
    KOKKOSSOFTMAX_HOST_FUNCTION void end() {}

   private:
    const Parameters& m_output;
    Y* m_y;
    const T* m_kept;
  };
  /// Last vectors first.
  class LinesWriter {
   public:
    KOKKOSSOFTMAX_HOST_FUNCTION LinesWriter(const Lines& lines, const Parameters&, Y* y, T* kept)
        : m_column(lines, y, kept) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void write(int k) { m_column.write(k); }
    KOKKOSSOFTMAX_HOST_FUNCTION void end() { m_column.keep_end(); }

   private:
    typename Lines::Column m_column;
  };
  template <bool writes>
  using ColumnWriter = std::conditional_t<!writes, NoColumnWriter,
                                          std::conditional_t<in_lines, LinesWriter, VectorsWriter>>;

  const Job& m_job;
  Values m_values;
  // of the panel that is computed:
  V m_references[vectors]{};
  V m_largest[vectors]{};
  VectorSum<L> m_sums[vectors];
  // of the panel before:
  Parameters m_output{};
  Lines m_lines;
  T* m_kept;  // what is computed of a panel replaces what is written of the one before
};

/// The vectors of a panel. A panel has 256 bytes of each column if vectors have 32 or 64 bytes:
/// with 128 bytes, streamed stores take twice as long on AMD's Zen 3 (docs/trials.md). 256 bytes
/// were the fastest on Zen 4, too.
template <class L>
inline constexpr int panel_vectors = sizeof(typename L::V) < 32
                                         ? 8
                                         : 256 / static_cast<int>(sizeof(typename L::V));

/// The same if columns begin at the same place of a page, except on AMD's processors: panels have 1
/// KB of each column. 256 bytes take up to 1.8 times as long there (docs/trials.md).
inline constexpr int high_panel_vectors = 16;
inline constexpr std::int64_t least_columns_of_high_panels = 128;

template <class Job>
bool has_high_panels(const Job& job) {
  constexpr std::int64_t page = 4096;
  const std::int64_t stride = job.x_column_stride * sizeof(typename Job::X);
  return !is_amd() && job.columns >= least_columns_of_high_panels && stride % page == 0;
}

/// Computes the first rows of a job in panels if what is kept of a panel isn't too large. Returns
/// their number, which may be 0. Half types are left out because they take long to compile.
template <class Op, class Values, class L, class Job>
std::int64_t pipelined_panels(const Job& job) {
  if constexpr (Op::writes_entries && sizeof(typename Job::X) >= 4) {
    // Shorter vectors were not measured on processors of others than AMD.
    if (sizeof(typename L::V) < 64 && !is_amd()) return 0;
    const auto run = [&]<PanelStores stores, int vectors = panel_vectors<L>>()->std::int64_t {
      using Panels = PipelinedPanels<Op, Values, L, vectors, stores, Job>;
      return job.columns <= Panels::most_columns() ? Panels(job).run() : 0;
    };
    if (!job.streams) return run.template operator()<PanelStores::cached>();
    constexpr std::int64_t line = 64 / sizeof(typename Job::Y);
    const bool in_lines = job.y_column_stride % line != 0 || to_cache_line(job.y) != 0;
    if (in_lines) return run.template operator()<PanelStores::streamed_lines>();
    if constexpr (sizeof(typename L::V) == 64)
      if (has_high_panels(job))
        return run.template operator()<PanelStores::streamed, high_panel_vectors>();
    return run.template operator()<PanelStores::streamed>();
  }
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
