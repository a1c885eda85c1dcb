// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_RAGGEDARGS_HPP
#define KOKKOSSOFTMAX_SRC_ROW_RAGGEDARGS_HPP

/// \file
/// The arguments of the kernels of ragged rows, and their sources.

#include <impl/KokkosSoftmax_RaggedProblem.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <row/BackwardSource.hpp>
#include <row/RaggedWork.hpp>
#include <row/RowArgs.hpp>
#include <row/Source.hpp>

namespace KokkosSoftmax::Impl {

/// What sources and tiles take from the arguments of a kernel, for one row or a part of one.
template <class V>
struct RaggedRowArgs {
  using Types = V;
  using X = typename V::X;
  using T = typename V::Compute;

  /// The row as a matrix with one row.
  struct Problem {
    static constexpr std::int64_t x_column_stride = 1;
    static constexpr std::int64_t y_column_stride = 1;
    std::int64_t columns = 0;
  };
  static constexpr std::int64_t dy_column_stride = 1;

  Problem problem{};
  T scale;  // that of values, see kernel_scale(), or of derivatives
  X padding;
  bool scale_is_zero = false;
  bool is_log_y = false;  // a backward pass of log_softmax
  const X* dy = nullptr;  // where the row starts in the second input

  KOKKOS_FORCEINLINE_FUNCTION bool is_log() const { return is_log_y; }
  KOKKOS_FORCEINLINE_FUNCTION const X* dy_row(std::int64_t /*r*/) const { return dy; }
};

/// One vector of entries.
template <class V>
class RaggedSource : public ScaledSource<RaggedRowArgs<V>> {
 public:
  using Arguments = RaggedRowArgs<V>;
  using ScaledSource<Arguments>::ScaledSource;
};

/// Two vectors of entries, which the gradient reads together.
template <class V>
class RaggedPairSource : public PairSource<RaggedRowArgs<V>> {
 public:
  using PairSource<RaggedRowArgs<V>>::PairSource;
};

/// The arguments of kernels of ragged rows whose states are of type State.
template <class V, class State>
struct RaggedArgs {
  using X = typename V::X;
  using Y = typename V::Y;
  using T = typename V::Compute;
  using Types = V;
  using Problem = RaggedProblem<X, Y>;

  Problem problem;
  RaggedRowArgs<V> of_rows;
  EmptyRows empty_rows;
  T factor;  // the scale of derivatives by values
  RaggedWork<State> work{};

  /// Forward passes, and that of logsumexp backward.
  static RaggedArgs of_values(const Problem& problem, double scale, EmptyRows empty_rows) {
    const T rounded = static_cast<T>(scale);
    RaggedArgs arguments{problem, {}, empty_rows, rounded};
    arguments.of_rows.scale = kernel_scale(rounded);
    arguments.of_rows.scale_is_zero = rounded == T(0);
    arguments.of_rows.padding = scaled_padding<X>(arguments.of_rows.scale);
    return arguments;
  }
  /// Backward passes of softmax and of log_softmax.
  static RaggedArgs of_pairs(const Problem& problem, double scale, bool is_log) {
    RaggedArgs arguments{problem, {}, EmptyRows::nan, T(1)};
    arguments.of_rows.scale = static_cast<T>(scale);
    arguments.of_rows.is_log_y = is_log;
    arguments.of_rows.padding =
        static_cast<X>(is_log ? -Kokkos::Experimental::infinity_v<T> : T(0));
    return arguments;
  }

  /// The arguments of a row, or of a part of one, from entry `begin` to `end`.
  KOKKOS_FORCEINLINE_FUNCTION RaggedRowArgs<V> row(std::int64_t begin, std::int64_t end) const {
    RaggedRowArgs<V> row = of_rows;
    row.problem.columns = end - begin;
    row.dy = problem.second + begin;
    return row;
  }
  KOKKOS_FORCEINLINE_FUNCTION RowPointers<V> pointers(std::int64_t begin) const {
    return {problem.x + begin, problem.y + begin};
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
