// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>

namespace KokkosSoftmax::Impl {

/// Where a row starts in x and in y.
template <class V>
struct RowPointers {
  const typename V::X* x;
  typename V::Y* y;
};

/// scale * x on a host. Programs may have their processor take denormal numbers for 0 (icx and
/// -ffast-math link that in), and 0 * inf is NaN. So the scale 0 is two factors, each a normal
/// number, whose product with any finite number counts as 0.
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

/// What every schedule's kernel gets. V: ValueTypes, here and in all that touches memory.
template <class V>
struct RowArgs {
  using X = typename V::X;
  using T = typename V::Compute;
  using Problem = RowProblem<X, typename V::Y>;

  Problem problem;
  T scale;
  X padding;  // stands where there is no entry: -inf once scaled
  EmptyRows empty_rows;
  bool scale_is_zero;
  std::int64_t first_row = 0;  // of this launch, see TeamLaunch

  RowArgs(const Problem& problem_, const Options& options)
      : problem(problem_),
        scale(static_cast<T>(options.scale)),
        empty_rows(options.empty_rows),
        scale_is_zero(scale == T(0)) {
    // Zero is taken as its limit from above: finite entries count alike, and -inf stays -inf, which
    // the empty places of the kernels need. For GPUs, which compute with denormal numbers.
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
    // from the members themselves, which are known to point to global memory
    return {problem.x + (x + r * problem.outer[0].x_stride),
            problem.y + (y + r * problem.outer[0].y_stride)};
  }

  /// The same where there is one outer axis, without divisions.
  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> row_of_one_axis(std::int64_t r) const {
    return {problem.x + r * problem.outer[0].x_stride, problem.y + r * problem.outer[0].y_stride};
  }

  /// The loader: an entry as it is in memory to the value that the function is applied to.
  KOKKOS_FORCEINLINE_FUNCTION T load(const X& x) const { return scaled(static_cast<T>(x)); }
  KOKKOS_FORCEINLINE_FUNCTION T scaled(T x) const {
    KOKKOS_IF_ON_DEVICE((return scale * x;))
    KOKKOS_IF_ON_HOST((return host_scale()(x);))
  }
  KOKKOS_FORCEINLINE_FUNCTION HostScale<T> host_scale() const { return {scale, scale_is_zero}; }
};

}  // namespace KokkosSoftmax::Impl

#endif
