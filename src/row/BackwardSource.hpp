// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_BACKWARDSOURCE_HPP
#define KOKKOSSOFTMAX_SRC_ROW_BACKWARDSOURCE_HPP

/// \file
/// The source of the backward passes, which have two inputs per entry: the output y of a function,
/// and the derivative dy of a loss by it. One kernel computes both passes: the source makes the
/// pair p and t of an entry (KokkosSoftmax_BackwardEntry.hpp), and the operation has one output
/// (KokkosSoftmax_Backward.hpp).

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <row/RowArgs.hpp>
#include <row/RowNumbers.hpp>
#include <row/RowsInChunks.hpp>

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

  /// Whether neighbouring rows of dy lie side by side in chunks of `width` rows that are aligned in
  /// each column.
  bool inputs_in_chunks(int width) const {
    return are_rows_in_chunks(
        dy, sizeof(X), dy_column_stride, this->problem.outer_rank,
        [&](int d) { return dy_outer_stride[d]; }, width);
  }

  /// Where row r of dy starts.
  KOKKOS_FORCEINLINE_FUNCTION const X* dy_row(std::int64_t r) const {
    return dy + outer_offset(this->problem, r, dy_outer_stride);
  }
};

/// Pairs of entries, for kernels with the arguments Args: BackwardArgs, or others that have its
/// scale, padding, is_log(), dy_row(r) and dy_column_stride.
template <class Args>
class PairSource {
 public:
  using Types = typename Args::Types;
  using X = typename Types::X;
  using T = typename Types::Compute;
  using Arguments = Args;
  static constexpr int inputs = 2;
  static constexpr bool value_is_scaled_raw = false;

  /// The second input of a row.
  struct Row {
    const X* dy;
    std::int64_t stride;

    KOKKOS_FORCEINLINE_FUNCTION Row(const Arguments& arguments, std::int64_t r)
        : dy(arguments.dy_row(r)), stride(arguments.dy_column_stride) {}
  };

  KOKKOS_FORCEINLINE_FUNCTION explicit PairSource(const Arguments& arguments)
      : m_arguments(arguments) {}

  KOKKOS_FORCEINLINE_FUNCTION X padding() const { return m_arguments.padding; }

  KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair(T y, T dy) const {
    EntryPair<T> entry{y, dy};
    make_pairs<1>(&entry.p, &entry.t);
    return entry;
  }

  /// Replaces y and dy of some entries by p and t.
  template <int count>
  KOKKOS_FORCEINLINE_FUNCTION void make_pairs(T* p, T* t) const {
    with_pair([&](const auto& pair_of) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < count; ++j) {
        const EntryPair<T> pair = pair_of(p[j], t[j]);
        p[j] = pair.p;
        t[j] = pair.t;
      }
    });
  }

  /// What the pairs of all entries have in common.
  struct Pairs {
    T scale;
    bool is_log;

    /// Calls use(pair_of), where pair_of(y, dy) is the EntryPair of an entry. An entry with p = 0
    /// because it was masked (y = 0, or -inf as the logarithm) has t = 0, whatever dy is. All
    /// threads take the same branch.
    template <class Use>
    KOKKOS_FORCEINLINE_FUNCTION void with_pair(const Use& use) const {
      const T factor = scale;
      if (is_log)
        use([factor](T y, T dy) { return pair_of_log_softmax<X>(y, dy, factor); });
      else
        use([factor](T y, T dy) { return pair_of_softmax(y, dy, factor); });
    }
  };
  KOKKOS_FORCEINLINE_FUNCTION Pairs pairs() const {
    return {m_arguments.scale, m_arguments.is_log()};
  }
  template <class Use>
  KOKKOS_FORCEINLINE_FUNCTION void with_pair(const Use& use) const {
    pairs().with_pair(use);
  }

 private:
  const Arguments& m_arguments;
};

/// The source of matrices.
template <class V>
class BackwardSource : public PairSource<BackwardArgs<V>> {
 public:
  using PairSource<BackwardArgs<V>>::PairSource;
};

}  // namespace KokkosSoftmax::Impl

#endif
