// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_SHORTROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_SHORTROWS_HPP

/// \file
/// Rows of a few vectors. As many rows as a vector has lanes are computed together: the reductions
/// over the lanes and what is computed once per row are done for all of them at once.

#include <host/DenseRows.hpp>
#include <host/NearZero.hpp>
#include <host/Operations.hpp>
#include <host/OutputStage.hpp>
#include <host/PipelinedShortRows.hpp>
#include <host/Prefetch.hpp>
#include <host/Processor.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// The largest number of vectors of a short row.
inline constexpr int max_short_vectors = 16;

/// Rows of (vectors - 1) * L::width + 1 to vectors * L::width columns. With vectors = 0, their
/// number is known at run time.
template <class Op, class L, int vectors, class Job>
class ShortRows {
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template ExpOfShifted<L>;
  /// Sets of L::width rows that are computed together, so that a processor with 512 instructions
  /// under way does not wait for the results of a set's reductions.
  static constexpr int sets = vectors == 1 ? 16 / L::width : 1;
  static constexpr int group = sets * L::width;
  static constexpr int max_vectors = vectors > 0 ? vectors : max_short_vectors;
  using Stage = OutputStage<typename Job::Y, group * max_vectors * L::width>;

 public:
  explicit ShortRows(const Job& job)
      : m_job(job),
        m_values(job.factors),
        m_count(static_cast<int>((job.columns + L::width - 1) / L::width)),
        m_rest(static_cast<int>(job.columns) - last()) {}

  void run() const {
    Stage stage(m_job);
    const std::int64_t whole = m_job.rows / group * group;
    for (std::int64_t r = 0; r < whole; r += group) run_group<true>(r, group, stage);
    if (whole < m_job.rows) run_group<false>(whole, static_cast<int>(m_job.rows - whole), stage);
    stage.end();
  }

 private:
  /// `is_whole`: whether the group has all of its rows. If not, the loops have fewer steps: a call
  /// of one row would take as long as a whole group otherwise.
  template <bool is_whole>
  KOKKOSSOFTMAX_HOST_FUNCTION void run_group(std::int64_t r, int all_rows, Stage& stage) const {
    const int rows = is_whole ? group : all_rows;
    const int used_sets = is_whole || sets == 1 ? sets : (rows + L::width - 1) / L::width;
    V kept[group][max_vectors];
    V of_row[sets][L::width] = {};
    LaneStates<L> states[sets] = {};
    for (int i = 0; i < rows; ++i) of_row[i / L::width][i % L::width] = read(r + i, kept[i]);
    for (int s = 0; s < used_sets; ++s) {
      states[s].max = L::reduce_each(
          of_row[s], [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return larger(a, b); });
      states[s].reference = Exp::reference(states[s].max);
      if constexpr (Op::keeps_exponentials)
        subtract(Exp::shift_of(states[s].reference), kept + s * L::width,
                 static_cast<int>(smaller(rows - s * L::width, L::width)));
    }
    for (int s = 0; s < used_sets; ++s) {
      const RowBroadcast<L, Exp> exp{Exp(states[s].reference)};
      const int count =
          is_whole ? L::width : static_cast<int>(smaller(rows - s * L::width, L::width));
      for (int i = 0; i < count; ++i)
        of_row[s][i] = sum_of_exp(exp.of_row(i), kept[s * L::width + i], stage,
                                  m_job.x + (r + group + s * L::width + i) * m_job.x_stride);
    }
    for (int s = 0; s < used_sets; ++s)
      states[s].sum = end_sum<Op, L>(
          states[s].max,
          L::reduce_each(of_row[s], [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return a + b; }));
    stage.begin_group();
    for (int s = 0; s < used_sets; ++s) {
      const int first = s * L::width;
      const int count = static_cast<int>(smaller(rows - first, L::width));
      if constexpr (Op::writes_entries) {
        using Output = typename Op::template Output<L>;
        const RowBroadcast<L, Output> output{Output(states[s], m_job.zero_empty_rows)};
        for (int i = 0; i < count; ++i)
          write(stage, r + first + i, output.of_row(i), kept[first + i]);
        write_beside(m_job, r + first, states[s], count);
      } else {
        write_log_sum_exps<Op>(m_job, r + first, states[s], count);
      }
    }
  }

  /// Reads a row; returns the largest values.
  KOKKOSSOFTMAX_HOST_FUNCTION V read(std::int64_t r, V (&v)[max_vectors]) const {
    const auto* x = m_job.x + r * m_job.x_stride;
    const V none = L::splat(-NumberTraits<T>::infinity);
    if constexpr (vectors == 1) prefetch_at(reinterpret_cast<const char*>(x) + 4096);
    V max = none;
    for (int k = 0; k < count() - 1; ++k) {
      v[k] = m_values(L::load(x + k * L::width));
      max = larger(v[k], max);
    }
    V& rest = v[count() - 1];
    rest = m_rest.select(m_values(m_rest.load(x + last())), none);
    return larger(rest, max);
  }

  /// Subtracts the shifts of large references. They are seldom other than 0.
  KOKKOSSOFTMAX_HOST_FUNCTION void subtract(V shifts, V (*v)[max_vectors], int rows) const {
    if (!any(shifts != T(0))) [[likely]]
      return;
    for (int i = 0; i < rows; ++i)
      for (int k = 0; k < count(); ++k) v[i][k] -= L::splat(shifts[i]);
  }

  /// Prefetches the row at `next` meanwhile, and streams rows that are computed.
  KOKKOSSOFTMAX_HOST_FUNCTION V sum_of_exp(const Exp& exp, V (&v)[max_vectors],
                                           [[maybe_unused]] Stage& stage,
                                           [[maybe_unused]] const typename Job::X* next) const {
    V sum{};
    for (int k = 0; k < count(); ++k) {
      if constexpr (vectors != 1) {
        prefetch_at(next + k * L::width);
        stage.stream_line();
      }
      if constexpr (Op::keeps_exponentials)
        sum += v[k] = exp(v[k]);
      else
        exp.add(sum, v[k]);
    }
    return sum;
  }

  template <class Output>
  KOKKOSSOFTMAX_HOST_FUNCTION void write(Stage& stage, std::int64_t r, const Output& output,
                                         const V (&v)[max_vectors]) const {
    auto* const y = stage.row(r);
    for (int k = 0; k < count() - 1; ++k) L::store(y + k * L::width, output(v[k]));
    const V rest = output(v[count() - 1]);
    if (stage.has_space_behind_rows())
      L::store(y + last(), rest);
    else
      m_rest.store(y + last(), rest);
    stage.end_row();
  }

  /// The number of vectors, and the first column of the last one.
  KOKKOSSOFTMAX_HOST_FUNCTION int count() const { return vectors > 0 ? vectors : m_count; }
  KOKKOSSOFTMAX_HOST_FUNCTION int last() const { return (count() - 1) * L::width; }

  const Job& m_job;
  ScaledValues<L> m_values;
  int m_count;
  FirstElements<T, L::width> m_rest;
};

template <class Op, class L, int vectors, class Job>
void short_rows_of(const Job& job) {
  ShortRows<Op, L, vectors, Job>(job).run();
}

template <class Op, class Job>
void other_short_rows(const Job& job) {
  using T = typename Job::T;
  using L = Lanes<T, widest<T>>;
  const std::int64_t n = job.columns;
  if constexpr (L::width >= 16)
    if (n <= L::width / 4) return short_rows_of<Op, Lanes<T, L::width / 4>, 1>(job);
  if constexpr (L::width >= 8)
    if (n <= L::width / 2) return short_rows_of<Op, Lanes<T, L::width / 2>, 1>(job);
  const int vectors = static_cast<int>((n + L::width - 1) / L::width);
  if (vectors == 1) return short_rows_of<Op, L, 1>(job);
  // Half types have no code of their own for each number, which would take too long to compile.
  if constexpr (sizeof(typename Job::X) >= 4) {
    switch (vectors) {
      case 2:
        return short_rows_of<Op, L, 2>(job);
      case 3:
        return short_rows_of<Op, L, 3>(job);
      case 4:
        return short_rows_of<Op, L, 4>(job);
      case 5:
        return short_rows_of<Op, L, 5>(job);
      case 6:
        return short_rows_of<Op, L, 6>(job);
      case 7:
        return short_rows_of<Op, L, 7>(job);
    }
  }
  short_rows_of<Op, L, 0>(job);
}

/// The rows of a job from row r on.
template <class Job>
Job rows_from(Job job, std::int64_t r) {
  job.x += r * job.x_stride;
  job.y += r * job.y_stride;
  job.rows -= r;
  skip_row_values(job, r);
  return job;
}

/// On AMD's Zen 4, short rows of floats or doubles take less time if they aren't streamed.
template <class Op, class Job>
void short_rows(Job job) {
  if (sizeof(typename Job::X) >= 4 && is_amd()) job.streams = false;
  const std::int64_t pipelined = pipelined_short_rows<Op>(job);
  if (pipelined == job.rows) return;
  job = rows_from(job, pipelined);
  const std::int64_t dense = dense_rows<Op>(job);
  if (dense < job.rows) other_short_rows<Op>(rows_from(job, dense));
}

/// Whether short_rows() computes rows of so many columns. On AMD's Zen 4, it is as fast as
/// long_rows() up to half of the number of vectors.
template <class T>
bool are_short_rows(std::int64_t columns) {
  return columns <= (is_amd() ? max_short_vectors / 2 : max_short_vectors) * widest<T>;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
