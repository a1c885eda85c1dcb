// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_LOSSSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_LOSSSOURCE_HPP

#include <row/RowArgs.hpp>
#include <row/RowNumbers.hpp>

namespace KokkosSoftmax::Impl {

/// The arguments of kernels that compare a row with its label.
template <class V>
struct LossArgs : RowArgs<V> {
  using T = typename V::Compute;
  using Problem = LossProblem<typename V::X>;

  RowLabels labels;
  RowNumbers<T> loss;
  RowNumbers<T> row_lse;
  T smoothing;

  LossArgs(const Problem& problem, const Options& options)
      : RowArgs<V>(problem, options),
        labels(problem.labels),
        loss(problem.loss),
        row_lse(problem.row_lse),
        smoothing(static_cast<T>(problem.labels.smoothing)) {}
};

/// v = scale * x, for kernels with LossArgs
template <class V>
class LossSource : public PlainSource<V> {
 public:
  using Arguments = LossArgs<V>;

  KOKKOS_FORCEINLINE_FUNCTION explicit LossSource(const Arguments& arguments)
      : PlainSource<V>(arguments) {}
};

template <class Source>
inline constexpr bool has_labels =
    std::is_same_v<ArgumentsOf<Source>, LossArgs<typename Source::Types>>;

}  // namespace KokkosSoftmax::Impl

#endif
