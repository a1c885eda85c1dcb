// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_GRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_HOST_GRADIENT_HPP

/// \file
/// The gradients of operations with one number per row on a host: dx_j = factor * (exp(v_j - lse) -
/// offset), see row/GradientArgs.hpp. The entries of labels are given.

#include <host/Kernels.hpp>
#include <host/Operations.hpp>
#include <host/PanelPrefetch.hpp>
#include <host/StreamedRow.hpp>
#include <host/StridedRows.hpp>
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
  ExpOfShifted<L> m_exp;
};

template <class X>
struct GradientKernelsOf {
  using T = HostCompute<X>;
  using L = Lanes<T, widest<T>>;
  using V = typename L::V;
  using Job = HostGradientJob<X, T>;

  static void rows(const Job& job) {
    if (job.columns <= most_short_columns && job.x_stride == job.columns &&
        job.dx_stride == job.columns)
      short_rows(job);
    else
      with_streams(job, &rows_of);
  }

  static void panels(const Job& job) {
    if (job.x_stride == 1 && job.dx_stride == 1)
      panels_of<true>(job);
    else
      panels_of<false>(job);
    if (job.streams) end_streams();
  }

  static constexpr HostGradientKernels<X> all() { return {&rows, &panels}; }

 private:
  /// \tparam side_by_side  whether the rows lie side by side in both arrays
  template <bool side_by_side>
  static void panels_of(const Job& job) {
    constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(X));
    const Gradient<L> gradient(job.factors);
    const bool has_ends = !are_whole_lines(job.dx, job.dx_column_stride, job.rows);
    for (std::int64_t c = 0; c < job.columns; ++c) {
      const X* const of_column = job.x + c * job.x_column_stride;
      X* const dx = job.dx + c * job.dx_column_stride;
      const StridedRows<L, side_by_side, const X> x(of_column, job.x_stride, job.rows);
      const auto result = [&](std::int64_t r, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
        const V v = gradient(x.load(access, r), access.load(job.lse + r),
                             access.load(job.factor + r), access.load(job.offset + r));
        if (job.label == nullptr) return v;
        const auto is_label = access.load(job.label + r) == L::splat(static_cast<T>(c));
        return is_label ? access.load(job.of_label + r) : v;
      };
      if (side_by_side) {
        const PanelPlace ahead = place_ahead(c, 0, job.columns, job.rows);
        const X* const later = job.x + ahead.column * job.x_column_stride + ahead.row;
        for (std::int64_t r = 0; r < job.rows; r += line)
          prefetch_far<PrefetchTo::second_level>(later + r, 0);
      }
      if (side_by_side && job.streams) {
        if (has_ends) prefetch_ends(dx + panel_ends_ahead * job.dx_column_stride, job.rows);
        stream_columns<L>(dx, 0, job.rows, result);
      } else {
        const StridedRows<L, side_by_side, X> rows(dx, job.dx_stride, job.rows);
        for_each_vector<L>(0, job.rows,
                           [&](std::int64_t r, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                             rows.store(access, r, result(r, access));
                           });
      }
    }
  }
  static std::int64_t label_of(const Job& job, std::int64_t r) {
    return job.label == nullptr ? -1 : static_cast<std::int64_t>(job.label[r]);
  }

  static constexpr std::int64_t most_short_columns = 64;

  /// Rows that stand back to back in both arrays, a few at a time: each entry gets the numbers of
  /// its row, so that vectors needn't end with rows.
  static void short_rows(const Job& job) {
    constexpr std::int64_t most_entries = 512;
    const Gradient<L> gradient(job.factors);
    const std::int64_t rows = most_entries / job.columns;
    constexpr std::int64_t size = most_entries + L::width;
    alignas(64) T lse[size], factor[size], offset[size], result[most_entries];
    // The last vector of a row reaches into the next one, which is written later.
    const auto repeat = [&](T* to, T number) KOKKOSSOFTMAX_HOST_LAMBDA {
      for (std::int64_t c = 0; c < job.columns; c += L::width) L::store(to + c, L::splat(number));
    };
    for (std::int64_t first = 0; first < job.rows; first += rows) {
      const std::int64_t count = smaller(rows, job.rows - first);
      const std::int64_t entries = count * job.columns;
      for (std::int64_t r = 0; r < count; ++r) {
        repeat(lse + r * job.columns, job.lse[first + r]);
        repeat(factor + r * job.columns, job.factor[first + r]);
        repeat(offset + r * job.columns, job.offset[first + r]);
      }
      const X* const x = job.x + first * job.columns;
      for_each_vector<L>(
          0, entries, [&](std::int64_t i, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
            access.store(result + i, gradient(access.load(x + i), access.load(lse + i),
                                              access.load(factor + i), access.load(offset + i)));
          });
      for (std::int64_t r = 0; r < count; ++r) {
        const std::int64_t label = label_of(job, first + r);
        if (label >= 0) result[r * job.columns + label] = job.of_label[first + r];
      }
      const auto load = [&](std::int64_t i, const auto& access)
                            KOKKOSSOFTMAX_HOST_LAMBDA { return access.load(result + i); };
      X* const dx = job.dx + first * job.columns;
      if (job.streams)
        stream_columns<L>(dx, 0, entries, load);
      else
        for_each_vector<L>(0, entries,
                           [&](std::int64_t i, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                             access.store(dx + i, load(i, access));
                           });
    }
    if (job.streams) end_streams();
  }

  static void rows_of(const Job& job, bool has_ends) {
    const Gradient<L> gradient(job.factors);
    for (std::int64_t r = 0; r < job.rows; ++r) {
      const X* const x = job.x + r * job.x_stride;
      X* const dx = job.dx + r * job.dx_stride;
      if (has_ends) prefetch_at(dx + job.columns);
      const V lse = L::splat(job.lse[r]), factor = L::splat(job.factor[r]),
              offset = L::splat(job.offset[r]);
      const std::int64_t label = label_of(job, r);
      const auto result = [&](std::int64_t c, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
        V v = gradient(access.load(x + c), lse, factor, offset);
        const std::int64_t lane = label - c;
        if (lane >= 0 && lane < L::width) [[unlikely]]
          v[lane] = job.of_label[r];
        return v;
      };
      if (job.streams)
        stream_columns<L>(dx, 0, job.columns, result);
      else
        for_each_vector<L>(0, job.columns,
                           [&](std::int64_t c, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                             access.store(dx + c, result(c, access));
                           });
    }
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
