// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_BACKTOBACKROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_BACKTOBACKROWS_HPP

/// \file
/// Rows of a few vectors that are stored back to back, in groups of as many rows as a vector has
/// lanes. While the exponentials of a row are computed, the largest entries of a row of the next
/// group are found, and a row of the group before is written. PipelinedRows does the same with more
/// instructions per row. The results have the bits of ShortRows.
///
/// The last vector of a row may reach into the next row. What is stored there is overwritten when
/// the next row is written. So no element is stored by itself, for which vectors of 32 bytes have
/// no fast instruction.

#include <host/NearZero.hpp>
#include <host/Operations.hpp>
#include <host/Processor.hpp>
#include <host/ShortRows.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// \tparam is_whole  whether rows consist of whole vectors. Otherwise y must not overlap x.
/// \tparam vectors   the number of whole vectors of a row; 0 for any number
template <class Op, class Values, class L, bool is_whole, int vectors, class Job>
class BackToBackRows {
  using T = typename L::T;
  using V = typename L::V;
  using Reference = typename Op::template ExpOfShifted<L>;
  static constexpr int group = L::width;  // rows

 public:
  static constexpr std::int64_t most_columns = 16 * L::width;

  explicit BackToBackRows(const Job& job) : m_job(job), m_columns(job) {}

  /// Computes whole groups. Returns the number of their rows, after which there is a row or, if
  /// rows consist of whole vectors, may be none.
  std::int64_t run() {
    const std::int64_t groups = (is_whole ? m_job.rows : m_job.rows - 1) / group;
    if (groups <= 0) return 0;
    for (int i = 0; i < group; ++i) m_largest[i] = largest_of(row(i));
    for (std::int64_t g = 0; g < groups; ++g) compute_group(g, smaller(g + 1, groups - 1));
    if constexpr (Op::writes_entries) write_group(groups - 1);
    return groups * group;
  }

 private:
  static constexpr std::int64_t kept_stride = most_columns;

  /// The columns of each row. Copies stay in registers, where stores through pointers don't change
  /// them.
  struct Columns {
    std::int64_t count;
    std::int64_t whole;     // those in whole vectors
    std::int64_t in_pairs;  // those in pairs of whole vectors
    Values values;
    FirstElements<T, L::width> rest;

    explicit Columns(const Job& job)
        : count(job.columns),
          whole(count / L::width * L::width),
          in_pairs(count / (2 * L::width) * (2 * L::width)),
          values(job.factors),
          rest(static_cast<int>(count - whole)) {}

    KOKKOSSOFTMAX_HOST_FUNCTION V whole_at(const T* x, std::int64_t c) const {
      return values(L::load(x + c));
    }
    /// The values of the last vector, if it isn't whole.
    KOKKOSSOFTMAX_HOST_FUNCTION V rest_at(const T* x) const {
      return rest.select(whole_at(x, whole), L::splat(-NumberTraits<T>::infinity));
    }
  };
  /// Where the rows are that a step reads and writes.
  struct RowsOfStep {
    const T* next;      // of the next group
    const T* x;         // whose exponentials are computed
    const T* x_before;  // of the group before
    T* y;               // the results of that row
    T* kept;            // its exponentials, which those of x replace
  };

  const T* row(std::int64_t r) const { return m_job.x + r * m_job.columns; }
  T* result(std::int64_t r) const { return m_job.y + r * m_job.columns; }

  V largest_of(const T* x) const {
    V max = L::splat(-NumberTraits<T>::infinity);
    for (std::int64_t c = 0; c < m_columns.whole; c += L::width)
      max = larger(m_columns.whole_at(x, c), max);
    return is_whole ? max : larger(m_columns.rest_at(x), max);
  }

  void compute_group(std::int64_t g, std::int64_t next) {
    using Exp = typename Op::template Exp<L>;
    m_before = m_states;
    m_states.max =
        L::reduce_each(m_largest, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return larger(a, b); });
    m_states.reference = Reference::reference(m_states.max);
    if (has_shifts()) [[unlikely]]
      compute_rows<Exp>(g, next);
    else
      compute_rows<Reference>(g, next);
    m_states.sum = end_sum<Op, L>(
        m_states.max,
        L::reduce_each(m_sums, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return a + b; }));
    if constexpr (Op::writes_entries)
      write_beside(m_job, g * group, m_states, group);
    else
      write_log_sum_exps<Op>(m_job, g * group, m_states, group);
  }

  /// Whether rows of the group have a large reference, which is rare, see ExpOfShifted.
  KOKKOSSOFTMAX_HOST_FUNCTION bool has_shifts() const {
    if constexpr (Op::keeps_exponentials)
      return any(Reference::shift_of(m_states.reference) != T(0));
    else
      return false;
  }

  /// Before the first group there is none to write: its results go to the place of what is kept.
  template <class Exp>
  [[gnu::noinline]] void compute_rows(std::int64_t g, std::int64_t next) {
    const RowBroadcast<L, Exp> exp{Exp(m_states.reference)};
    const auto output = outputs(m_before);
    const bool is_first = g == 0;
    RowsOfStep rows{row(next * group), row(g * group), row((is_first ? g : g - 1) * group),
                    is_first ? m_kept : result((g - 1) * group), m_kept};
    const std::int64_t y_step = is_first && Op::keeps_exponentials ? kept_stride : m_job.columns;
    const Columns columns = m_columns;
    for (int i = 0; i < group; ++i) {
      compute_row(columns, rows, exp.of_row(i), output.of_row(i), m_largest[i], m_sums[i]);
      rows.next += columns.count;
      rows.x += columns.count;
      rows.x_before += columns.count;
      rows.y += y_step;
      rows.kept += kept_stride;
    }
  }

  /// The outputs of a group; without parameters if none are written.
  struct NoOutputs {
    KOKKOSSOFTMAX_HOST_FUNCTION NoOutputs of_row(int) const { return {}; }
  };
  KOKKOSSOFTMAX_HOST_FUNCTION auto outputs(const LaneStates<L>& states) const {
    if constexpr (Op::writes_entries) {
      using Output = typename Op::template Output<L>;
      return RowBroadcast<L, Output>{Output(states, m_job.zero_empty_rows)};
    } else {
      return NoOutputs{};
    }
  }

  template <class Exp, class Output>
  KOKKOSSOFTMAX_HOST_FUNCTION static void compute_row(const Columns& columns,
                                                      const RowsOfStep& rows, const Exp& exp,
                                                      const Output& output, V& largest,
                                                      V& sum_of_row) {
    V max[2] = {L::splat(-NumberTraits<T>::infinity), L::splat(-NumberTraits<T>::infinity)};
    V sum{};
    const auto step = [&](int k, std::int64_t c, V v_next, V v) KOKKOSSOFTMAX_HOST_LAMBDA {
      max[k] = larger(v_next, max[k]);
      if constexpr (Op::keeps_exponentials) {
        const V result = output(L::load(rows.kept + c));
        const V e = exp(v);
        L::store(rows.y + c, result);
        L::store(rows.kept + c, e);
        sum += e;
      } else {
        if constexpr (Op::writes_entries)
          L::store(rows.y + c, output(columns.whole_at(rows.x_before, c)));
        exp.add(sum, v);
      }
    };
    const auto whole_step = [&](int k, std::int64_t c) KOKKOSSOFTMAX_HOST_LAMBDA {
      step(k, c, columns.whole_at(rows.next, c), columns.whole_at(rows.x, c));
    };
    std::int64_t c = 0;
    if constexpr (vectors > 0) {
      for (int k = 0; k < vectors; ++k, c += L::width) whole_step(k % 2, c);
    } else {
      for (; c < columns.in_pairs; c += 2 * L::width) {
        whole_step(0, c);
        whole_step(1, c + L::width);
      }
      if (c < columns.whole) {
        whole_step(0, c);
        c += L::width;
      }
    }
    if constexpr (!is_whole) step(1, c, columns.rest_at(rows.next), columns.rest_at(rows.x));
    largest = larger(max[0], max[1]);
    sum_of_row = sum;
  }

  void write_group(std::int64_t g) const {
    const auto output = outputs(m_states);
    for (int i = 0; i < group; ++i) {
      const auto of_row = output.of_row(i);
      const std::int64_t r = g * group + i;
      for (std::int64_t c = 0; c < m_job.columns; c += L::width)
        L::store(result(r) + c,
                 of_row(Op::keeps_exponentials ? L::load(m_kept + i * kept_stride + c)
                                               : m_columns.whole_at(row(r), c)));
    }
  }

  const Job& m_job;
  Columns m_columns;
  LaneStates<L> m_states{};
  LaneStates<L> m_before{};
  V m_sums[group]{};
  V m_largest[group];
  alignas(64) T m_kept[group * kept_stride + L::width] = {};
};

/// Whether the results of a job may be stored over entries of rows that aren't read yet.
template <class Job>
bool may_overwrite_later_rows(const Job& job) {
  if constexpr (std::is_same_v<typename Job::X, typename Job::Y>) {
    const std::int64_t entries = job.rows * job.columns;
    return job.y + entries <= job.x || job.x + entries <= job.y;
  }
  return true;
}

template <class Op, class Values, class L, class Job>
std::int64_t back_to_back_rows_of(const Job& job) {
  const auto run = [&]<bool is_whole, int vectors>() {
    return BackToBackRows<Op, Values, L, is_whole, vectors, Job>(job).run();
  };
  if (job.columns == 2 * L::width) return run.template operator()<true, 2>();
  if (job.columns == 4 * L::width) return run.template operator()<true, 4>();
  if (job.columns % L::width == 0) return run.template operator()<true, 0>();
  if (Op::writes_entries && !may_overwrite_later_rows(job)) return 0;
  if (job.columns < 2 * L::width) return run.template operator()<false, 1>();
  return run.template operator()<false, 0>();
}

/// Computes the first rows of a job by BackToBackRows if that takes less time than other kernels.
/// Returns their number, which may be 0. The choice was measured on AMD's Zen 3. Processors of
/// others stream short rows (ShortRows).
template <class Op, class Values, class L, class Job>
std::int64_t back_to_back_rows([[maybe_unused]] const Job& job) {
  using T = typename L::T;
  if constexpr (sizeof(typename L::V) == 32 && std::is_same_v<typename Job::X, T> &&
                std::is_same_v<typename Job::Y, T>) {
    // More columns take less time if they are streamed.
    constexpr std::int64_t most_to_stream = 127;
    const std::int64_t most = BackToBackRows<Op, Values, L, true, 0, Job>::most_columns;
    const bool are_few_columns = job.columns > L::width && job.columns <= most;
    const bool is_back_to_back =
        job.x_stride == job.columns && (!Op::writes_entries || job.y_stride == job.columns);
    // Longer rows of logsumexp are added up in another order if they are alone.
    const bool has_order = Op::writes_entries || are_short_rows<T>(job.columns);
    const bool is_stored = !job.streams || (is_amd() && job.columns <= most_to_stream);
    if (is_back_to_back && has_order && is_stored && are_few_columns && job.rows > L::width)
      return back_to_back_rows_of<Op, Values, L>(job);
  }
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
