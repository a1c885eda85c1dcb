// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELWRITER_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELWRITER_HPP

/// \file
/// The output of rows that lie side by side, given their states.

#include <host/PanelPrefetch.hpp>
#include <host/PanelReduction.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// \tparam streams  whether whole cache lines of y are written past the caches
template <class Op, class Values, class L, bool streams, class Job>
class PanelWriter {
  using X = typename Job::X;
  using Y = typename Job::Y;
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template Exp<L>;
  using ExpOfShifted = typename Op::template ExpOfShifted<L>;
  using Output = typename Op::template Output<L>;
  static constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(Y));
  static constexpr std::int64_t step = streams && line > L::width ? line : L::width;
  /// A load waits for stores that are up to so many bytes earlier, see Page.hpp.
  static constexpr std::int64_t apart = 1024;

 public:
  /// Rows [first, first + rows) of a job.
  KOKKOSSOFTMAX_HOST_FUNCTION PanelWriter(const Job& job, std::int64_t first, std::int64_t rows,
                                          const HostPanelStates<T>& states)
      : m_job(job),
        m_values(job.factors),
        m_x(job.x + first),
        m_y(job.y + first),
        m_rows(rows),
        m_has_ends(streams && !are_whole_lines(m_y, job.y_column_stride, rows)),
        m_arrays(m_x) {
    for_each_vector_of<L>(rows, [&](std::int64_t j, const auto&) {
      const LaneStates<L> row = panel_states<L>(states, j);
      set_parameters(Exp(row.reference), m_arrays.array(0) + j);
      if constexpr (Op::keeps_exponentials)
        m_is_shifted = m_is_shifted || any(ExpOfShifted::shift_of(row.reference) != T(0));
      set_parameters(Output(row, job.zero_empty_rows), m_arrays.array(exp_parameters) + j);
    });
  }

  /// Writes a column. The next call is for the column before it, which is prefetched to `level`.
  template <PrefetchTo level>
  KOKKOSSOFTMAX_HOST_FUNCTION void write_column(std::int64_t column) {
    if constexpr (Op::keeps_exponentials)
      if (m_is_shifted) [[unlikely]]
        return write_column_with<level, Exp>(column);
    write_column_with<level, ExpOfShifted>(column);
  }

 private:
  /// The parameters of E must be the first ones of Exp.
  template <PrefetchTo level, class E>
  KOKKOSSOFTMAX_HOST_FUNCTION void write_column_with(std::int64_t column) {
    const X* const x = m_x + column * m_job.x_column_stride;
    Y* const y = m_y + column * m_job.y_column_stride;
    const Entries<level, E> entries{m_values, x,
                                    x - panel_columns_ahead<X>(m_rows) * m_job.x_column_stride,
                                    m_arrays.array(0), m_arrays.array(exp_parameters)};
    const std::int64_t begin = streams ? smaller(to_cache_line(y), m_rows) : 0;
    const std::int64_t end = begin + (m_rows - begin) / step * step;
    if (m_has_ends) prefetch_ends(y - panel_ends_ahead * m_job.y_column_stride, m_rows);
    write_some(entries, y, 0, begin);
    // If y is a bit behind x within a page, the last vectors are first, so that no load of x
    // follows a store at the same place.
    const std::int64_t y_behind_x = distance_in_page(y, x);
    if (y_behind_x > 0 && y_behind_x <= apart)
      for (std::int64_t j = end - L::width; j >= begin; j -= L::width)
        write_vector(y + j, entries.load(j, L{}));
    else
      for (std::int64_t j = begin; j < end; j += L::width)
        write_vector(y + j, entries.load(j, L{}));
    write_some(entries, y, end, m_rows);
  }

  /// The outputs of a column. It has its own copies of pointers, so that the compiler knows that
  /// writing y doesn't change them.
  template <PrefetchTo level, class E>
  struct Entries {
    Values values;
    const X* x;
    const X* ahead;  // what is prefetched
    const T* exp;    // the parameters of E and Output
    const T* output;

    template <class Access>
    KOKKOSSOFTMAX_HOST_FUNCTION V load(std::int64_t j, const Access& access) const {
      const Output output_of_row = with_parameters<Output>(output + j, access);
      prefetch_far<level>(ahead + j, 0);
      const V v = values(access.load(x + j));
      if constexpr (Op::keeps_exponentials)
        return output_of_row(with_parameters<E>(exp + j, access)(v));
      else
        return output_of_row(v);
    }
  };

  KOKKOSSOFTMAX_HOST_FUNCTION static void write_vector(Y* y, V v) {
    if constexpr (streams)
      L::stream_to(y, v);
    else
      L::store(y, v);
  }
  /// Writes rows [first, last), fewer than a cache line has. It is out of line, so that the loop
  /// over whole vectors has enough registers.
  template <class Entries>
  [[gnu::noinline]] static void write_some(const Entries& entries, Y* y, std::int64_t first,
                                           std::int64_t last) {
    for (std::int64_t j = first; j < last; j += L::width) {
      const FirstElements<T, L::width> some(static_cast<int>(smaller(last - j, L::width)));
      const V v = entries.load(j, some);
      if constexpr (streams)
        some.store_in_parts(y + j, v);
      else
        some.store(y + j, v);
    }
  }

  template <class P>
  static constexpr int parameters = sizeof(typename P::Parameters) / sizeof(V);
  static constexpr int exp_parameters = parameters<Exp>;

  /// Each parameter is in an array of its own.
  template <class P>
  KOKKOSSOFTMAX_HOST_FUNCTION static void set_parameters(const P& object, T* first) {
    typename P::Parameters p;
    object.get(p);
    for (int k = 0; k < parameters<P>; ++k) L::store(first + k * host_panel_rows, p[k]);
  }
  template <class P, class Access>
  KOKKOSSOFTMAX_HOST_FUNCTION static P with_parameters(const T* first, const Access& access) {
    typename P::Parameters p;
    for (int k = 0; k < parameters<P>; ++k) p[k] = access.load(first + k * host_panel_rows);
    return P(p);
  }

  const Job& m_job;
  Values m_values;
  const X* m_x;
  Y* m_y;
  std::int64_t m_rows;
  bool m_has_ends;  // whether columns have lines that are streamed only in part
  bool m_is_shifted = false;
  // At the place of x within a page, which no store follows closely.
  PanelArrays<T, exp_parameters + parameters<Output>> m_arrays;
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
