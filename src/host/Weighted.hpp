// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_WEIGHTED_HPP
#define KOKKOSSOFTMAX_SRC_HOST_WEIGHTED_HPP

/// \file
/// The state of entries with weights.

#include <host/PanelReduction.hpp>
#include <host/RowReduction.hpp>
#include <impl/device/numerics/KokkosSoftmax_NearZeroLimit.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class T>
struct WeightedKernelsOf {
  using L = Lanes<T, widest<T>>;
  using V = typename L::V;

  /// See HostWeightedKernels.
  static HostState<T> reduce(const T* value, const T* weight, std::int64_t n) {
    const T max = largest(value, weight, n);
    if (max == NumberTraits<T>::infinity) return of_infinite_max(value, weight, n);
    const T reference = ExpAccurate<L>::reference(L::splat(max))[0];
    return {max, reference, sum(value, weight, n, reference)};
  }

  /// See HostWeightedKernels. Terms near 1 or -1 are rare, and are divided one by one.
  static HostState<T> settled(const HostState<T>& state, const T* value, const T* weight,
                              std::int64_t n) {
    if (!has_unit_weight(weight, n)) return state;
    const SumNearOne sum = sum_near_one(value, weight, n);
    if (!(__builtin_fabs(sum.units) == 1 && __builtin_fabs(sum.rest) < near_one_limit<double>))
      return state;
    const T lse = static_cast<T>(__builtin_log1p(sum.units * sum.rest));
    return {lse, lse, sum.units};
  }

  /// See HostWeightedKernels.
  static void reduce_panel(const HostWeightedPanel<T>& panel, bool adds,
                           HostWeightedStates<T>& states) {
    alignas(64) T reference[host_panel_rows];
    alignas(64) T sum[host_panel_rows];
    for_each_vector_of<L>(panel.rows, [&](std::int64_t j, const auto& access) {
      const Columns columns(panel, j);
      const V of_rows = ExpAccurate<L>::reference(largest_of_columns(access, columns));
      access.store(sum + j, sum_of_columns(access, columns, of_rows));
      access.store(reference + j, of_rows);
    });
    for (std::int64_t r = 0; r < panel.rows; ++r)
      if (adds)
        add(states.reference[r], states.sum[r], reference[r], sum[r]);
      else
        set(states.reference[r], states.sum[r], reference[r], sum[r]);
  }

  /// See HostWeightedKernels. The logarithms are added to the references in double, because the two
  /// can cancel.
  static void finish_panel(const HostWeightedStates<T>& states, std::int64_t rows, T* lse,
                           bool* is_open) {
    using D = Lanes<double, widest<double>>;
    alignas(64) double log[host_panel_rows];
    for (std::int64_t r = 0; r < rows; ++r) log[r] = __builtin_fabs(states.sum[r]);
    for_each_vector_of<D>(rows, [&](std::int64_t j, const auto& access) {
      access.store(log + j, log_of<D>(access.load(log + j)));
    });
    constexpr T limit = near_zero_limit<T>;
    for (std::int64_t r = 0; r < rows; ++r) {
      const T reference = states.reference[r];
      const double of_row = static_cast<double>(reference) + log[r];
      lse[r] = static_cast<T>(of_row);
      is_open[r] = reference == NumberTraits<T>::infinity ||
                   (reference > -(T(1) + limit) && __builtin_fabs(of_row) < limit);
    }
  }

  static constexpr HostWeightedKernels<T> all() {
    return {&reduce, &settled, &reduce_panel, &finish_panel};
  }

 private:
  static constexpr int vectors_per_block = 16;

  /// Entries whose weight is 0 count for nothing, as those whose value is -inf.
  KOKKOSSOFTMAX_HOST_FUNCTION static V counted_value(V value, V weight) {
    return weight == T(0) ? L::splat(-NumberTraits<T>::infinity) : value;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static V counted_weight(V value, V weight) {
    return value == -NumberTraits<T>::infinity ? V{} : weight;
  }
  /// weight * exp(value - reference)
  KOKKOSSOFTMAX_HOST_FUNCTION static V term(const ExpAccurate<L>& exp, V value, V weight) {
    const V counted = counted_value(value, weight);
    return counted_weight(counted, weight) * exp(counted);
  }

  /// The columns of a vector of rows of a panel, the first of which is row j.
  struct Columns {
    const T* value;
    const T* weight;
    std::int64_t distance;
    std::int64_t count;

    KOKKOSSOFTMAX_HOST_FUNCTION Columns(const HostWeightedPanel<T>& panel, std::int64_t j)
        : value(panel.value + j),
          weight(panel.weight + j),
          distance(panel.distance),
          count(panel.columns) {}
  };
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static V largest_of_columns(const Access& access,
                                                          const Columns& columns) {
    V max = L::splat(-NumberTraits<T>::infinity);
    for (std::int64_t c = 0; c < columns.count; ++c) {
      const std::int64_t i = c * columns.distance;
      max = larger(counted_value(access.load(columns.value + i), access.load(columns.weight + i)),
                   max);
    }
    return max;
  }
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static V sum_of_columns(const Access& access, const Columns& columns,
                                                      V reference) {
    const ExpAccurate<L> exp(reference);
    VectorSum<L> sum;
    for (std::int64_t c = 0; c < columns.count;) {
      V block{};
      for (const std::int64_t end = smaller(c + vectors_per_block, columns.count); c < end; ++c) {
        const std::int64_t i = c * columns.distance;
        block += term(exp, access.load(columns.value + i), access.load(columns.weight + i));
      }
      sum.add(block);
    }
    return sum.value() - sum.dropped();
  }

  // States of rows of panels.
  static void set(T& reference, double& sum, T of_panel, T panel_sum) {
    reference = of_panel;
    sum = static_cast<double>(panel_sum);
  }
  static void add(T& reference, double& sum, T of_panel, T panel_sum) {
    constexpr T infinity = NumberTraits<T>::infinity;
    const auto more = static_cast<double>(panel_sum);
    if (of_panel == reference || of_panel == -infinity || reference == infinity) {
      sum += more;  // 0 or NaN if there is no value above -inf
    } else if (of_panel < reference) {
      sum += more * factor(of_panel, reference);
    } else {
      sum = (reference == -infinity ? sum : sum * factor(reference, of_panel)) + more;
      reference = of_panel;
    }
  }
  static double factor(T from, T to) {
    return __builtin_exp(static_cast<double>(from) - static_cast<double>(to));
  }

  static T largest(const T* value, const T* weight, std::int64_t n) {
    V max = L::splat(-NumberTraits<T>::infinity);
    std::int64_t i = 0;
    for (; i + L::width <= n; i += L::width)
      max = larger(counted_value(L::load(value + i), L::load(weight + i)), max);
    if (i < n) {
      const auto rest = first_elements(n - i);  // the other weights are 0
      max = larger(counted_value(rest.load(value + i), rest.load(weight + i)), max);
    }
    return L::max(max);
  }

  /// The sum of weight * exp(value - reference) for the reference of ExpAccurate. A weight can be
  /// so large that the exponentials far below the reference matter, which ExpForSum doesn't make 0.
  static double sum(const T* value, const T* weight, std::int64_t n, T reference) {
    const ExpAccurate<L> exp(L::splat(reference));
    VectorSum<L> sum;
    std::int64_t i = 0;
    while (i + L::width <= n) {
      const std::int64_t end = smaller(i + vectors_per_block * L::width, n);
      V block{};
      for (; i + L::width <= end; i += L::width)
        block += term(exp, L::load(value + i), L::load(weight + i));
      sum.add(block);
    }
    if (i < n) {
      const auto rest = first_elements(n - i);  // the other weights are 0
      sum.add(term(exp, rest.load(value + i), rest.load(weight + i)));
    }
    return static_cast<double>(L::sum(sum.value()));
  }

  /// A sum as `units`, each 1 or -1, and a small rest.
  struct SumNearOne {
    double units;
    double rest;
  };

  KOKKOSSOFTMAX_HOST_FUNCTION static auto is_near_one(V x) {
    return (x > L::splat(1 - near_one_limit<T>)) & (x < L::splat(1 + near_one_limit<T>));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static V absolute(V x) { return larger(x, -x); }

  static bool has_unit_weight(const T* weight, std::int64_t n) {
    std::int64_t i = 0;
    for (; i + L::width <= n; i += L::width)
      if (any(is_near_one(absolute(L::load(weight + i))))) return true;
    if (i == n) return false;
    return any(is_near_one(absolute(first_elements(n - i).load(weight + i))));
  }

  static SumNearOne sum_near_one(const T* value, const T* weight, std::int64_t n) {
    SumNearOne all{0, 0};
    VectorSum<L> rest;
    const auto add = [&](V v, V w) KOKKOSSOFTMAX_HOST_LAMBDA {
      v = counted_value(v, w);
      w = counted_weight(v, w);
      const auto are_units = is_near_one(absolute(w)) & (absolute(v) < near_zero_limit<T>);
      if (any(are_units)) [[unlikely]]
        for (int lane = 0; lane < L::width; ++lane)
          if (are_units[lane]) add_unit(all, v[lane], w[lane]);
      rest.add((are_units ? V{} : w) * ExpAccurate<L>(V{})(v));
    };
    std::int64_t i = 0;
    for (; i + L::width <= n; i += L::width) add(L::load(value + i), L::load(weight + i));
    if (i < n) add(first_elements(n - i).load(value + i), first_elements(n - i).load(weight + i));
    all.rest += static_cast<double>(L::sum(rest.value()));
    return all;
  }

  static void add_unit(SumNearOne& sum, double value, double weight) {
    const double unit = weight < 0 ? -1 : 1;
    sum.units += unit;
    sum.rest += (weight - unit) + weight * __builtin_expm1(value);
  }

  /// The elements that a load doesn't read are 0. So is the weight of their terms.
  static FirstElements<T, L::width> first_elements(std::int64_t count) {
    return FirstElements<T, L::width>(static_cast<int>(count));
  }

  /// See exp_below_infinity().
  static HostState<T> of_infinite_max(const T* value, const T* weight, std::int64_t n) {
    constexpr T infinity = NumberTraits<T>::infinity;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      if (weight[i] != T(0) && value[i] != -infinity)
        sum += weight[i] * (value[i] == infinity ? T(1) : value[i] == value[i] ? T(0) : value[i]);
    return {infinity, infinity, sum};
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
