// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDROWS_HPP

/// \file
/// Rows in groups, three groups at a time: while the exponentials of a group are computed, the
/// largest entries of the next group are found, and the group before is written.

#include <host/PipelineStep.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class Op, class Values, class L, bool streams, RowEnds ends, class Job>
class PipelinedRows {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template ExpOfShifted<L>;
  using Output = typename Op::template Output<L>;
  using Columns = RowColumns<L, X, Values, ends == RowEnds::none>;
  using Step = PipelineStep<Op, L, streams, true>;
  /// A group has so many vectors or more, which hide the time of its reductions over lanes, unless
  /// its rows are shorter: it has one row per lane at most.
  static constexpr std::int64_t group_vectors = 256;

 public:
  explicit PipelinedRows(const Job& job)
      : m_job(job),
        m_values(job.factors),
        m_vectors((job.columns + L::width - 1) / L::width),
        m_rest(static_cast<int>(job.columns - last())),
        m_group(static_cast<int>(
            smaller(smaller((group_vectors + m_vectors - 1) / m_vectors, L::width), job.rows))),
        m_lead(lead()),
        m_rotation(rotation()),
        m_kept(kept_apart_from_x(job)) {}

  void run() {
    for (int i = 0; i < m_group; ++i) m_largest[i] = columns_of(i).largest_from(0);
    with_far_prefetches([&]<PrefetchTo level>() { compute_all<level>(); });
    write_group((m_job.rows - 1) / m_group * m_group);
  }

 private:
  /// The number of vectors that are written before those of the row in their place are read. Rows
  /// of few vectors would wait for the stores instead.
  std::int64_t lead() const {
    constexpr std::int64_t least_vectors = 32;
    return m_vectors < least_vectors ? 0 : vectors_of_lead<L, Y>(m_job.y, row(m_group));
  }
  /// The first row of the next group that is read while a group's first row is computed, for the
  /// same reason.
  int rotation() const {
    for (int i = 0; i < m_group; ++i) {
      const std::int64_t distance =
          distance_in_page(m_job.y + m_lead * L::width, row(2 * m_group + i));
      if (distance >= bytes_apart && distance <= page_bytes - bytes_apart) return i;
    }
    return 0;
  }

  /// Row r; the last one if there is no such row.
  KOKKOSSOFTMAX_HOST_FUNCTION const X* row(std::int64_t r) const {
    return m_job.x + smaller(r, m_job.rows - 1) * m_job.x_stride;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION T* kept_row(int i) const { return m_kept + i * m_vectors * L::width; }
  /// The first column of the last vector.
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t last() const { return (m_vectors - 1) * L::width; }
  KOKKOSSOFTMAX_HOST_FUNCTION Columns columns_of(std::int64_t r) const {
    return {row(r), last(), m_rest, m_values};
  }

  template <PrefetchTo level>
  void compute_all() {
    for (std::int64_t r = 0; r < m_job.rows; r += m_group) {
      begin_group();
      if (r == 0)
        compute<level, false>(r);
      else
        compute<level, true>(r);
      end_group(r);
    }
  }
  void begin_group() {
    m_before = m_states;
    m_states.max =
        reduced(m_largest, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return larger(a, b); });
    m_states.reference = Exp::reference(m_states.max);
    if constexpr (Op::keeps_exponentials) m_shifts = Exp::shift_of(m_states.reference);
  }
  /// Lane i of the result is the reduction of all elements of v[i]. A few rows take less time one
  /// by one (Zen 4, rows of 4096 and 1024 floats in the cache: 14.2 -> 13.6 and 13.8 us).
  template <class Combine>
  V reduced(V (&v)[L::width], const Combine& combine) const {
    constexpr int few = 4;
    if (m_group > few) return L::reduce_each(v, combine);
    V result = L::reduce_in_all_lanes(v[0], combine);
    for (int i = 1; i < m_group; ++i) result[i] = L::reduce_in_all_lanes(v[i], combine)[0];
    return result;
  }
  void end_group(std::int64_t r) {
    m_states.sum = end_sum<Op, L>(
        m_states.max, reduced(m_sums, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return a + b; }));
    write_beside(m_job, r, m_states, static_cast<int>(smaller(m_group, m_job.rows - r)));
  }

  /// Computes the group at row r, and writes the one before. Not inlined: GCC 12 then has enough
  /// registers for the loop (128 columns of float 0.27 -> 0.245 ns per entry).
  template <PrefetchTo level, bool writes>
  [[gnu::noinline]] void compute(std::int64_t r) {
    const RowBroadcast<L, Exp> exp{Exp(m_states.reference)};
    const RowBroadcast<L, Output> output{Output(m_before, m_job.zero_empty_rows)};
    int ahead = m_rotation;
    for (int i = 0; i < m_group; ++i) {
      const Columns columns = columns_of(r + i);
      const Columns next = columns_of(r + m_group + ahead);
      auto writer = writer_of(r - m_group + i, i, output.of_row(i));
      if constexpr (Op::keeps_exponentials) {
        if (m_shifts[i] != T(0)) [[unlikely]] {
          m_sums[i] = Step::template run_shifted<level, writes>(columns, next, kept_row(i),
                                                                L::splat(m_states.reference[i]),
                                                                writer, m_lead, m_largest[ahead]);
          if (++ahead == m_group) ahead = 0;
          continue;
        }
      }
      m_sums[i] = Step::template run<level, writes>(columns, next, kept_row(i), exp.of_row(i),
                                                    writer, m_lead, m_largest[ahead]);
      if (++ahead == m_group) ahead = 0;
    }
  }
  void write_group(std::int64_t r) const {
    const RowBroadcast<L, Output> output{Output(m_states, m_job.zero_empty_rows)};
    for (int i = 0; i < m_group && r + i < m_job.rows; ++i)
      writer_of(r + i, i, output.of_row(i)).write_rest();
  }

  /// The writer of row r, which is row i of its group.
  KOKKOSSOFTMAX_HOST_FUNCTION auto writer_of(std::int64_t r, int i, const Output& output) const {
    const auto writer = [&](const auto& entries) KOKKOSSOFTMAX_HOST_LAMBDA {
      using Entries = std::remove_cvref_t<decltype(entries)>;
      return RowWriter<streams, L, Y, Entries, Output, ends>(m_job.y + r * m_job.y_stride,
                                                             m_job.columns, entries, output);
    };
    if constexpr (Op::keeps_exponentials)
      return writer(KeptEntries<L>(kept_row(i)));
    else
      return writer(ReadEntries<L, X, Values>(m_job.x + r * m_job.x_stride, m_values));
  }

  const Job& m_job;
  Values m_values;
  std::int64_t m_vectors;  // of a row
  FirstElements<T, L::width> m_rest;
  int m_group;  // the number of rows of a group
  std::int64_t m_lead;
  int m_rotation;
  T* m_kept;
  // one row of a group per lane, or per vector:
  LaneStates<L> m_states{};
  LaneStates<L> m_before{};
  V m_shifts{};
  V m_sums[L::width]{};
  V m_largest[L::width]{};
};

/// Whether pipelined_rows() computes rows of so many columns. The limits were measured on AMD's
/// Zen 4: other short rows take less time in ShortRows and PipelinedShortRows, and longer ones of
/// log_softmax in long_rows(), which reads x twice in place of three times.
template <class Op, class X>
bool are_pipelined_rows(std::int64_t columns) {
  constexpr std::int64_t size = sizeof(X);
  constexpr std::int64_t vector_bytes = KOKKOSSOFTMAX_HOST_VECTOR_BYTES;
  constexpr bool can_be_short = size == 4 && vector_bytes == 32;  // if they are whole vectors
  const bool are_whole = can_be_short && columns * size % vector_bytes == 0;
  const std::int64_t least_bytes = are_whole ? 2 * vector_bytes : 256;
  constexpr std::int64_t most = Op::keeps_exponentials ? span_columns : 4096;
  return Op::writes_entries && can_be_pipelined<X>() && columns <= most &&
         columns * size >= least_bytes;
}

template <class Op, class Values, class L, class Job>
void pipelined_rows(const Job& job) {
  if constexpr (Op::writes_entries && sizeof(typename Job::X) >= 4)
    with_row_ends<L>(job, [&]<bool streams, RowEnds ends>() {
      PipelinedRows<Op, Values, L, streams, ends, Job>(job).run();
    });
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
