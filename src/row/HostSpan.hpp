// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_HOSTSPAN_HPP
#define KOKKOSSOFTMAX_SRC_ROW_HOSTSPAN_HPP

#include <cstdint>
#include <impl/device/numerics/KokkosSoftmax_Exp.hpp>

namespace KokkosSoftmax::Impl {

/// Neighbouring entries of a row on the host, with loops that compilers vectorize: the counterpart
/// of a Tile on a GPU. Entry i is the value of x[i], which stands in column first_column + i.
template <class X, class T, class Source>
class HostSpan {
 public:
  /// Long enough to amortise the work that is done once per span, and short enough for the
  /// first-level cache and for sums in T.
  static constexpr std::int64_t max_size = 512;

  KOKKOS_FORCEINLINE_FUNCTION HostSpan(const X* x, std::int64_t size, const Source& source,
                                       std::int64_t first_column = 0)
      : m_x(x), m_size(size), m_source(source), m_first_column(first_column) {}

  /// The largest of the entries and `start`; NaN is ignored.
  KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
    T best[lanes];
    for (int l = 0; l < lanes; ++l) best[l] = start;
    for_each_block([&](int l, T v) { best[l] = larger(best[l], v); });
    for (int l = 1; l < lanes; ++l) best[0] = larger(best[0], best[l]);
    return best[0];
  }

  /// The sum of exp(entry).
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) const {
    static_assert(!keep, "a HostSpan doesn't own its entries: see sum_into");
    return sum_of([&](std::int64_t, T v) { return exp(v); });
  }

  /// The same; also writes the terms to y[i].
  template <class Exp>
  KOKKOS_FORCEINLINE_FUNCTION T sum_into(T* y, const Exp& exp) const {
    return sum_of([&](std::int64_t i, T v) { return y[i] = exp(v); });
  }

  /// y[i * stride] = map(entry i)
  template <class Y, class Map>
  KOKKOS_FORCEINLINE_FUNCTION void transform_into(Y* y, std::int64_t stride, const Map& map) const {
    if (stride == 1)
      for (std::int64_t i = 0; i < m_size; ++i) y[i] = static_cast<Y>(map(entry(i)));
    else
      for (std::int64_t i = 0; i < m_size; ++i) y[i * stride] = static_cast<Y>(map(entry(i)));
  }

 private:
  /// The number of independent partial results of a reduction, so that it vectorizes without
  /// reordering by the compiler: two vectors of the widest instruction set.
  static constexpr int lanes = 128 / static_cast<int>(sizeof(T));

  KOKKOS_FORCEINLINE_FUNCTION T entry(std::int64_t i) const {
    return m_source.value(static_cast<T>(m_x[i]), m_first_column + i);
  }

  template <class Do>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_block(const Do& f) const {
    std::int64_t i = 0;
    for (; i + lanes <= m_size; i += lanes)
      for (int l = 0; l < lanes; ++l) f(l, entry(i + l));
    for (int l = 0; i + l < m_size; ++l) f(l, entry(i + l));
  }

  template <class Term>
  KOKKOS_FORCEINLINE_FUNCTION T sum_of(const Term& term) const {
    T partial[lanes] = {};
    std::int64_t i = 0;
    for (; i + lanes <= m_size; i += lanes)
      for (int l = 0; l < lanes; ++l) partial[l] += term(i + l, entry(i + l));
    for (int l = 0; i + l < m_size; ++l) partial[l] += term(i + l, entry(i + l));
    for (int width = lanes / 2; width > 0; width /= 2)
      for (int l = 0; l < width; ++l) partial[l] += partial[l + width];
    return partial[0];
  }

  const X* m_x;
  std::int64_t m_size;
  Source m_source;
  std::int64_t m_first_column;
};

}  // namespace KokkosSoftmax::Impl

#endif
