// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_NEARZERO_HPP
#define KOKKOSSOFTMAX_SRC_HOST_NEARZERO_HPP

/// \file
/// Log-sum-exps near 0, see KokkosSoftmax_NearZeroLimit.hpp. The rows are read a second time. Such
/// rows are rare.

#include <host/Operations.hpp>
#include <host/VectorSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_NearZeroLimit.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Whether the results of an operation keep their digits near 0. Entries of half types have too few
/// digits for that.
template <class Op, class Job>
inline constexpr bool keeps_digits =
    !Op::writes_entries && std::is_same_v<typename Job::X, typename Job::T>;

/// Whether the log-sum-exps of rows are near 0. An entry can be 1 above the reference.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION auto are_near_zero(typename L::V reference, typename L::V lse) {
  using T = typename L::T;
  constexpr T limit = near_zero_limit<T>;
  return (reference > -(T(1) + limit)) & (lse > -limit) & (lse < limit);
}
template <class T>
KOKKOSSOFTMAX_HOST_FUNCTION bool is_near_zero(T reference, T lse) {
  constexpr T limit = near_zero_limit<T>;
  return reference > -(T(1) + limit) && lse > -limit && lse < limit;
}

/// The largest values that were added, and the sums of exp(v) of all others, in each lane.
template <class L>
class SumsBesideMax {
  using T = typename L::T;
  using V = typename L::V;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION void add(V v) {
    m_rest.add(ExpAccurate<L>(V{})(lower(m_max, v)));
    m_max = larger(v, m_max);
  }

  /// The log-sum-exp of the values of one lane.
  KOKKOSSOFTMAX_HOST_FUNCTION T log_sum_exp(int lane) const {
    return log_sum_exp_of(m_max[lane], m_rest.value()[lane]);
  }

  /// The log-sum-exp of the values of all lanes.
  KOKKOSSOFTMAX_HOST_FUNCTION T log_sum_exp() const {
    alignas(V) T max[L::width];
    alignas(V) T rest[L::width];
    L::store(max, m_max);
    L::store(rest, m_rest.value());
    for (int half = L::width / 2; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) {
        const T other = max[i + half];
        rest[i] += rest[i + half] + exp_of(other < max[i] ? other : max[i]);
        max[i] = other < max[i] ? max[i] : other;
      }
    return log_sum_exp_of(max[0], rest[0]);
  }

 private:
  static T exp_of(T v) { return static_cast<T>(__builtin_exp(static_cast<double>(v))); }

  static T log_sum_exp_of(T max, T rest) {
    const double largest = static_cast<double>(max);
    return static_cast<T>(largest +
                          __builtin_log1p(static_cast<double>(rest) * __builtin_exp(-largest)));
  }

  V m_max = L::splat(-NumberTraits<T>::infinity);
  VectorSum<L> m_rest;
};

/// The log-sum-exp of n values that are contiguous. The order of additions depends on n alone.
template <class Job>
typename Job::T log_sum_exp_near_zero(const Job& job, const typename Job::X* x, std::int64_t n) {
  using T = typename Job::T;
  using L = Lanes<T, widest<T>>;
  const ScaledValues<L> values(job.factors);
  SumsBesideMax<L> sums;
  std::int64_t c = 0;
  for (; c + L::width <= n; c += L::width)
    sums.add(written_value<L>(job.factors, values(L::load(x + c))));
  if (c < n) {
    const FirstElements<T, L::width> rest(static_cast<int>(n - c));
    sums.add(rest.select(written_value<L>(job.factors, values(rest.load(x + c))),
                         L::splat(-NumberTraits<T>::infinity)));
  }
  return sums.log_sum_exp();
}

/// The log-sum-exps of rows, one per lane. If some are near 0, calls make_of_row() once, and the
/// function that it returns for the lanes of these rows.
template <class Op, class Job, class L, class MakeOfRow>
KOKKOSSOFTMAX_HOST_FUNCTION typename L::V log_sum_exps(const LaneStates<L>& rows, int count,
                                                       const MakeOfRow& make_of_row) {
  typename L::V lse = rows.log_sum_exp();
  if constexpr (keeps_digits<Op, Job>) {
    const auto near_zero = are_near_zero<L>(rows.reference, lse);
    if (any(near_zero)) [[unlikely]] {
      const auto of_row = make_of_row();
      for (int i = 0; i < count; ++i)
        if (near_zero[i]) lse[i] = of_row(i);
    }
  }
  return lse;
}

/// Writes the log-sum-exps of `count` contiguous rows, from row `first` on.
template <class Op, class L, class Job>
KOKKOSSOFTMAX_HOST_FUNCTION void write_log_sum_exps(const Job& job, std::int64_t first,
                                                    const LaneStates<L>& rows, int count) {
  const auto make_of_row = [&] {
    return [&](int i) {
      return log_sum_exp_near_zero(job, job.x + (first + i) * job.x_stride, job.columns);
    };
  };
  write_row_values<L>(job, first, log_sum_exps<Op, Job, L>(rows, count, make_of_row), count);
}

/// The log-sum-exp of a state whose sum is sum - dropped. A float would round that of entries far
/// below 0 too much for merged_near_zero().
template <class T>
double log_sum_exp_of_state(T reference, double sum, double dropped) {
  return static_cast<double>(reference) +
         (sum == 1 ? __builtin_log1p(-dropped) : __builtin_log(sum - dropped));
}

/// The log-sum-exp of two states whose log-sum-exps are `a` and `b`, given that it is near 0.
inline double merged_near_zero(double a, double b) {
  const double high = a < b ? b : a;
  const double low = a < b ? a : b;
  return high + __builtin_log1p(__builtin_exp(low - high));
}

/// A state near 0 has its log-sum-exp as the reference, and the sum 1. What the reference drops of
/// the log-sum-exp is kept, or a row of many parts would lose it at each merge.
template <class T>
struct SettledState {
  T reference;
  T sum = 1;
  T dropped;

  explicit SettledState(double log_sum_exp)
      : reference(static_cast<T>(log_sum_exp)),
        dropped(static_cast<T>(static_cast<double>(reference) - log_sum_exp)) {}
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
