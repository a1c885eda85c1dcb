// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_EPILOGUE_HPP
#define KOKKOSSOFTMAX_SRC_OP_EPILOGUE_HPP

/// \file
/// Epilogues: how each operation computes its output from a row's LogSumExpState. This is the only
/// place where softmax, log_softmax and logsumexp differ. An epilogue has the members
///
/// - Exp: how exp(v - reference) is computed
/// - keeps_exponentials: whether a schedule keeps the exponentials exp(v - reference) for the
///   output, or the values v
/// - one_value_per_row: whether the output is one value per row
///
/// An epilogue object is made from the row's state. It maps what was kept to the output, or has the
/// output as its member `value`.

#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <numerics/ExpForSum.hpp>
#include <numerics/ExpHalf.hpp>
#include <team/TeamReduce.hpp>

namespace KokkosSoftmax::Impl {

template <Operation operation, class V>
struct Epilogue;

template <class V>
struct Epilogue<Operation::softmax, V> {
  using T = typename V::Compute;
  using Exp = std::conditional_t<sizeof(typename V::Y) < sizeof(T), ExpHalf<T>, ExpAccurate<T>>;
  static constexpr bool keeps_exponentials = true;
  static constexpr bool one_value_per_row = false;

  /// For exponentials relative to `reference`; the row's state is relative to row.max.
  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, T reference,
                                       EmptyRows empty_rows)
      : factor(rescale_factor(reference, row.max)) {
    // An empty row has the sum 0, and 1 / 0 makes its results NaN. NaN or +inf in the row has made
    // the sum NaN.
    factor = row.sum == T(0) && empty_rows == EmptyRows::zero ? T(0) : factor / row.sum;
  }
  /// For exponentials relative to row.max itself.
  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, EmptyRows empty_rows)
      : factor(row.sum == T(0) && empty_rows == EmptyRows::zero ? T(0) : T(1) / row.sum) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T weight) const { return weight * factor; }

  T factor;
};

template <class V>
struct Epilogue<Operation::log_softmax, V> {
  using T = typename V::Compute;
  using Exp = ExpForSum<T>;
  static constexpr bool keeps_exponentials = false;
  static constexpr bool one_value_per_row = false;

  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, T /*reference*/,
                                       EmptyRows empty_rows)
      // if max is not finite, max - max makes all results of the row NaN
      : max(row.max), log_sum(not_negative(Kokkos::log(row.sum)) + (row.max - row.max)) {
    const bool empty = row.max == -Kokkos::Experimental::infinity_v<T> && row.sum == row.sum;
    if (empty && empty_rows == EmptyRows::zero) max = log_sum = T(0);  // so that -inf stays -inf
  }
  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, EmptyRows empty_rows)
      : Epilogue(row, row.max, empty_rows) {}

  /// v - max is computed first: max + log_sum would round away the digits of a small result.
  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const { return (v - max) - log_sum; }

  T max;
  T log_sum;

 private:
  /// The sum contains the term exp(max - max) = 1. A smaller sum is due to rounding, and would make
  /// the result for the largest entry positive. NaN stays NaN.
  KOKKOS_FORCEINLINE_FUNCTION static T not_negative(T logarithm) {
    return logarithm < T(0) ? T(0) : logarithm;
  }
};

template <class V>
struct Epilogue<Operation::logsumexp, V> {
  using T = typename V::Compute;
  using Exp = ExpForLse<T>;
  static constexpr bool keeps_exponentials = false;
  static constexpr bool one_value_per_row = true;

  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, T /*reference*/, EmptyRows)
      : value(row.value()) {}
  KOKKOS_FORCEINLINE_FUNCTION Epilogue(const LogSumExpState<T>& row, EmptyRows)
      : value(row.value()) {}

  T value;
};

/// An epilogue for a schedule that has kept nothing and reads the entries a second time.
template <class Epilogue, class T>
class EntryEpilogue {
 public:
  KOKKOS_FORCEINLINE_FUNCTION EntryEpilogue(const LogSumExpState<T>& row, EmptyRows empty_rows)
      : m_epilogue(row, empty_rows), m_exp(row.max) {}

  KOKKOS_FORCEINLINE_FUNCTION T operator()(T v) const {
    if constexpr (Epilogue::keeps_exponentials)
      return m_epilogue(m_exp(v));
    else
      return m_epilogue(v);
  }

 private:
  Epilogue m_epilogue;
  typename Epilogue::Exp m_exp;
};

}  // namespace KokkosSoftmax::Impl

#endif
