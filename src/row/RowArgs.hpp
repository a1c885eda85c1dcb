// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_ROWARGS_HPP

/// \file
/// The arguments of every kernel.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Impl {

/// The addresses at which a row starts in x and in y.
template <class V>
struct RowPointers {
  const typename V::X* x;
  typename V::Y* y;
};

/// The arguments of every schedule's kernel, except for sources that have more, see ArgumentsOf.
/// Here and in all code that accesses memory, V is a
/// ValueTypes.
template <class V>
struct RowArgs {
  using X = typename V::X;
  using T = typename V::Compute;
  using Types = V;
  using Problem = RowProblem<X, typename V::Y>;

  Problem problem;
  T scale;
  X padding;  // the value of slots without an entry: -inf after scaling
  EmptyRows empty_rows;
  int function;  // the number of the output, see OutputList
  bool scale_is_zero;
  bool writes_beside;          // the log-sum-exp or the maximum of each row
  std::int64_t first_row = 0;  // the first row of this launch, see TeamLaunch

  RowArgs(const Problem& problem_, const Options& options)
      : problem(problem_),
        scale(kernel_scale(static_cast<T>(options.scale))),
        padding(scaled_padding<X>(scale)),
        empty_rows(options.empty_rows),
        function(problem_.function),
        scale_is_zero(static_cast<T>(options.scale) == T(0)),
        writes_beside(problem_.lse != nullptr || problem_.max != nullptr) {}

  /// The row of a team, if each team works on one row.
  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t row_of_team(const Member& member) const {
    return first_row + member.league_rank();
  }

  /// Where row r starts. `one_axis`: whether the problem is known to have one outer axis. The
  /// addresses for several axes are computed from the members in one place. Otherwise, nvcc
  /// wouldn't know that they are in global memory.
  template <bool one_axis = false>
  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> row(std::int64_t r) const {
    if constexpr (one_axis) return row_of_one_axis(r);
    std::int64_t x = 0;
    std::int64_t y = 0;
    r = first_index(r, [&](int d, std::int64_t index) {
      x += index * problem.outer[d].x_stride;
      y += index * problem.outer[d].y_stride;
    });
    return {problem.x + (x + r * problem.outer[0].x_stride),
            problem.y + (y + r * problem.outer[0].y_stride)};
  }

  /// The same for problems with one outer axis, without divisions.
  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> row_of_one_axis(std::int64_t r) const {
    return {problem.x + r * problem.outer[0].x_stride, problem.y + r * problem.outer[0].y_stride};
  }

  /// Calls add(d, index) with the index of row r along each outer axis except the first, and
  /// returns that along the first. The loop isn't unrolled: most problems have one outer axis, and
  /// the code of the others would be longer than all other code of a short kernel.
  template <class Add>
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_index(std::int64_t r, const Add& add) const {
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int d = problem.outer_rank - 1; d > 0; --d) {
      const std::int64_t slower = r / problem.outer[d].extent;
      add(d, r - slower * problem.outer[d].extent);
      r = slower;
    }
    return r;
  }

  /// Where the log-sum-exp of row r is written. Only if problem.lse isn't null.
  KOKKOS_FORCEINLINE_FUNCTION auto lse(std::int64_t r) const {
    return problem.lse + r * problem.lse_stride;
  }
  /// Where the maximum of row r is written. Only if problem.max isn't null.
  KOKKOS_FORCEINLINE_FUNCTION auto max(std::int64_t r) const {
    return problem.max + r * problem.max_stride;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
