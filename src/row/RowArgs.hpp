// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP

/// \file
/// The arguments of every kernel, and the loader, which scales entries.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>

namespace KokkosSoftmax::Impl {

/// The addresses at which a row starts in x and in y.
template <class V>
struct RowPointers {
  const typename V::X* x;
  typename V::Y* y;
};

/// scale * x on a host. A program may make its processor treat denormal numbers as 0 (linking with
/// icx or -ffast-math does that), and 0 * inf is NaN. So the scale 0 is replaced by two factors.
/// Each is a normal number, and their product with any finite number is small enough to count as 0.
template <class T>
class HostScale {
 public:
  KOKKOS_FORCEINLINE_FUNCTION HostScale(T scale, bool is_zero)
      : m_first(is_zero ? Kokkos::Experimental::norm_min_v<T> : scale),
        m_second(is_zero ? Kokkos::Experimental::norm_min_v<T> : T(1)) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T x) const { return (m_first * x) * m_second; }

 private:
  T m_first;
  T m_second;
};

/// The arguments of every schedule's kernel. Here and in all code that accesses memory, V is a
/// ValueTypes.
template <class V>
struct RowArgs {
  using X = typename V::X;
  using T = typename V::Compute;
  using Problem = RowProblem<X, typename V::Y>;

  Problem problem;
  T scale;
  X padding;  // the value of slots without an entry: -inf after scaling
  EmptyRows empty_rows;
  bool scale_is_zero;
  std::int64_t first_row = 0;  // the first row of this launch, see TeamLaunch

  RowArgs(const Problem& problem_, const Options& options)
      : problem(problem_),
        scale(static_cast<T>(options.scale)),
        empty_rows(options.empty_rows),
        scale_is_zero(scale == T(0)) {
    // The scale 0 is treated as its limit from above: all finite entries count alike, and -inf
    // stays -inf, as the kernels' slots without an entry require. This number is for GPUs, which
    // compute with denormal numbers.
    if (scale_is_zero) scale = Kokkos::Experimental::denorm_min_v<T>;
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    padding = static_cast<X>(scale < T(0) ? infinity : -infinity);
  }

  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> row(std::int64_t r) const {
    std::int64_t x = 0;
    std::int64_t y = 0;
    for (int d = Problem::max_outer_rank - 1; d > 0; --d) {
      if (d >= problem.outer_rank) continue;
      const std::int64_t slower = r / problem.outer[d].extent;
      const std::int64_t index = r - slower * problem.outer[d].extent;
      x += index * problem.outer[d].x_stride;
      y += index * problem.outer[d].y_stride;
      r = slower;
    }
    // computed from the members themselves, which are known to point to global memory
    return {problem.x + (x + r * problem.outer[0].x_stride),
            problem.y + (y + r * problem.outer[0].y_stride)};
  }

  /// The same for problems with one outer axis, without divisions.
  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> row_of_one_axis(std::int64_t r) const {
    return {problem.x + r * problem.outer[0].x_stride, problem.y + r * problem.outer[0].y_stride};
  }

  /// The loader: converts an entry in memory to the value to which the function is applied.
  KOKKOS_FORCEINLINE_FUNCTION T load(const X& x) const { return scaled(static_cast<T>(x)); }
  KOKKOS_FORCEINLINE_FUNCTION T scaled(T x) const {
    KOKKOS_IF_ON_DEVICE((return scale * x;))
    KOKKOS_IF_ON_HOST((return host_scale()(x);))
  }
  KOKKOS_FORCEINLINE_FUNCTION HostScale<T> host_scale() const { return {scale, scale_is_zero}; }
};

}  // namespace KokkosSoftmax::Impl

#endif
