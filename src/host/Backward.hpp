// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_BACKWARD_HPP
#define KOKKOSSOFTMAX_SRC_HOST_BACKWARD_HPP

/// \file
/// The backward passes on a host: dx_j = t_j - p_j * sum_k t_k, see row/BackwardSource.hpp.

#include <host/Kernels.hpp>
#include <host/RowReduction.hpp>
#include <host/StreamedRow.hpp>
#include <host/VectorExp.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// p and t of entries, from y and dy. `is_log`: y is the logarithm of p.
template <class L, bool is_log>
class Pairs {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit Pairs(T scale) : m_scale(L::splat(scale)), m_exp(V{}) {}

  KOKKOSSOFTMAX_HOST_FUNCTION V p(V y) const {
    if constexpr (is_log)
      return m_exp(y);
    else
      return y;
  }
  /// 0 for masked entries, whatever dy is.
  KOKKOSSOFTMAX_HOST_FUNCTION V t(V y, V dy) const {
    if constexpr (is_log)
      return y == -NumberTraits<T>::infinity ? V{} : m_scale * dy;
    else
      return y == T(0) ? V{} : m_scale * (y * dy);
  }
  /// dx, given the sum of t.
  KOKKOSSOFTMAX_HOST_FUNCTION V result(V y, V dy, V sum) const {
    const V p_of_y = p(y);
    const V t_of_y = t(y, dy);
    const V dx = multiply_add(-p_of_y, sum, t_of_y);
    return ((p_of_y == T(0)) & (t_of_y == T(0))) ? V{} : dx;
  }

 private:
  V m_scale;
  ExpAccurate<L> m_exp;
};

/// The entries of rows in one column, at any stride.
template <class L, class X>
class StridedRows {
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION StridedRows(X* column, std::int64_t stride, std::int64_t rows)
      : m_column(column), m_stride(stride), m_rows(rows) {}

  /// Those of rows r to r + width - 1.
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const Access& access, std::int64_t r) const {
    if (m_stride == 1) return access.load(m_column + r);
    std::remove_const_t<X> near[L::width] = {};
    for (std::int64_t i = 0; i < count(r); ++i) near[i] = m_column[(r + i) * m_stride];
    return L::load(near);
  }
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION void store(const Access& access, std::int64_t r, V v) const {
    if (m_stride == 1) return access.store(m_column + r, v);
    X near[L::width];
    L::store(near, v);
    for (std::int64_t i = 0; i < count(r); ++i) m_column[(r + i) * m_stride] = near[i];
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t count(std::int64_t r) const {
    return smaller(L::width, m_rows - r);
  }

  X* m_column;
  std::int64_t m_stride;
  std::int64_t m_rows;
};

/// One contiguous row.
template <class L, bool is_log, class X>
class BackwardRow {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION BackwardRow(const HostBackwardJob<X, T>& job, std::int64_t r)
      : m_y(job.y + r * job.y_stride),
        m_dy(job.dy + r * job.dy_stride),
        m_dx(job.dx + r * job.dx_stride),
        m_streams(job.streams),
        m_pairs(job.scale) {}

  /// The sum of t of columns [first, last).
  double sum(std::int64_t first, std::int64_t last) const {
    VectorSum<L> all;
    std::int64_t c = first;
    for (; c + block <= last; c += block) all.add(sum_of_block(c, c + block));
    if (c < last) all.add(sum_of_block(c, last));
    return L::sum(all.value());
  }

  void write(std::int64_t first, std::int64_t last, double sum) const {
    const V all = L::splat(static_cast<T>(sum));
    const auto result = [&](std::int64_t c, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
      return m_pairs.result(access.load(m_y + c), access.load(m_dy + c), all);
    };
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

  /// The sum of t of columns [first, last), at most a block.
  KOKKOSSOFTMAX_HOST_FUNCTION V sum_of_block(std::int64_t first, std::int64_t last) const {
    V partial[accumulators] = {};
    std::int64_t c = first;
    for (; c + accumulators * L::width <= last; c += accumulators * L::width)
      for (int a = 0; a < accumulators; ++a) partial[a] += t_at(c + a * L::width, L{});
    for_each_vector<L>(c, last, [&](std::int64_t i, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
      partial[0] += t_at(i, access);
    });
    return (partial[0] + partial[1]) + (partial[2] + partial[3]);
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
  Pairs<L, is_log> m_pairs;
};

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
template <class L, bool is_log, class X>
class BackwardPanel {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit BackwardPanel(const HostBackwardJob<X, T>& job)
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

  /// Writes columns [first, last), given the sums of all columns.
  void write(std::int64_t first, std::int64_t last, const HostBackwardSums& sums) {
    for (std::int64_t i = 0; i < m_lanes; ++i) m_of_row[i] = static_cast<T>(sums.sum[i]);
    for (std::int64_t c = last - 1; c >= first; --c) write(c);
  }

 private:
  /// So many columns are added without compensation.
  static constexpr std::int64_t block = 16;

  KOKKOSSOFTMAX_HOST_FUNCTION void add(std::int64_t first, std::int64_t last) {
    for (std::int64_t i = 0; i < m_lanes; ++i) m_of_row[i] = T(0);
    for (std::int64_t c = first; c < last; ++c) {
      const auto y = y_at(c), dy = dy_at(c);
      for_each_vector<L>(0, m_job.rows,
                         [&](std::int64_t r, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                           const V t = m_pairs.t(y.load(access, r), dy.load(access, r));
                           L::store(m_of_row + r, L::load(m_of_row + r) + t);
                         });
    }
  }

  KOKKOSSOFTMAX_HOST_FUNCTION void write(std::int64_t c) const {
    const auto y = y_at(c), dy = dy_at(c);
    const StridedRows<L, X> dx(m_job.dx + c * m_job.dx_column_stride, m_job.dx_stride, m_job.rows);
    for_each_vector<L>(
        0, m_job.rows, [&](std::int64_t r, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
          dx.store(access, r,
                   m_pairs.result(y.load(access, r), dy.load(access, r), L::load(m_of_row + r)));
        });
  }

  KOKKOSSOFTMAX_HOST_FUNCTION StridedRows<L, const X> y_at(std::int64_t c) const {
    return {m_job.y + c * m_job.y_column_stride, m_job.y_stride, m_job.rows};
  }
  KOKKOSSOFTMAX_HOST_FUNCTION StridedRows<L, const X> dy_at(std::int64_t c) const {
    return {m_job.dy + c * m_job.dy_column_stride, m_job.dy_stride, m_job.rows};
  }

  const HostBackwardJob<X, T>& m_job;
  std::int64_t m_lanes;  // of whole vectors
  Pairs<L, is_log> m_pairs;
  alignas(64) T m_of_row[host_backward_panel_rows];  // the sums of a block, or of all columns
};

template <class X>
struct BackwardKernelsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using Job = HostBackwardJob<X, T>;

  static void rows(const Job& job) {
    with_streams(job, [](const Job& job, bool has_ends) {
      for (std::int64_t r = 0; r < job.rows; ++r) {
        if (has_ends) prefetch_at(job.dx + r * job.dx_stride + job.columns);
        write_part(job, r, 0, job.columns, sum(job, r, 0, job.columns));
      }
    });
  }
  static double sum(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last) {
    return job.is_log ? BackwardRow<L, true, X>(job, r).sum(first, last)
                      : BackwardRow<L, false, X>(job, r).sum(first, last);
  }
  static void write(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                    double all) {
    write_part(job, r, first, last, all);
    if (job.streams) end_streams();
  }
  static void sum_panel(const Job& job, std::int64_t first, std::int64_t last,
                        HostBackwardSums& sums) {
    if (job.is_log)
      BackwardPanel<L, true, X>(job).sum(first, last, sums);
    else
      BackwardPanel<L, false, X>(job).sum(first, last, sums);
  }
  static void merge_panels(HostBackwardSums& into, const HostBackwardSums& from,
                           std::int64_t rows) {
    add_to(into, rows, [&](std::int64_t r) KOKKOSSOFTMAX_HOST_LAMBDA -> double {
      return from.sum[r] - from.dropped[r];
    });
  }
  static void write_panel(const Job& job, std::int64_t first, std::int64_t last,
                          const HostBackwardSums& sums) {
    if (job.is_log)
      BackwardPanel<L, true, X>(job).write(first, last, sums);
    else
      BackwardPanel<L, false, X>(job).write(first, last, sums);
  }

  static constexpr HostBackwardKernels<X> all() {
    return {&rows, &sum, &write, &sum_panel, &merge_panels, &write_panel};
  }

 private:
  static void write_part(const Job& job, std::int64_t r, std::int64_t first, std::int64_t last,
                         double all) {
    if (job.is_log)
      BackwardRow<L, true, X>(job, r).write(first, last, all);
    else
      BackwardRow<L, false, X>(job, r).write(first, last, all);
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
