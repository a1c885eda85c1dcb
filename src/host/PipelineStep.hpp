// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINESTEP_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINESTEP_HPP

/// \file
/// The loop of pipelined rows: while the exponentials of some columns are computed, the largest
/// entries of later columns are found, and earlier columns are written. So memory is read and
/// written all the time, and the processor always has exponentials to compute.

#include <host/Page.hpp>
#include <host/Prefetch.hpp>
#include <host/Processor.hpp>
#include <host/RowWriter.hpp>
#include <host/VectorSum.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Some columns of a row, in vectors. The last vector can have fewer elements than the others.
///
/// \tparam is_whole  whether the last vector has as many elements as the others
template <class L, class X, class Values, bool is_whole>
class RowColumns {
  using T = typename L::T;
  using V = typename L::V;

 public:
  using Rest = FirstElements<T, L::width>;

  /// \param last  the column at which the last vector begins
  /// \param rest  the elements of the last vector
  KOKKOSSOFTMAX_HOST_FUNCTION RowColumns(const X* x, std::int64_t last, const Rest& rest,
                                         const Values& values)
      : m_x(x), m_last(last), m_rest(rest), m_values(values) {}

  KOKKOSSOFTMAX_HOST_FUNCTION const X* address(std::int64_t c) const { return m_x + c; }
  KOKKOSSOFTMAX_HOST_FUNCTION std::int64_t last() const { return m_last; }
  /// The values of the vector at column c, which isn't the last one.
  KOKKOSSOFTMAX_HOST_FUNCTION V at(std::int64_t c) const { return m_values(L::load(m_x + c)); }
  /// Those of the last vector, given its column; -inf for the elements that it doesn't have.
  KOKKOSSOFTMAX_HOST_FUNCTION V at_last(std::int64_t c) const {
    if constexpr (is_whole) return at(c);
    return m_rest.select(m_values(m_rest.load(m_x + c)), L::splat(-NumberTraits<T>::infinity));
  }
  /// In each lane, the larger of `max` and the largest value from column c on.
  KOKKOSSOFTMAX_HOST_FUNCTION V largest_from(std::int64_t c,
                                             V max = L::splat(-NumberTraits<T>::infinity)) const {
    for (; c < m_last; c += L::width) max = larger(at(c), max);
    return larger(at_last(c), max);
  }

 private:
  const X* m_x;
  std::int64_t m_last;
  const Rest& m_rest;
  const Values& m_values;
};

/// \tparam streams     whether the output is written past the caches
/// \tparam same_width  whether `columns` and `next` have the same number of vectors. Otherwise both
///                     have two or more.
template <class Op, class L, bool streams, bool same_width>
class PipelineStep {
  using T = typename L::T;
  using V = typename L::V;
  /// The exponentials that each element adds up before they are added to the sum with compensation.
  static constexpr std::int64_t block_columns = 16 * L::width;
  /// The bytes from an entry of `next` to the one whose line is prefetched. If the output isn't
  /// streamed, x is in a cache or is replaced. Then 9 KB takes up to a tenth less time than 16 KB
  /// on AMD's Zen 5 (docs/trials.md).
  template <PrefetchTo level>
  static constexpr std::int64_t far =
      !streams && level == PrefetchTo::first_level ? 9216 : far_ahead;
  /// Whether two vectors are a cache line, of which one prefetch is enough.
  static constexpr bool pair_is_line = 2 * sizeof(V) == 64;
  /// The bytes from an element of y that is stored to the one whose line is prefetched.
  static constexpr std::int64_t bytes_ahead = 1024;

 public:
  /// Returns the sum of the exponentials of `columns`, divided over the lanes, and sets
  /// `largest_of_next` to the largest entries of `next`, one in each lane.
  ///
  /// Exponentials that are kept replace those that the writer reads, after they have been read.
  ///
  /// \tparam level   where `next` is prefetched to
  /// \tparam writes  whether there is something to write
  /// \param lead     the number of vectors that are written before the first one is read
  template <PrefetchTo level, bool writes, class Columns, class Exp, class Writer>
  KOKKOSSOFTMAX_HOST_FUNCTION static V run(const Columns& columns, const Columns& next, T* kept,
                                           const Exp& exp, Writer& writer, std::int64_t lead,
                                           V& largest_of_next) {
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
    std::int64_t vectors = 0;  // that are left to write
    if constexpr (writes) {
      vectors = writer.whole_vectors();
      for (std::int64_t k = smaller(lead, vectors); k > 0; --k, --vectors) writer.write_vector();
    }
    std::int64_t c = 0;
    const auto step = [&]<bool with_write, bool prefetches>() KOKKOSSOFTMAX_HOST_LAMBDA {
      const std::int64_t ahead = same_width ? c : smaller(c, next.last() - L::width);
      if constexpr (prefetches) prefetch_far<level>(next.address(ahead), far<level>);
      max = larger(next.at(ahead), max);
      const V v = columns.at(c);
      if constexpr (with_write) {
        // A store waits until its line is in the first-level cache, and all stores after it.
        if constexpr (!streams && prefetches) prefetch_at(writer.next(), bytes_ahead);
        writer.write_vector();
      }
      add(c, v);
      c += L::width;
    };
    // Two vectors at a time, for fewer instructions beside those of the vectors.
    const auto run_to = [&]<bool with_write>(std::int64_t last) KOKKOSSOFTMAX_HOST_LAMBDA {
      while (c < last) {
        const std::int64_t end = smaller(c / block_columns * block_columns + block_columns, last);
        for (std::int64_t pairs = (end - c) / (2 * L::width); pairs > 0; --pairs) {
          step.template operator()<with_write, true>();
          step.template operator()<with_write, !pair_is_line>();
        }
        if (c < end) step.template operator()<with_write, true>();
        if (c % block_columns != 0 || c == columns.last()) break;
        total.add(sum);
        sum = V{};
      }
    };
    if constexpr (writes) {
      run_to.template operator()<true>(smaller(vectors * L::width, columns.last()));
      if (c < columns.last()) {
        writer.write_rest();
        run_to.template operator()<false>(columns.last());
      }
    } else {
      run_to.template operator()<false>(columns.last());
    }
    prefetch_far<level>(next.address(c), far<level>);
    largest_of_next =
        same_width ? larger(next.at_last(c), max) : next.largest_from(smaller(c, next.last()), max);
    const V v = columns.at_last(c);
    if constexpr (writes) writer.write_rest();
    add(c, v);
    total.add(sum);
    return total.value();
  }

  /// The same for a reference that must be subtracted from the values first (see ExpOfShifted),
  /// which is rare. The function isn't inlined and takes copies, so that the loop of run() has
  /// enough registers.
  template <PrefetchTo level, bool writes, class Columns, class Writer>
  [[gnu::noinline]] static V run_shifted(Columns columns, Columns next, T* kept, V reference,
                                         Writer writer, std::int64_t lead, V& largest_of_next) {
    const typename Op::template Exp<L> exp(reference);
    return run<level, writes>(columns, next, kept, exp, writer, lead, largest_of_next);
  }
};

/// Whether rows of type X are pipelined on this processor. AMD's Zen 4 takes less time so, and of
/// other processors those with vectors of 64 bytes (docs/trials.md). Half types are left out
/// because they take long to compile.
template <class X>
bool can_be_pipelined() {
  constexpr bool has_wide_vectors = KOKKOSSOFTMAX_HOST_VECTOR_BYTES >= 64;
  return sizeof(X) >= 4 && (has_wide_vectors || is_amd());
}

/// Where in a job's buffer exponentials are kept: apart from x within a page. They take up to a
/// page more than the exponentials alone.
template <class Job>
auto* kept_apart_from_x(const Job& job) {
  constexpr std::int64_t line = 64;
  const std::int64_t shift =
      distance_in_page(reinterpret_cast<const char*>(job.x) + 2 * bytes_apart, job.buffer);
  return job.buffer + shift / line * line / static_cast<std::int64_t>(sizeof(*job.buffer));
}

/// Calls run.operator()<streams, ends>(), the kernel for the output of a job. Rows of less than 256
/// bytes are streamed if they are whole cache lines.
template <class L, class Job, class Run>
void with_row_ends(const Job& job, const Run& run) {
  constexpr std::int64_t least_with_ends = 256 / sizeof(typename Job::Y);
  const bool in_lines = are_whole_lines(job.y, job.y_stride, job.columns);
  if (job.streams && in_lines)
    run.template operator()<true, RowEnds::none>();
  else if (job.streams && job.columns >= least_with_ends)
    run.template operator()<true, RowEnds::streamed>();
  else if (job.columns % L::width == 0)
    run.template operator()<false, RowEnds::none>();
  else
    run.template operator()<false, RowEnds::stored>();
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
