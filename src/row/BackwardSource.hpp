// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_BACKWARDSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_BACKWARDSOURCE_HPP

/// \file
/// The source of the backward passes, which have two inputs per entry: the output y of a function,
/// and the derivative dy of a loss by it. With the softmax p of a row and the scale s,
///
///     softmax_backward:      dx_j = s * p_j * (dy_j - sum_k p_k * dy_k),  p = y
///     log_softmax_backward:  dx_j = s * (dy_j - p_j * sum_k dy_k),        p = exp(y)
///
/// Both are dx_j = t_j - p_j * sum_k t_k, with t = s * p * dy or t = s * dy. So one kernel computes
/// both: the source makes p and t of an entry, and the operation has one output (op/Backward.hpp).

#include <Kokkos_Core.hpp>
#include <backend/Unroll.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <row/RowArgs.hpp>

namespace KokkosSoftmax::Impl {

/// The arguments of the kernels of BackwardSource.
template <class V>
struct BackwardArgs : RowArgs<V> {
  using X = typename V::X;
  using T = typename V::Compute;
  using Problem = BackwardProblem<X>;

  const X* dy;
  std::int64_t dy_column_stride;
  std::int64_t dy_outer_stride[max_outer_rank];

  BackwardArgs(const Problem& problem_, const Options& options)
      : RowArgs<V>(problem_, options),
        dy(static_cast<const X*>(problem_.dy.data)),
        dy_column_stride(problem_.dy.column_stride) {
    for (int d = 0; d < max_outer_rank; ++d) dy_outer_stride[d] = problem_.dy.outer_stride[d];
    this->scale = static_cast<T>(options.scale);  // a scale of 0 makes dx 0, see kernel_scale()
    this->padding = static_cast<X>(is_log() ? -Kokkos::Experimental::infinity_v<T> : T(0));
  }

  /// Whether y is the logarithm of p.
  KOKKOS_FORCEINLINE_FUNCTION bool is_log() const { return this->function != 0; }

  /// Where row r of dy starts.
  KOKKOS_FORCEINLINE_FUNCTION const X* dy_row(std::int64_t r) const {
    std::int64_t offset = 0;
    for (int d = max_outer_rank - 1; d > 0; --d) {
      if (d >= this->problem.outer_rank) continue;
      const std::int64_t slower = r / this->problem.outer[d].extent;
      offset += (r - slower * this->problem.outer[d].extent) * dy_outer_stride[d];
      r = slower;
    }
    return dy + (offset + r * dy_outer_stride[0]);
  }
};

template <class V>
class BackwardSource {
 public:
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;
  using Arguments = BackwardArgs<V>;
  static constexpr int inputs = 2;
  static constexpr bool value_is_scaled_raw = false;

  /// The second input of a row.
  struct Row {
    const X* dy;
    std::int64_t stride;

    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, std::int64_t r)
        : dy(arguments.dy_row(r)), stride(arguments.dy_column_stride) {}
  };

  KOKKOS_FORCEINLINE_FUNCTION explicit BackwardSource(const Arguments& arguments)
      : m_arguments(arguments) {}

  KOKKOS_FORCEINLINE_FUNCTION X padding() const { return m_arguments.padding; }

  KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair(T y, T dy) const {
    EntryPair<T> entry{y, dy};
    make_pairs<1>(&entry.p, &entry.t);
    return entry;
  }

  /// Replaces y and dy of some entries by p and t. An entry with p = 0 because it was masked (y =
  /// 0, or -inf as the logarithm) has t = 0, whatever dy is. All threads take the same branch.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void make_pairs(T* p, T* t) const {
    const T scale = m_arguments.scale;
    if (m_arguments.is_log()) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        t[j] = p[j] == -Kokkos::Experimental::infinity_v<T> ? T(0) : scale * t[j];
        p[j] = Kokkos::exp(p[j]);
      }
    } else {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) t[j] = p[j] == T(0) ? T(0) : scale * (p[j] * t[j]);
    }
  }

 private:
  const Arguments& m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
