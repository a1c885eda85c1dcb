// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELREDUCTION_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELREDUCTION_HPP

/// \file
/// The states of rows that lie side by side, in one pass. Each lane of a vector belongs to one row.

#include <host/Operations.hpp>
#include <host/Page.hpp>
#include <host/Prefetch.hpp>
#include <host/VectorSum.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Calls f(first row, access) for each vector of `rows` rows. access has load(p) and store(p, v)
/// for the rows of this vector.
template <class L, class F>
KOKKOSSOFTMAX_HOST_FUNCTION void for_each_vector_of(std::int64_t rows, const F& f) {
  std::int64_t j = 0;
  for (; j + L::width <= rows; j += L::width) f(j, L{});
  if (j < rows) f(j, FirstElements<typename L::T, L::width>(static_cast<int>(rows - j)));
}

/// The states of the rows of a vector, the first of which is row j of a panel.
template <class L>
KOKKOSSOFTMAX_HOST_FUNCTION LaneStates<L> panel_states(const HostPanelStates<typename L::T>& states,
                                                       std::int64_t j) {
  return {L::load(states.max + j), L::load(states.reference + j),
          L::load(states.sum + j) - L::load(states.dropped + j)};
}

/// The distance from a column of a panel of so many rows to the one that is prefetched: far_ahead
/// bytes, or less if the panel is narrow. If columns are a power of two apart, those that are
/// prefetched share few places of the second-level cache.
template <class X>
KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t panel_columns_ahead(std::int64_t rows) {
  constexpr std::int64_t most = 16;
  return smaller(most, far_ahead / (rows * static_cast<std::int64_t>(sizeof(X))));
}

/// Adds up the exponentials of a panel of up to host_panel_rows rows, column after column. The
/// reference of a row stays the same until an entry exceeds it by more than 1, see OnlineSum
/// (team/OnlineSum.hpp).
template <class Op, class Values, class L, class X>
class PanelReduction {
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template Exp<L>;
  using States = HostPanelStates<T>;
  /// The columns whose exponentials are added up before they are added to the sum with
  /// compensation.
  static constexpr int block_columns = 16;
  /// The columns that are read together.
  static constexpr int group_columns = 4;
  /// The arrays that are written while x is read lie so many bytes before x within a page, so that
  /// no load of x follows a store at the same place, see Page.hpp.
  static constexpr std::int64_t bytes_before_x = 128;

 public:
  /// Rows whose first entries are x[0], x[1], ... and whose columns are `stride` apart.
  KOKKOSSOFTMAX_HOST_FUNCTION PanelReduction(const Values& values, const X* x, std::int64_t stride,
                                             std::int64_t rows, States& states)
      : m_values(values),
        m_x(x),
        m_stride(stride),
        m_rows(rows),
        m_states(states),
        m_arrays(reinterpret_cast<const char*>(x) - bytes_before_x),
        m_max(m_arrays.array(0)),
        m_reference(m_arrays.array(1)),
        m_terms(m_arrays.array(2)) {}

  /// Computes the states of so many columns.
  void run(std::int64_t columns) {
    begin();
    with_far_prefetches([&]<PrefetchTo level>() { add<level>(columns); });
    end();
  }

 private:
  void begin() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      L::store(m_max + j, L::splat(-NumberTraits<T>::infinity));
      L::store(m_reference + j, L::splat(-NumberTraits<T>::infinity));
      for (T* const sums : {m_terms, m_states.sum, m_states.dropped}) L::store(sums + j, V{});
    });
  }
  template <PrefetchTo level>
  void add(std::int64_t columns) {
    for (std::int64_t c = 0; c < columns; c += block_columns) {
      std::int64_t left = smaller(columns - c, block_columns);
      for (; left >= group_columns; left -= group_columns) add_group<level, group_columns>();
      for (; left > 0; --left) add_group<level, 1>();
      end_block();
    }
  }
  void end() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      const V max = L::load(m_max + j);
      L::store(m_states.max + j, max);
      L::store(m_states.reference + j, L::load(m_reference + j));
      for (T* const sums : {m_states.sum, m_states.dropped})
        L::store(sums + j, end_sum<Op, L>(max, L::load(sums + j)));
    });
  }

  /// Adds the next `columns` columns to the terms.
  template <PrefetchTo level, int columns>
  void add_group() {
    // Copies of members stay in registers, where stores through pointers don't change them.
    const Values values = m_values;
    const X* const x = m_x;
    const std::int64_t stride = m_stride;
    const std::int64_t ahead = panel_columns_ahead<X>(m_rows) * stride;
    T* const maxima = m_max;
    const T* const references = m_reference;
    T* const terms = m_terms;
    for_each_vector_of<L>(m_rows,
                          [&](std::int64_t j, const auto& access) KOKKOSSOFTMAX_HOST_LAMBDA {
                            // All loads come before the stores, which are at the same place within
                            // a page.
                            V max = L::load(maxima + j);
                            V sum = L::load(terms + j);
                            V reference = L::load(references + j);
                            V v[columns];
                            for (int c = 0; c < columns; ++c) {
                              prefetch_far<level>(x + j + c * stride + ahead, 0);
                              v[c] = values(access.load(x + j + c * stride));
                              max = larger(v[c], max);
                            }
                            if (any(max > reference + T(1))) {
                              raise(j, max);
                              sum = L::load(terms + j);
                              reference = L::load(references + j);
                            }
                            const ExpForSum<L> exp(reference);
                            for (int c = 0; c < columns; ++c) exp.add(sum, v[c]);
                            L::store(maxima + j, max);
                            L::store(terms + j, sum);
                          });
    m_x += columns * stride;
  }

  /// Moves the references of the rows of a vector whose maximum exceeds them by more than 1. It is
  /// inlined although it is rare: as a call, it makes the loop take 1.2 times as long.
  KOKKOSSOFTMAX_HOST_FUNCTION void raise(std::int64_t j, V max) {
    const V old = L::load(m_reference + j);
    const auto exceeds = max > old + T(1);
    const V reference = exceeds ? Exp::reference(max) : old;
    const V factor = ExpForSum<L>::of_at_most_one(old - reference);
    const V rescale = exceeds ? factor : L::splat(1);
    for (T* const sums : {m_terms, m_states.sum, m_states.dropped})
      L::store(sums + j, L::load(sums + j) * rescale);
    L::store(m_reference + j, reference);
  }

  /// Adds the terms of a block to the sums, with compensation.
  void end_block() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      VectorSum<L> sum(L::load(m_states.sum + j), L::load(m_states.dropped + j));
      sum.add(L::load(m_terms + j));
      L::store(m_states.sum + j, sum.value());
      L::store(m_states.dropped + j, sum.dropped());
      L::store(m_terms + j, V{});
    });
  }

  Values m_values;
  const X* m_x;  // of the next column
  std::int64_t m_stride;
  std::int64_t m_rows;
  States& m_states;
  PanelArrays<T, 3> m_arrays;
  T* m_max;
  T* m_reference;
  T* m_terms;  // the sums of a block of columns
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
