// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELS_HPP

/// \file
/// Rows that lie side by side. A panel is a group of neighbouring rows; each lane of a vector
/// belongs to one row, so that nothing is transposed or reduced over lanes.

#include <host/NearZero.hpp>
#include <host/RowReduction.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Calls f(first row, access) for each vector of `rows` rows. access has load(p) and store(p, v)
/// for the rows of this vector.
template <class L, class F>
KOKKOSSOFTMAX_HOST_FUNCTION void for_each_vector_of(std::int64_t rows, const F& f) {
  std::int64_t j = 0;
  for (; j + L::width <= rows; j += L::width) f(j, L{});
  if (j < rows) f(j, FirstElements<typename L::T, L::width>(static_cast<int>(rows - j)));
}

/// Makes `lse` the log-sum-exp of row j of a panel.
template <class T>
void set_log_sum_exp(HostPanelStates<T>& states, std::int64_t j, T lse) {
  states.reference[j] = lse;
  states.sum[j] = T(1);
  states.dropped[j] = T(0);
}

/// The states of the rows of a panel, and what is done with a vector of them.
template <class Op, class Values, class L, class Job>
class Panel {
  using X = typename Job::X;
  using Y = typename Job::Y;
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template Exp<L>;
  using Output = typename Op::template Output<L>;
  using States = HostPanelStates<T>;
  static constexpr T minus_infinity = -NumberTraits<T>::infinity;

 public:
  /// The columns whose exponentials are added up before they are added to the sum with
  /// compensation.
  static constexpr int tile_columns = 8;

  /// Rows [first, first + rows) of a job.
  KOKKOSSOFTMAX_HOST_FUNCTION Panel(const Job& job, std::int64_t first, std::int64_t rows,
                                    States& states)
      : m_job(job),
        m_values(job.factors),
        m_x(job.x + first),
        m_first(first),
        m_rows(rows),
        m_states(states) {}

  void clear() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      L::store(m_states.max + j, L::splat(minus_infinity));
      L::store(m_states.reference + j, L::splat(minus_infinity));
      L::store(m_states.sum + j, V{});
      L::store(m_states.dropped + j, V{});
    });
  }

  /// Adds columns [first, last), at most tile_columns, for the rows of a vector. Raises the
  /// references first if entries need it.
  template <class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION void add_tile(std::int64_t j, const Access& access,
                                            std::int64_t first, std::int64_t last) {
    const std::int64_t stride = m_job.x_column_stride;
    const auto* x = m_x + first * stride + j;
    const int columns = static_cast<int>(last - first);
    V v[tile_columns];
    V max = L::load(m_states.max + j);
    for (int c = 0; c < columns; ++c, x += stride) {
      prefetch_far(x + tile_columns * stride, 0);
      v[c] = m_values(access.load(x));
      max = larger(v[c], max);
    }
    L::store(m_states.max + j, max);
    raise(j, max);
    const ExpForSum<L> exp(L::load(m_states.reference + j));
    V sums[2] = {};
    if (columns == tile_columns) {
      for (int c = 0; c < tile_columns; ++c) exp.add(sums[c % 2], v[c]);
    } else {
      for (int c = 0; c < columns; ++c) exp.add(sums[c % 2], v[c]);
    }
    add_to_sum(j, sums[0] + sums[1]);
  }

  /// Ends the sums.
  void end_sums() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      const V max = L::load(m_states.max + j);
      L::store(m_states.sum + j, end_sum<Op, L>(max, L::load(m_states.sum + j)));
      L::store(m_states.dropped + j, end_sum<Op, L>(max, L::load(m_states.dropped + j)));
    });
  }

  /// Makes the log-sum-exps that are near 0 the references of their rows. The sums are those of
  /// columns [first, last).
  void keep_digits(std::int64_t first, std::int64_t last) {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto& access) {
      const LaneStates<L> rows = states(j);
      const int count = static_cast<int>(smaller(L::width, m_rows - j));
      const V lse = rows.log_sum_exp();
      const auto near_zero = are_near_zero<L>(rows.reference, lse);
      if (!any(near_zero)) return;
      SumsBesideMax<L> sums;
      for (std::int64_t c = first; c < last; ++c)
        sums.add(written_value<L>(m_job.factors,
                                  m_values(access.load(m_x + c * m_job.x_column_stride + j))));
      for (int i = 0; i < count; ++i)
        if (near_zero[i]) set_log_sum_exp(m_states, j + i, sums.log_sum_exp(i));
    });
  }

  /// Writes what there is one number of per row.
  void finish() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      const int count = static_cast<int>(smaller(L::width, m_rows - j));
      const LaneStates<L> rows = states(j);
      if constexpr (Op::writes_entries)
        write_beside(m_job, m_first + j, rows, count);
      else
        write_row_values<L>(m_job, m_first + j, rows.log_sum_exp(), count);
    });
  }

  /// Replaces the states by the parameters of Exp and Output, which write_column uses.
  void prepare_output() {
    for_each_vector_of<L>(m_rows, [&](std::int64_t j, const auto&) {
      const LaneStates<L> rows = states(j);
      set_parameters(Exp(rows.reference), m_states.max + j, m_states.reference + j);
      set_parameters(Output(rows, m_job.zero_empty_rows), m_states.sum + j, m_states.dropped + j);
    });
  }

  /// Writes a column.
  template <bool streams>
  KOKKOSSOFTMAX_HOST_FUNCTION void write_column(std::int64_t column) const {
    const Entries entries{*this, m_x + column * m_job.x_column_stride};
    RowWriter<streams, L, Y, Entries, Unchanged>(m_job.y + m_first + column * m_job.y_column_stride,
                                                 m_rows, entries, Unchanged{})
        .write_rest();
  }

  KOKKOSSOFTMAX_HOST_FUNCTION LaneStates<L> states(std::int64_t j) const {
    return {L::load(m_states.max + j), L::load(m_states.reference + j),
            L::load(m_states.sum + j) - L::load(m_states.dropped + j)};
  }

 private:
  struct Unchanged {
    KOKKOSSOFTMAX_HOST_FUNCTION V operator()(V v) const { return v; }
  };

  /// The outputs of a column, see RowWriter.
  struct Entries {
    const Panel& panel;
    const X* x;

    KOKKOSSOFTMAX_HOST_FUNCTION V at(std::int64_t j) const { return load(j, L{}); }
    KOKKOSSOFTMAX_HOST_FUNCTION V first(std::int64_t j,
                                        const FirstElements<T, L::width>& some) const {
      return load(j, some);
    }
    template <class Access>
    KOKKOSSOFTMAX_HOST_FUNCTION V load(std::int64_t j, const Access& access) const {
      const States& states = panel.m_states;
      const Output output = parameters<Output>(states.sum + j, states.dropped + j, access);
      prefetch_far(x + j - panel.m_job.x_column_stride, 0);
      const V v = panel.m_values(access.load(x + j));
      if constexpr (Op::keeps_exponentials)
        return output(parameters<Exp>(states.max + j, states.reference + j, access)(v));
      else
        return output(v);
    }
  };

  template <class P>
  KOKKOSSOFTMAX_HOST_FUNCTION static void set_parameters(const P& object, T* first, T* second) {
    typename P::Parameters p;
    object.get(p);
    L::store(first, p[0]);
    if constexpr (sizeof(p) > sizeof(V)) L::store(second, p[1]);
  }
  template <class P, class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static P parameters(const T* first, const T* second,
                                                  const Access& access) {
    typename P::Parameters p;
    p[0] = access.load(first);
    if constexpr (sizeof(p) > sizeof(V)) p[1] = access.load(second);
    return P(p);
  }

  /// Moves the references of rows whose maximum exceeds them by more than the slack.
  KOKKOSSOFTMAX_HOST_FUNCTION void raise(std::int64_t j, V max) {
    const V old = L::load(m_states.reference + j);
    const auto exceeds = max > old + T(1);
    if (!any(exceeds)) return;
    const V reference = exceeds ? Exp::reference(max) : old;
    const V factor = ExpForSum<L>::of_at_most_one(old - reference);
    const V rescale = exceeds ? factor : L::splat(1);
    L::store(m_states.sum + j, L::load(m_states.sum + j) * rescale);
    L::store(m_states.dropped + j, L::load(m_states.dropped + j) * rescale);
    L::store(m_states.reference + j, reference);
  }

  KOKKOSSOFTMAX_HOST_FUNCTION void add_to_sum(std::int64_t j, V terms) {
    VectorSum<L> sum(L::load(m_states.sum + j), L::load(m_states.dropped + j));
    sum.add(terms);
    L::store(m_states.sum + j, sum.value());
    L::store(m_states.dropped + j, sum.dropped());
  }

  const Job& m_job;
  Values m_values;
  const X* m_x;
  std::int64_t m_first;
  std::int64_t m_rows;
  States& m_states;
};

/// The states of columns [first, last) of a panel.
template <class Op, class Values, class L, class Job>
void reduce_panel(const Job& job, std::int64_t first_row, std::int64_t rows, std::int64_t first,
                  std::int64_t last, HostPanelStates<typename L::T>& states) {
  Panel<Op, Values, L, Job> panel(job, first_row, rows, states);
  constexpr int tile = Panel<Op, Values, L, Job>::tile_columns;
  panel.clear();
  for (std::int64_t c = first; c < last; c += tile)
    for_each_vector_of<L>(rows, [&](std::int64_t j, const auto& access) {
      panel.add_tile(j, access, c, smaller(last, c + tile));
    });
  panel.end_sums();
  if constexpr (keeps_digits<Op, Job>) panel.keep_digits(first, last);
}

/// Adds the entries of `from` to `into`, for the first `rows` rows. See merge() of rows.
template <class Op, class L>
void merge_panel(HostPanelStates<typename L::T>& into, const HostPanelStates<typename L::T>& from,
                 std::int64_t rows) {
  using T = typename L::T;
  using V = typename L::V;
  const auto rescaled = [](V sum, V old, V reference) {
    const V factor = ExpForSum<L>::of_at_most_one(old - reference);
    return sum * (old == reference ? L::splat(1) : factor);
  };
  for_each_vector_of<L>(rows, [&](std::int64_t j, const auto&) {
    const V old = L::load(into.reference + j);
    const V from_reference = L::load(from.reference + j);
    const V from_max = L::load(from.max + j);
    const V reference = from_max > old + T(1) ? from_reference : old;
    VectorSum<L> sum(rescaled(L::load(into.sum + j), old, reference),
                     rescaled(L::load(into.dropped + j), old, reference));
    const V added = L::load(from.sum + j) - L::load(from.dropped + j);
    // all entries -inf: the sum is 0, and the factor can be infinite
    sum.add(added == T(0) ? V{} : rescaled(added, from_reference, reference));
    [[maybe_unused]] const V old_sum = L::load(into.sum + j) - L::load(into.dropped + j);
    L::store(into.max + j, larger(from_max, L::load(into.max + j)));
    L::store(into.reference + j, reference);
    L::store(into.sum + j, sum.value());
    L::store(into.dropped + j, sum.dropped());
    if constexpr (!Op::writes_entries) {
      const auto near_zero =
          are_near_zero<L>(reference, reference + log_of<L>(sum.value() - sum.dropped()));
      if (!any(near_zero)) return;
      const auto lse = [](V reference, V sum, int i) {
        return log_sum_exp_of_state(reference[i], static_cast<double>(sum[i]));
      };
      for (int i = 0; i < L::width; ++i)
        if (near_zero[i])
          set_log_sum_exp(into, j + i,
                          merged_near_zero<T>(lse(old, old_sum, i), lse(from_reference, added, i)));
    }
  });
}

/// Writes columns [first, last) of a panel, last ones first. Replaces the states.
template <class Op, class Values, class L, class Job>
void write_panel(const Job& job, std::int64_t first_row, std::int64_t rows, std::int64_t first,
                 std::int64_t last, HostPanelStates<typename L::T>& states) {
  if constexpr (Op::writes_entries) {
    Panel<Op, Values, L, Job> panel(job, first_row, rows, states);
    panel.prepare_output();
    if (job.streams)
      for (std::int64_t c = last - 1; c >= first; --c) panel.template write_column<true>(c);
    else
      for (std::int64_t c = last - 1; c >= first; --c) panel.template write_column<false>(c);
  }
}

template <class Op, class Values, class L, class Job>
void wide_panels(const Job& job) {
  HostPanelStates<typename L::T> states;
  for (std::int64_t r = 0; r < job.rows; r += host_panel_rows) {
    const std::int64_t rows = smaller(host_panel_rows, job.rows - r);
    reduce_panel<Op, Values, L>(job, r, rows, 0, job.columns, states);
    Panel<Op, Values, L, Job>(job, r, rows, states).finish();
    write_panel<Op, Values, L>(job, r, rows, 0, job.columns, states);
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
