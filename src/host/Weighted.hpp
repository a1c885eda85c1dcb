// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_WEIGHTED_HPP
#define KOKKOSSOFTMAX_SRC_HOST_WEIGHTED_HPP

/// \file
/// The state of entries with weights.

#include <host/RowReduction.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class T>
struct WeightedKernelsOf {
  using L = Lanes<T, widest<T>>;
  using V = typename L::V;

  /// See HostWeightedKernels.
  static HostState<T> reduce(const T* value, const T* weight, std::int64_t n) {
    const T max = largest(value, n);
    if (max == NumberTraits<T>::infinity) return of_infinite_max(value, weight, n);
    return {max, max, sum(value, weight, n, max)};
  }

  static constexpr HostWeightedKernels<T> all() { return {&reduce}; }

 private:
  static constexpr int vectors_per_block = 16;

  static T largest(const T* value, std::int64_t n) {
    V max = L::splat(-NumberTraits<T>::infinity);
    std::int64_t i = 0;
    for (; i + L::width <= n; i += L::width) max = larger(L::load(value + i), max);
    T all = L::max(max);
    for (; i < n; ++i) all = value[i] > all ? value[i] : all;
    return all;
  }

  /// The sum of weight * exp(value - reference).
  static double sum(const T* value, const T* weight, std::int64_t n, T reference) {
    const ExpForSum<L> exp(L::splat(reference));
    const auto term = [&](V v, V w) KOKKOSSOFTMAX_HOST_LAMBDA {
      V e{};
      exp.add(e, v);
      return w * e;
    };
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

  /// The entries that are less than +inf add nothing to the weights of those that are +inf. NaN
  /// stays NaN.
  static HostState<T> of_infinite_max(const T* value, const T* weight, std::int64_t n) {
    constexpr T infinity = NumberTraits<T>::infinity;
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      sum += value[i] == infinity ? weight[i] : value[i] == value[i] ? T(0) : value[i];
    return {infinity, infinity, sum};
  }
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
