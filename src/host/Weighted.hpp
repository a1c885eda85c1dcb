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
    const T max = largest(value, n);
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
  static void panel(const HostWeightedPanel<T>& panel) {
    alignas(64) T reference[host_panel_rows];
    for_each_vector_of<L>(panel.rows, [&](std::int64_t j, const auto& access) {
      const T* const value = panel.value + j;
      const V max = largest_of_columns(access, value, panel.distance, panel.columns);
      const V of_rows = ExpAccurate<L>::reference(max);
      access.store(panel.sum + j, sum_of_columns(access, value, panel.weight + j, panel.distance,
                                                 panel.columns, of_rows));
      access.store(reference + j, of_rows);
    });
    set_log_sum_exps(panel, reference);
  }

  static constexpr HostWeightedKernels<T> all() { return {&reduce, &settled, &panel}; }

 private:
  static constexpr int vectors_per_block = 16;

  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static V largest_of_columns(const Access& access, const T* value,
                                                          std::int64_t distance, std::int64_t n) {
    V max = L::splat(-NumberTraits<T>::infinity);
    for (std::int64_t c = 0; c < n; ++c) max = larger(access.load(value + c * distance), max);
    return max;
  }
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static V sum_of_columns(const Access& access, const T* value,
                                                      const T* weight, std::int64_t distance,
                                                      std::int64_t n, V reference) {
    const ExpAccurate<L> exp(reference);
    VectorSum<L> sum;
    for (std::int64_t c = 0; c < n;) {
      V block{};
      for (const std::int64_t end = smaller(c + vectors_per_block, n); c < end; ++c)
        block += access.load(weight + c * distance) * exp(access.load(value + c * distance));
      sum.add(block);
    }
    return sum.value() - sum.dropped();
  }
  /// The logarithms are added to the references in double, because the two can cancel.
  static void set_log_sum_exps(const HostWeightedPanel<T>& panel, const T* reference) {
    using D = Lanes<double, widest<double>>;
    alignas(64) double log[host_panel_rows];
    for (std::int64_t r = 0; r < panel.rows; ++r)
      log[r] = __builtin_fabs(static_cast<double>(panel.sum[r]));
    for_each_vector_of<D>(panel.rows, [&](std::int64_t j, const auto& access) {
      access.store(log + j, log_of<D>(access.load(log + j)));
    });
    constexpr T limit = near_zero_limit<T>;
    for (std::int64_t r = 0; r < panel.rows; ++r) {
      const double lse = static_cast<double>(reference[r]) + log[r];
      panel.lse[r] = static_cast<T>(lse);
      panel.is_open[r] = reference[r] == NumberTraits<T>::infinity ||
                         (reference[r] > -(T(1) + limit) && __builtin_fabs(lse) < limit);
    }
  }

  static T largest(const T* value, std::int64_t n) {
    V max = L::splat(-NumberTraits<T>::infinity);
    std::int64_t i = 0;
    for (; i + L::width <= n; i += L::width) max = larger(L::load(value + i), max);
    T all = L::max(max);
    for (; i < n; ++i) all = value[i] > all ? value[i] : all;
    return all;
  }

  /// The sum of weight * exp(value - reference) for the reference of ExpAccurate. A weight can be
  /// so large that the exponentials far below the reference matter, which ExpForSum doesn't make 0.
  static double sum(const T* value, const T* weight, std::int64_t n, T reference) {
    const ExpAccurate<L> exp(L::splat(reference));
    const auto term = [&](V v, V w) KOKKOSSOFTMAX_HOST_LAMBDA { return w * exp(v); };
    VectorSum<L> sum;
    std::int64_t i = 0;
    while (i + L::width <= n) {
      const std::int64_t end = smaller(i + vectors_per_block * L::width, n);
      V block{};
      for (; i + L::width <= end; i += L::width)
        block += term(L::load(value + i), L::load(weight + i));
      sum.add(block);
    }
    if (i < n) {
      const FirstElements<T, L::width> rest(static_cast<int>(n - i));
      sum.add(rest.select(term(rest.load(value + i), rest.load(weight + i)), V{}));
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
      sum += weight[i] * (value[i] == infinity ? T(1) : value[i] == value[i] ? T(0) : value[i]);
    return {infinity, infinity, sum};
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
