// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_OPERATIONS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_OPERATIONS_HPP

/// \file
/// The values v of a row, and the operations on them, for vectors. The results are those of
/// row/Source.hpp and op/.

#include <host/Jobs.hpp>
#include <host/VectorLog.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// v = scale * x
template <class L>
class ScaledValues {
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit ScaledValues(const HostFactors<typename L::T>& scale)
      : m_first(L::splat(scale.first)), m_second(L::splat(scale.second)) {}
  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V x) const { return (m_first * x) * m_second; }

 private:
  V m_first;
  V m_second;
};

/// v = x
template <class L>
class PlainValues {
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION explicit PlainValues(const HostFactors<typename L::T>&) {}
  KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V x) const { return x; }
};

/// The states of rows, one row per lane: the largest value, and the sum of exp(v - reference).
template <class L>
struct LaneStates {
  typename L::V max;
  typename L::V reference;
  typename L::V sum;

  KOKKOSSOFTMAX_HOST_FUNCTION typename L::V log_sum_exp() const {
    return reference + log_of<L>(sum);
  }
};

/// An operation has
/// - Exp: how exp(v - reference) is computed
/// - ExpOfShifted: the same for loops that subtract a large reference from the values first, if the
///   operation keeps exponentials; otherwise it is Exp
/// - keeps_exponentials: whether the output is computed from the exponentials, or from the values v
/// - writes_entries: whether the output has an entry per column; otherwise it is one number per row
/// - Output: computed from the states of rows; maps what was kept to an entry of the output
struct Softmax {
  template <class L>
  using Exp = ExpAccurate<L>;
  template <class L>
  using ExpOfShifted = Impl::KOKKOSSOFTMAX_HOST_ISA::ExpOfShifted<L>;
  static constexpr bool keeps_exponentials = true;
  static constexpr bool writes_entries = true;

  template <class L>
  class Output {
    using T = typename L::T;
    using V = typename L::V;

   public:
    KOKKOSSOFTMAX_HOST_FUNCTION Output(const LaneStates<L>& row, bool zero_empty_rows) {
      m_factor = T(1) / row.sum;
      if (zero_empty_rows) m_factor = row.sum == T(0) ? V{} : m_factor;
    }
    KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V exponential) const { return exponential * m_factor; }

    using Parameters = V[1];
    KOKKOSSOFTMAX_HOST_FUNCTION explicit Output(const Parameters& p) : m_factor(p[0]) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const { p[0] = m_factor; }

   private:
    V m_factor;
  };
};

struct LogSoftmax {
  template <class L>
  using Exp = ExpForSum<L>;
  template <class L>
  using ExpOfShifted = ExpForSum<L>;
  static constexpr bool keeps_exponentials = false;
  static constexpr bool writes_entries = true;

  template <class L>
  class Output {
    using T = typename L::T;
    using V = typename L::V;

   public:
    KOKKOSSOFTMAX_HOST_FUNCTION Output(const LaneStates<L>& row, bool zero_empty_rows)
        // if max is not finite, max - max makes all results of the row NaN
        : m_max(row.max), m_log_sum(log_of<L>(sum_relative_to_max(row)) + (row.max - row.max)) {
      if (!zero_empty_rows) return;
      // -inf stays -inf
      const auto empty = (row.max == -NumberTraits<T>::infinity) & (row.sum == row.sum);
      m_max = empty ? V{} : m_max;
      m_log_sum = empty ? V{} : m_log_sum;
    }
    KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V v) const { return (v - m_max) - m_log_sum; }

    using Parameters = V[2];
    KOKKOSSOFTMAX_HOST_FUNCTION explicit Output(const Parameters& p)
        : m_max(p[0]), m_log_sum(p[1]) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const {
      p[0] = m_max;
      p[1] = m_log_sum;
    }

   private:
    /// The sum has the term exp(max - max) = 1, so that it is less than 1 only because of rounding.
    KOKKOSSOFTMAX_HOST_FUNCTION static V sum_relative_to_max(const LaneStates<L>& row) {
      const V sum = row.sum * ExpForSum<L>::of_at_most_one(row.reference - row.max);
      const V lifted = sum < T(1) ? L::splat(1) : sum;
      return row.max == row.reference ? row.sum : lifted;
    }

    V m_max;
    V m_log_sum;
  };
};

struct LogSumExp {
  template <class L>
  using Exp = ExpForSum<L>;
  template <class L>
  using ExpOfShifted = ExpForSum<L>;
  static constexpr bool keeps_exponentials = false;
  static constexpr bool writes_entries = false;

  template <class L>
  struct Output;
};

/// The sum of rows whose largest values are `max`, given what ExpForSum::add has added up, which is
/// right for rows with a finite maximum and for those with NaN. The sum of a row of -inf is 0. With
/// +inf, that of softmax is NaN, as exp(inf - inf) is; for the other operations any positive number
/// is right.
template <class Op, class L>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V end_sum(typename L::V max, typename L::V sum) {
  using T = typename L::T;
  constexpr T infinity = NumberTraits<T>::infinity;
  if constexpr (Op::keeps_exponentials) sum = max == infinity ? L::splat(infinity - infinity) : sum;
  return ((max == -infinity) & (sum == sum)) ? typename L::V{} : sum;
}

/// Writes `count` numbers with a stride.
template <class L, class Y>
KOKKOSSOFTMAX_HOST_FUNCTION void write_strided(Y* y, std::int64_t stride, typename L::V v,
                                               int count) {
  if constexpr (std::is_same_v<Y, typename L::T>) {
    if (stride == 1 && count == L::width) return L::store(y, v);
    for (int i = 0; i < count; ++i) y[i * stride] = v[i];
  } else {
    const auto bits = Conversion<Y, L::width>::from_float(v);
    for (int i = 0; i < count; ++i) y[i * stride].bits = bits[i];
  }
}

/// Writes the one number per row of an operation that has no entries, for rows first, first + 1,
/// ...
template <class L, class Job>
KOKKOSSOFTMAX_HOST_FUNCTION void write_row_values(const Job& job, std::int64_t first,
                                                  typename L::V v, int count) {
  using T = typename L::T;
  auto* const y = job.y + first * job.y_stride;
  if constexpr (!std::is_same_v<typename Job::Y, T>)
    if (job.y_holds_row_values)
      return write_strided<L>(reinterpret_cast<T*>(y), job.y_stride * sizeof(*y) / sizeof(T), v,
                              count);
  write_strided<L>(y, job.y_stride, v, count);
}

/// Makes what is written beside y begin at row r.
template <class Job>
void skip_row_values(Job& job, std::int64_t r) {
  if (job.lse.data != nullptr) job.lse.data += r * job.lse.stride;
  if (job.max.data != nullptr) job.max.data += r * job.max.stride;
}

/// A value as it is written: see written_value() in row/Source.hpp.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V written_value(const HostFactors<typename L::T>& scale,
                                                        typename L::V v) {
  using T = typename L::T;
  if (!scale.is_zero) return v;
  return ((v < T(1)) & (v > T(-1))) ? typename L::V{} : v;
}

/// Writes what a call asks for beside y, for rows first, first + 1, ...
template <class L, class Job>
KOKKOSSOFTMAX_HOST_FUNCTION void write_beside(const Job& job, std::int64_t first,
                                              const LaneStates<L>& rows, int count) {
  using T = typename L::T;
  if (job.lse.data != nullptr) {
    const auto lse = rows.log_sum_exp();
    // NaN for a row with +inf, as in y
    write_strided<L>(job.lse.data + first * job.lse.stride, job.lse.stride,
                     lse == NumberTraits<T>::infinity ? lse - lse : lse, count);
  }
  if (job.max.data != nullptr) {
    // +inf, or else NaN, or else the maximum: see max_or_nan in op/FinishRow.hpp
    const auto is_max = (rows.sum == rows.sum) | (rows.max == NumberTraits<T>::infinity);
    write_strided<L>(job.max.data + first * job.max.stride, job.max.stride,
                     is_max ? written_value<L>(job.factors, rows.max) : rows.sum, count);
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
