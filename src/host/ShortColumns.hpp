// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_SHORTCOLUMNS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_SHORTCOLUMNS_HPP

/// \file
/// Rows of few columns that lie side by side. Each vector of rows is read once: its values are kept
/// in the first-level cache until the rows are written.

#include <host/Panels.hpp>
#include <host/PipelinedPanelSums.hpp>
#include <host/PipelinedPanels.hpp>
#include <host/Prefetch.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The largest number of columns. If their distance is a power of two, all columns share the same
/// lines of a cache: with more columns, lines that are prefetched would be driven out before they
/// are used.
inline constexpr std::int64_t max_short_columns = 32;
/// The largest number if the vectors of y aren't whole cache lines, each of which would be written
/// in two parts.
inline constexpr std::int64_t max_short_columns_unaligned = 16;

template <class Op, class Values, class L, bool streams, class Job>
class ShortColumns {
  using X = typename Job::X;
  using Y = typename Job::Y;
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template Exp<L>;

 public:
  explicit ShortColumns(const Job& job) : m_job(job), m_values(job.factors) {}

  void run() const {
    std::int64_t j = 0;
    if constexpr (Op::writes_entries && streams) {
      j = smaller(to_cache_line(m_job.y), m_job.rows);
      some(0, j);
    }
    for (; j + L::width <= m_job.rows; j += L::width) rows_at(j, L::width, L{});
    some(j, m_job.rows);
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION void some(std::int64_t first, std::int64_t last) const {
    for (; first < last; first += L::width) {
      const int count = static_cast<int>(smaller(last - first, L::width));
      rows_at(first, count, FirstElements<T, L::width>(count));
    }
  }

  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION void rows_at(std::int64_t j, int count, const Access& access) const {
    alignas(64) V kept[max_short_columns];
    const int n = static_cast<int>(m_job.columns);
    LaneStates<L> rows{L::splat(-NumberTraits<T>::infinity), V{}, V{}};
    const X* x = m_job.x + j;
    for (int i = 0; i < n; ++i, x += m_job.x_column_stride) {
      prefetch_far<PrefetchTo::second_level>(x, 1024);
      kept[i] = m_values(access.load(x));
      rows.max = larger(kept[i], rows.max);
    }
    rows.reference = Exp::reference(rows.max);
    const Exp exp(rows.reference);
    V sums[4] = {};
    const auto add = [&](int c, V& sum) KOKKOSSOFTMAX_HOST_LAMBDA {
      if constexpr (Op::keeps_exponentials)
        sum += kept[c] = exp(kept[c]);
      else
        exp.add(sum, kept[c]);
    };
    int c = 0;
    for (; c + 4 <= n; c += 4)
      for (int k = 0; k < 4; ++k) add(c + k, sums[k]);
    for (; c < n; ++c) add(c, sums[0]);
    rows.sum = end_sum<Op, L>(rows.max, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    if constexpr (Op::writes_entries) {
      const typename Op::template Output<L> output(rows, m_job.zero_empty_rows);
      Y* y = m_job.y + j;
      for (int i = 0; i < n; ++i, y += m_job.y_column_stride) write(y, output(kept[i]), access);
      write_beside(m_job, j, rows, count);
    } else {
      const auto make_of_row = [&] {
        SumsBesideMax<L> sums;
        for (int i = 0; i < n; ++i) sums.add(written_value<L>(m_job.factors, kept[i]));
        return [sums](int lane) { return sums.log_sum_exp(lane); };
      };
      write_row_values<L>(m_job, j, log_sum_exps<Op, Job>(rows, count, make_of_row), count);
    }
  }

  KOKKOSSOFTMAX_HOST_FUNCTION static void write(Y* y, V v, L) {
    if constexpr (streams)
      L::stream_to(y, v);
    else
      L::store(y, v);
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static void write(Y* y, V v, const FirstElements<T, L::width>& some) {
    if constexpr (streams)
      some.store_in_parts(y, v);
    else
      some.store(y, v);
  }

  const Job& m_job;
  Values m_values;
};

template <class Op, class Values, class L, class Job>
void other_panels(const Job& job) {
  constexpr std::int64_t line = 64 / sizeof(typename Job::Y);
  const bool aligned = job.y_column_stride % line == 0;
  if (job.columns > (aligned ? max_short_columns : max_short_columns_unaligned))
    return wide_panels<Op, Values, L>(job);
  // A vector of results of a half type is half a cache line or less, and the next vector of the
  // same column is written much later.
  if constexpr (sizeof(typename Job::Y) == sizeof(typename L::T))
    if (job.streams && aligned) return ShortColumns<Op, Values, L, true, Job>(job).run();
  ShortColumns<Op, Values, L, false, Job>(job).run();
}

template <class Op, class Values, class L, class Job>
void panels(const Job& job) {
  const std::int64_t pipelined = Op::writes_entries ? pipelined_panels<Op, Values, L>(job)
                                                    : pipelined_panel_sums<Op, Values, L>(job);
  if (pipelined == job.rows) return;
  Job rest = job;
  rest.x += pipelined;
  rest.y += pipelined * (Op::writes_entries ? 1 : job.y_stride);
  rest.rows -= pipelined;
  skip_row_values(rest, pipelined);
  other_panels<Op, Values, L>(rest);
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
