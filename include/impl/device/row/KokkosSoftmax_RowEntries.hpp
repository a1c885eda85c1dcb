// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_ROW_ROWENTRIES_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_ROW_ROWENTRIES_HPP

/// \file
/// The entries of one row for calls inside kernels: how they are loaded and stored, and the tiles
/// that hold some of them.

#include <Kokkos_BitManipulation.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/numerics/KokkosSoftmax_PartialSums.hpp>
#include <impl/device/row/KokkosSoftmax_BackwardEntry.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <impl/device/row/KokkosSoftmax_ReductionOrder.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Moves from an entry of a row to another. One pointer that moves takes fewer registers and
/// instructions than an address per entry.
template <class View>
class EntryPointer {
 public:
  using Entry = typename View::value_type;

  /// The entry of column `first`. operator++ moves on by `step` columns.
  KOKKOS_FORCEINLINE_FUNCTION EntryPointer(const View& view, std::int64_t first, int step)
      : m_entry(view.data() + first * stride_of(view)), m_distance(step * stride_of(view)) {}

  KOKKOS_FORCEINLINE_FUNCTION Entry& operator*() const { return *m_entry; }
  KOKKOS_FORCEINLINE_FUNCTION void operator++() { m_entry += m_distance; }

 private:
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t stride_of(const View& view) {
    return static_cast<std::int64_t>(view.stride(0));  // of most Views 1 at compile time
  }

  Entry* m_entry;
  std::int64_t m_distance;
};

/// How many of the columns `first`, first + step, and so on, a row has, or a large number. The step
/// is a power of two.
KOKKOS_FORCEINLINE_FUNCTION int count_columns(std::int64_t columns, std::int64_t first, int step) {
  constexpr std::int64_t most = 1 << 30;
  const std::int64_t left = columns - first < most ? columns - first : most;
  return left <= 0 ? 0
                   : (static_cast<int>(left) + (step - 1)) >>
                         Kokkos::countr_zero(static_cast<unsigned>(step));
}

/// A row in, and a row or nothing out: v = scale * x.
template <class XView, class YView>
class ForwardEntries {
 public:
  using Types = ValueTypes<typename XView::non_const_value_type, typename YView::value_type>;
  using T = typename Types::Compute;
  using Order = ReductionOrder<Types, 1>;

  KOKKOS_FORCEINLINE_FUNCTION ForwardEntries(const XView& x, const YView& y, T scale)
      : m_x(x),
        m_y(y),
        m_scale(kernel_scale(scale)),
        m_padding(scaled_padding<typename Types::X>(scale)) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t columns() const {
    return static_cast<std::int64_t>(m_x.extent(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION T value(std::int64_t column) const {
    return product(m_scale, static_cast<T>(m_x(column)));
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(std::int64_t column, T result) const {
    m_y(column) = static_cast<typename Types::Y>(result);
  }

  /// Some entries of a thread: columns `first`, first + step, and so on. Slots after the last
  /// column hold -inf, which adds nothing to a sum. `by_halves`: the order of halved_sum() in place
  /// of that of sum_of_partials().
  template <int size, bool by_halves>
  class Tile {
   public:
    KOKKOS_FORCEINLINE_FUNCTION void load(const ForwardEntries& row, std::int64_t first, int step) {
      const int count = count_columns(row.columns(), first, step);
      EntryPointer x(row.m_x, first, step);
      typename Types::X raw[size];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j, ++x) {
        raw[j] = row.m_padding;
        if (j < count) raw[j] = *x;
      }
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) m_value[j] = product(row.m_scale, static_cast<T>(raw[j]));
    }
    KOKKOS_FORCEINLINE_FUNCTION T max(T start) const {
      T partial[accumulators] = {start, start, start, start};
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j)
        partial[j % accumulators] = larger(partial[j % accumulators], m_value[j]);
      return larger(larger(partial[0], partial[1]), larger(partial[2], partial[3]));
    }
    /// The sum of exp(entry). With `keep`, the terms replace the entries.
    template <bool keep, class Exp>
    KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp& exp) {
      return sum_by(exp, [&](const auto& term) {
        constexpr int sums = by_halves ? size : accumulators;
        T partial[sums] = {};
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int j = 0; j < size; ++j)
          add_term<keep>(partial[j % sums], term, m_value[j], m_value[j]);
        if constexpr (by_halves)
          return halved_sum<size>(partial);
        else
          return sum_of_partials(partial);
      });
    }
    template <class Map>
    KOKKOS_FORCEINLINE_FUNCTION void transform(const Map& map) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) m_value[j] = map(m_value[j]);
    }
    template <class Map>
    KOKKOS_FORCEINLINE_FUNCTION void store(const ForwardEntries& row, std::int64_t first, int step,
                                           const Map& map) const {
      make_opaque(first);  // or the guards of the loads would be kept in registers
      const int count = count_columns(row.columns(), first, step);
      EntryPointer y(row.m_y, first, step);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j, ++y)
        if (j < count) *y = static_cast<typename Types::Y>(map(m_value[j]));
    }

   private:
    T m_value[size];
  };

 private:
  const XView& m_x;
  const YView& m_y;
  T m_scale;
  typename Types::X m_padding;  // times the scale it is -inf
};

/// Two rows in and one row out: y and dy, and dx.
template <bool is_log, class YView, class DYView, class DXView>
class BackwardEntries {
 public:
  using X = typename DXView::value_type;
  using Types = ValueTypes<X>;
  using T = typename Types::Compute;
  using Order = ReductionOrder<Types, 2>;

  KOKKOS_FORCEINLINE_FUNCTION BackwardEntries(const YView& y, const DYView& dy, const DXView& dx,
                                              T scale)
      : m_y(y), m_dy(dy), m_dx(dx), m_scale(scale) {}

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t columns() const {
    return static_cast<std::int64_t>(m_y.extent(0));
  }
  KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair(std::int64_t column) const {
    return pair(static_cast<T>(m_y(column)), static_cast<T>(m_dy(column)));
  }
  KOKKOS_FORCEINLINE_FUNCTION EntryPair<T> pair(T y, T dy) const {
    if constexpr (is_log)
      return pair_of_log_softmax<X>(y, dy, m_scale);
    else
      return pair_of_softmax(y, dy, m_scale);
  }
  /// Some entries of a thread, as in ForwardEntries. Slots after the last column hold the pair
  /// of a masked entry, which is 0 and 0.
  template <int size, bool by_halves>
  class Tile {
   public:
    KOKKOS_FORCEINLINE_FUNCTION void load(const BackwardEntries& row, std::int64_t first,
                                          int step) {
      const int count = count_columns(row.columns(), first, step);
      EntryPointer y(row.m_y, first, step);
      EntryPointer dy(row.m_dy, first, step);
      X raw_y[size], raw_dy[size];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j, ++y, ++dy) {
        raw_y[j] = raw_dy[j] = masked();
        if (j < count) {
          raw_y[j] = *y;
          raw_dy[j] = *dy;
        }
      }
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j)
        m_entry[j] = row.pair(static_cast<T>(raw_y[j]), static_cast<T>(raw_dy[j]));
    }
    /// The terms have no reference, so that there is no maximum to find.
    KOKKOS_FORCEINLINE_FUNCTION T max(T start) const { return start; }
    /// The sum of t.
    template <bool keep, class Exp>
    KOKKOS_FORCEINLINE_FUNCTION T sum(const Exp&) const {
      constexpr int sums = by_halves ? size : accumulators;
      T partial[sums] = {};
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j) partial[j % sums] += m_entry[j].t;
      if constexpr (by_halves)
        return halved_sum<size>(partial);
      else
        return sum_of_partials(partial);
    }
    template <class Map>
    KOKKOS_FORCEINLINE_FUNCTION void store(const BackwardEntries& row, std::int64_t first, int step,
                                           const Map& map) const {
      make_opaque(first);
      const int count = count_columns(row.columns(), first, step);
      EntryPointer dx(row.m_dx, first, step);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = 0; j < size; ++j, ++dx)
        if (j < count) *dx = static_cast<X>(map(m_entry[j].p, m_entry[j].t));
    }

   private:
    EntryPair<T> m_entry[size];
  };

 private:
  const YView& m_y;
  const DYView& m_dy;
  const DXView& m_dx;
  T m_scale;

  /// y of a masked entry.
  KOKKOS_FORCEINLINE_FUNCTION static X masked() {
    return static_cast<X>(is_log ? -Kokkos::Experimental::infinity_v<T> : T(0));
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
