// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDROWS_HPP

/// \file
/// Rows in groups, three groups at a time: while the exponentials of a group are computed, the
/// largest entries of the next group are found, and the group before is written. So memory is read
/// and written all the time, and the processor always has exponentials to compute.

#include <host/Page.hpp>
#include <host/RowReduction.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

template <class Op, class Values, class L, bool streams, RowEnds ends, class Job>
class PipelinedRows {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template Exp<L>;
  using Output = typename Op::template Output<L>;
  /// A group has so many vectors or more, which hide the time of its reductions over lanes, unless
  /// its rows are shorter: it has one row per lane at most.
  static constexpr std::int64_t group_vectors = 512;
  /// The exponentials that each element adds up before they are added to the sum with compensation.
  static constexpr std::int64_t block_vectors = 16;
  /// From an element of y that is stored to the one whose line is prefetched.
  static constexpr std::int64_t elements_ahead = 1024 / sizeof(Y);

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
        m_kept(kept_apart_from_x()) {}

  void run() {
    for (int i = 0; i < m_group; ++i) m_largest[i] = largest(row(i));
    for (std::int64_t r = 0; r < m_job.rows; r += m_group) {
      begin_group();
      if (r == 0)
        compute<false>(r);
      else
        compute<true>(r);
      end_group(r);
    }
    write_group((m_job.rows - 1) / m_group * m_group);
  }

 private:
  /// The number of vectors that are written before those of the row in their place are read, see
  /// bytes_of_lead(). Rows of few vectors would wait for the stores instead.
  std::int64_t lead() const {
    constexpr std::int64_t least_vectors = 32;
    return m_vectors < least_vectors
               ? 0
               : bytes_of_lead(m_job.y, row(m_group)) / static_cast<int>(sizeof(V));
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
  /// Where the exponentials are kept: apart from x within a page. The buffer has space for a page
  /// more than a group's rows.
  T* kept_apart_from_x() const {
    constexpr std::int64_t line = 64;
    const std::int64_t shift =
        distance_in_page(reinterpret_cast<const char*>(m_job.x) + 2 * bytes_apart, m_job.buffer);
    return m_job.buffer + shift / line * line / static_cast<std::int64_t>(sizeof(T));
  }

  /// Row r; the last one if there is no such row.
  KOKKOSSOFTMAX_HOST_FUNCTION const X* row(std::int64_t r) const {
    return m_job.x + smaller(r, m_job.rows - 1) * m_job.x_stride;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION T* kept_row(int i) const { return m_kept + i * m_vectors * L::width; }
  /// The first column of the last vector.
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t last() const { return (m_vectors - 1) * L::width; }
  KOKKOSSOFTMAX_HOST_FUNCTION V load(const X* x) const { return m_values(L::load(x)); }
  /// The last vector.
  KOKKOSSOFTMAX_HOST_FUNCTION V load_rest(const X* x) const {
    if constexpr (ends == RowEnds::none) return load(x);
    return m_rest.select(m_values(m_rest.load(x)), L::splat(-NumberTraits<T>::infinity));
  }
  KOKKOSSOFTMAX_HOST_FUNCTION V largest(const X* x) const {
    V max = L::splat(-NumberTraits<T>::infinity);
    for (std::int64_t c = 0; c < last(); c += L::width) max = larger(load(x + c), max);
    return larger(load_rest(x + last()), max);
  }

  void begin_group() {
    m_before = m_states;
    m_states.max =
        L::reduce_each(m_largest, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return larger(a, b); });
    m_states.reference = Exp::reference(m_states.max);
  }
  void end_group(std::int64_t r) {
    m_states.sum = end_sum<Op, L>(
        m_states.max,
        L::reduce_each(m_sums, [](V a, V b) KOKKOSSOFTMAX_HOST_LAMBDA { return a + b; }));
    write_beside(m_job, r, m_states, static_cast<int>(smaller(m_group, m_job.rows - r)));
  }

  /// Computes the group at row r, and writes the one before.
  template <bool writes>
  void compute(std::int64_t r) {
    const RowBroadcast<L, Exp> exp{Exp(m_states.reference)};
    const RowBroadcast<L, Output> output{Output(m_before, m_job.zero_empty_rows)};
    int ahead = m_rotation;
    for (int i = 0; i < m_group; ++i) {
      auto writer = writer_of(r - m_group + i, i, output.of_row(i));
      m_sums[i] = add_row<writes>(row(r + i), kept_row(i), exp.of_row(i), writer,
                                  row(r + m_group + ahead), m_largest[ahead]);
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

  /// Returns the sum of a row, divided over the lanes, and finds the largest entries of `next`.
  /// Exponentials replace those of the row that the writer writes, after they have been read.
  template <bool writes, class Writer>
  KOKKOSSOFTMAX_HOST_FUNCTION V add_row(const X* x, T* kept, const Exp& exp, Writer& writer,
                                        const X* next, V& largest_of_next) const {
    VectorSum<L> total;
    V sum{};
    V max = L::splat(-NumberTraits<T>::infinity);
    const auto add = [&](std::int64_t c, V v) KOKKOSSOFTMAX_HOST_LAMBDA {
      if constexpr (Op::keeps_exponentials) {
        const V e = exp(v);
        L::store(kept + c, e);
        sum += e;
      } else {
        exp.add(sum, v);
      }
    };
    if constexpr (writes) writer.begin();
    std::int64_t vectors = writes ? writer.whole_vectors() : 0;  // that are left to write
    if constexpr (writes)
      for (std::int64_t k = smaller(m_lead, vectors); k > 0; --k, --vectors) writer.write_vector();
    std::int64_t c = 0;
    while (c < last()) {
      const std::int64_t end = smaller(c + block_vectors * L::width, last());
      for (; c < end; c += L::width) {
        prefetch_far(next + c);
        max = larger(load(next + c), max);
        const V v = load(x + c);
        if constexpr (writes) {
          if (vectors-- > 0) {
            // A store waits until its line is in the first-level cache, and all stores after it.
            if constexpr (!streams) prefetch_at(writer.next() + elements_ahead);
            writer.write_vector();
          } else if (vectors == -1) {  // right after the last one
            writer.write_rest();
          }
        }
        add(c, v);
      }
      if (c == last()) break;
      total.add(sum);
      sum = V{};
    }
    prefetch_far(next + c);
    largest_of_next = larger(load_rest(next + c), max);
    const V v = load_rest(x + c);
    if constexpr (writes) writer.write_rest();
    add(c, v);
    total.add(sum);
    return total.value();
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
  V m_sums[L::width]{};
  V m_largest[L::width]{};
};

/// Whether pipelined_rows() computes rows of so many columns. The limits were measured on AMD's
/// Zen 4: shorter rows are as fast as ShortRows, and longer ones of log_softmax take less time in
/// long_rows(), which reads x twice in place of three times. Of other processors, those with
/// vectors of 64 bytes take less time so, too (docs/trials.md). Half types are left out because
/// they take long to compile.
template <class Op, class X>
bool are_pipelined_rows(std::int64_t columns) {
  constexpr std::int64_t least_bytes = 256;
  constexpr std::int64_t most = Op::keeps_exponentials ? span_columns : 4096;
  constexpr bool has_wide_vectors = KOKKOSSOFTMAX_HOST_VECTOR_BYTES >= 64;
  return Op::writes_entries && sizeof(X) >= 4 && (has_wide_vectors || is_amd()) &&
         columns <= most && columns * static_cast<std::int64_t>(sizeof(X)) >= least_bytes;
}

template <class Op, class Values, class L, class Job>
void pipelined_rows(const Job& job) {
  if constexpr (Op::writes_entries && sizeof(typename Job::X) >= 4) {
    const auto run = [&]<bool streams, RowEnds ends>() {
      PipelinedRows<Op, Values, L, streams, ends, Job>(job).run();
    };
    constexpr std::int64_t line = 64 / sizeof(typename Job::Y);
    const bool in_lines =
        job.columns % line == 0 && job.y_stride % line == 0 && to_cache_line(job.y) == 0;
    if (job.streams && in_lines)
      run.template operator()<true, RowEnds::none>();
    else if (job.streams)
      run.template operator()<true, RowEnds::streamed>();
    else if (job.columns % L::width == 0)
      run.template operator()<false, RowEnds::none>();
    else
      run.template operator()<false, RowEnds::stored>();
  }
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
