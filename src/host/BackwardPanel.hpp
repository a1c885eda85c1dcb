// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_BACKWARDPANEL_HPP
#define KOKKOSSOFTMAX_SRC_HOST_BACKWARDPANEL_HPP

/// \file
/// Backward passes of rows of any strides, in panels of neighbouring rows.

#include <host/BackwardPairs.hpp>
#include <host/Jobs.hpp>
#include <host/PanelPrefetch.hpp>
#include <host/StreamedRow.hpp>
#include <host/StridedRows.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Adds term(r) to the sum of each row r, and keeps what rounding drops, see
/// numerics/CompensatedSum.hpp.
template <class Term>
KOKKOSSOFTMAX_HOST_FUNCTION void add_to(HostBackwardSums& sums, std::int64_t rows,
                                        const Term& term_of) {
  for (std::int64_t r = 0; r < rows; ++r) {
    const double term = term_of(r) - sums.dropped[r];
    const double sum = sums.sum[r] + term;
    const double dropped = (sum - sums.sum[r]) - term;
    sums.dropped[r] = dropped - dropped == 0 ? dropped : 0;  // an infinite sum drops nothing
    sums.sum[r] = sum;
  }
}

/// The rows of a job, which have any strides, each in a lane of a vector. The columns of a row are
/// added one after another, so that the result depends neither on the strides nor on the number of
/// rows.
///
/// \tparam side_by_side  whether the rows lie side by side in all arrays
template <class L, bool is_log, bool side_by_side, class X>
class BackwardPanel {
  using T = typename L::T;
  using V = typename L::V;
  using Job = HostBackwardJob<X, T>;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit BackwardPanel(const Job& job)
      : m_job(job), m_lanes((job.rows + L::width - 1) / L::width * L::width), m_pairs(job.scale) {}

  /// The sums of t of columns [first, last).
  void sum(std::int64_t first, std::int64_t last, HostBackwardSums& sums) {
    for (std::int64_t i = 0; i < m_lanes; ++i) sums.sum[i] = sums.dropped[i] = 0;
    for (std::int64_t c = first; c < last; c += block) {
      add(c, smaller(c + block, last));
      add_to(sums, m_lanes,
             [&](std::int64_t i) KOKKOSSOFTMAX_HOST_LAMBDA -> double { return m_of_row[i]; });
    }
  }

  /// Writes columns [first, last), given the sums of all columns. The last ones, which were read
  /// last, are the first.
  void write(std::int64_t first, std::int64_t last, const HostBackwardSums& sums) {
    for (std::int64_t i = 0; i < m_lanes; ++i) m_of_row[i] = static_cast<T>(sums.sum[i]);
    const bool has_ends = !are_whole_lines(m_job.dx, m_job.dx_column_stride, m_job.rows);
    const bool is_cached = bytes_of_inputs() <= cached_bytes;
    for (std::int64_t c = last - 1; c >= first; --c) {
      if (side_by_side && !is_cached) prefetch(c - panel_inputs_ahead, 0, m_job.rows);
      if (side_by_side && m_job.streams)
        stream(c, has_ends);
      else
        store(c);
    }
  }

 private:
  /// So many columns are added without compensation.
  static constexpr std::int64_t block = 16;
  /// The vectors of a column that are added together.
  static constexpr int group = 4;
  /// Inputs of so many bytes are still in the second-level cache when they are read again.
  static constexpr std::int64_t cached_bytes = 512 * 1024;

  std::int64_t bytes_of_inputs() const {
    return 2 * m_job.columns * m_job.rows * static_cast<std::int64_t>(sizeof(X));
  }

  /// Makes m_of_row the sums of columns [first, last).
  void add(std::int64_t first, std::int64_t last) {
    std::int64_t r = 0;
    for (; r + group * L::width <= m_job.rows; r += group * L::width)
      add_vectors<group>(r, first, last, L{});
    for_each_vector<L>(r, m_job.rows,
                       [&](std::int64_t j, const auto& access)
                           KOKKOSSOFTMAX_HOST_LAMBDA { add_vectors<1>(j, first, last, access); });
  }
  template <int vectors, class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION void add_vectors(std::int64_t r, std::int64_t first,
                                               std::int64_t last, const Access& access) {
    V sums[vectors] = {};
    for (std::int64_t c = first; c < last; ++c) {
      const auto y = y_at(c), dy = dy_at(c);
      if constexpr (side_by_side) {
        const PanelPlace ahead = place_ahead(c, r, m_job.columns, m_job.rows);
        prefetch(ahead.column, ahead.row, ahead.row + vectors * L::width);
      }
      for (int k = 0; k < vectors; ++k) {
        const std::int64_t row = r + k * L::width;
        sums[k] += m_pairs.t(y.load(access, row), dy.load(access, row));
      }
    }
    for (int k = 0; k < vectors; ++k) L::store(m_of_row + r + k * L::width, sums[k]);
  }
  /// Prefetches rows [first, last) of column c of y and dy.
  KOKKOSSOFTMAX_HOST_FUNCTION void prefetch(std::int64_t c, std::int64_t first,
                                            std::int64_t last) const {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(X));
    const X* const y = m_job.y + c * m_job.y_column_stride;
    const X* const dy = m_job.dy + c * m_job.dy_column_stride;
    for (std::int64_t r = first; r < last; r += line) {
      prefetch_far<PrefetchTo::second_level>(y + r, 0);
      prefetch_far<PrefetchTo::second_level>(dy + r, 0);
    }
  }
  void stream(std::int64_t c, bool has_ends) const {
    X* const dx = m_job.dx + c * m_job.dx_column_stride;
    if (has_ends) prefetch_ends(dx - panel_ends_ahead * m_job.dx_column_stride, m_job.rows);
    stream_columns<L>(dx, 0, m_job.rows, results_of(c));
  }
  void store(std::int64_t c) const {
    const StridedRows<L, side_by_side, X> dx(m_job.dx + c * m_job.dx_column_stride, m_job.dx_stride,
                                             m_job.rows);
    const auto result = results_of(c);
    for_each_vector<L>(0, m_job.rows,
                       [&](std::int64_t r, const auto& access)
                           KOKKOSSOFTMAX_HOST_LAMBDA { dx.store(access, r, result(r, access)); });
  }
  /// A function of a row and an access: dx in column c.
  KOKKOSSOFTMAX_HOST_FUNCTION auto results_of(std::int64_t c) const {
    return [this, y = y_at(c), dy = dy_at(c)](std::int64_t r, const auto& access)
               KOKKOSSOFTMAX_HOST_LAMBDA {
                 const V y_of_row = y.load(access, r);
                 return m_pairs.result(m_pairs.p(y_of_row), m_pairs.t(y_of_row, dy.load(access, r)),
                                       L::load(m_of_row + r));
               };
  }

  using Inputs = StridedRows<L, side_by_side, const X>;
  KOKKOSSOFTMAX_HOST_FUNCTION Inputs y_at(std::int64_t c) const {
    return {m_job.y + c * m_job.y_column_stride, m_job.y_stride, m_job.rows};
  }
  KOKKOSSOFTMAX_HOST_FUNCTION Inputs dy_at(std::int64_t c) const {
    return {m_job.dy + c * m_job.dy_column_stride, m_job.dy_stride, m_job.rows};
  }

  const Job& m_job;
  std::int64_t m_lanes;  // of whole vectors
  Pairs<L, is_log> m_pairs;
  // the sums of a block, or of all columns; streamed lines can begin at any row
  alignas(64) T m_of_row[host_backward_panel_rows + L::width]{};
};

/// Calls f(panel of the rows of a job).
template <class L, class X, class F>
void with_backward_panel(const HostBackwardJob<X, typename L::T>& job, const F& f) {
  const auto call = [&]<bool is_log>() {
    if (job.y_stride == 1 && job.dy_stride == 1 && job.dx_stride == 1)
      f(BackwardPanel<L, is_log, true, X>(job));
    else
      f(BackwardPanel<L, is_log, false, X>(job));
  };
  if (job.is_log)
    call.template operator()<true>();
  else
    call.template operator()<false>();
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
