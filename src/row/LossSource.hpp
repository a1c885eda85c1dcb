// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_LOSSSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_LOSSSOURCE_HPP

#include <bit>
#include <cmath>
#include <cstdint>
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
  /// Entries are multiplied by it before they are added up, so that the sum of finite ones is
  /// finite: a power of two below 1 / columns, which rounds nothing.
  T share;

  LossArgs(const Problem& problem, const Options& options)
      : RowArgs<V>(problem, options),
        labels(problem.labels),
        loss(problem.loss),
        row_lse(problem.row_lse),
        smoothing(static_cast<T>(problem.labels.smoothing)),
        share(share_of(problem.columns)) {}

  /// The mean of the entries of a row, given the sum of their shares. The mean of finite entries is
  /// finite. Only the rounding of the sum can take it beyond the largest number, and it is then the
  /// largest number.
  template <class Sum>
  KOKKOS_FORCEINLINE_FUNCTION Sum mean(Sum total) const {
    constexpr Sum most = Kokkos::Experimental::finite_max_v<Sum>;
    const Sum mean = total / (static_cast<Sum>(this->problem.columns) * static_cast<Sum>(share));
    if (!(Kokkos::abs(total) <= most)) return mean;
    return mean > most ? most : mean < -most ? -most : mean;
  }

 private:
  static T share_of(std::int64_t columns) {
    return std::ldexp(T(1), -static_cast<int>(std::bit_width(static_cast<std::uint64_t>(columns))));
  }
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
