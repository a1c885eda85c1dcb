// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PIPELINEDSHORTROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PIPELINEDSHORTROWS_HPP

/// \file
/// Rows of up to four vectors, in groups of as many rows as a vector has lanes. While the
/// exponentials of a group are computed, the largest entries of the group after the next one are
/// found, and the group before the previous one is written. So the processor never waits for what
/// is computed once per group, and always has exponentials to compute. The results have the bits of
/// ShortRows.

#include <host/DenseRows.hpp>
#include <host/Prefetch.hpp>
#include <host/Processor.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// \tparam dense  the number of columns if the rows of x and y are stored back to back, and one or
///                more of them make a whole vector; 0 for other rows, each of which is in a vector
///                of its own, or in several
/// \tparam row_vectors  the number of vectors of a row; 1 if a vector has several rows
/// \tparam prefetches  whether the lines of x and y are prefetched
template <class Op, class Values, class L, int dense, int row_vectors, bool prefetches, class Job>
class PipelinedShortRows {
  using T = typename L::T;
  using V = typename L::V;
  using X = typename Job::X;
  using Y = typename Job::Y;
  using Exp = typename Op::template ExpOfShifted<L>;
  using Output = typename Op::template Output<L>;
  static constexpr int group = L::width;  // the number of rows
  static constexpr int row_lanes = dense > 0 ? dense : L::width;
  static constexpr int rows_of_vector = L::width / row_lanes;
  static constexpr int vectors = group / rows_of_vector;  // of a group, if a row has one
  /// The instructions that take the least time move elements within blocks of 16 bytes.
  static constexpr int block = 16 / static_cast<int>(sizeof(T));
  static constexpr int row_blocks = row_lanes > block ? row_lanes / block : 1;
  static constexpr int rows_of_block = row_lanes < block ? block / row_lanes : 1;
  static_assert(rows_of_vector == 1 || row_blocks <= 2);
  static_assert(row_vectors == 1 || dense == 0);
  /// The groups from the one that is read to the one whose exponentials are computed, and from that
  /// one to the one that is written.
  static constexpr std::int64_t ahead = 2;
  /// The bytes from a vector that is read or written to the one whose line is prefetched, rounded
  /// up to whole rows, so that no gap between rows is prefetched.
  static constexpr std::int64_t bytes_ahead = 4096;

 public:
  explicit PipelinedShortRows(const Job& job)
      : m_job(job),
        m_x_ahead(whole_rows_ahead(job.x_stride * static_cast<std::int64_t>(sizeof(X)))),
        m_y_ahead(whole_rows_ahead(job.y_stride * static_cast<std::int64_t>(sizeof(Y)))) {}

  /// Computes all whole groups; returns the number of their rows.
  std::int64_t run() {
    const std::int64_t groups = m_job.rows / group;
    for (std::int64_t g = -ahead; g < groups + ahead; ++g) {
      if (g >= ahead && g < groups - ahead)
        run_step<true, true, true>(g);
      else
        run_end(g, groups);
    }
    return groups * group;
  }

 private:
  static std::int64_t whole_rows_ahead(std::int64_t row_bytes) {
    return row_bytes == 0 ? 0 : ((bytes_ahead - 1) / row_bytes + 1) * row_bytes;
  }

  struct Reduced {
    V max;
    V sum;
  };
  /// The parameters of an object of type P for the rows of a group, see RowBroadcast. They are in
  /// the lanes that lane_of() returns. If a row has two blocks, each block of parameters is in
  /// memory twice, so that a vector of rows needs no instruction that moves blocks.
  template <class P>
  class KeptParameters {
    using Parameters = typename P::Parameters;
    static constexpr int count = sizeof(Parameters) / sizeof(V);
    static constexpr int copies = rows_of_vector == 1 ? 1 : row_blocks;

   public:
    KOKKOSSOFTMAX_HOST_FUNCTION void set(const P& object) {
      Parameters p;
      object.get(p);
      for (int k = 0; k < count; ++k) {
        if constexpr (copies == 1) {
          m_kept[k][0] = p[k];
        } else {
          m_kept[k][0] = L::template shuffle<&blocks_of_half<0>>(p[k], p[k]);
          m_kept[k][1] = L::template shuffle<&blocks_of_half<1>>(p[k], p[k]);
        }
      }
    }
    /// The object for the rows of vector i.
    template <int i>
    KOKKOSSOFTMAX_HOST_FUNCTION P of_vector() const {
      Parameters p;
      for (int k = 0; k < count; ++k) {
        if constexpr (rows_of_vector == 1) {
          p[k] = L::splat(reinterpret_cast<const T*>(m_kept[k])[i]);
        } else {
          const V v = m_kept[k][i / block % copies];
          p[k] = L::template shuffle<&lane_in_block<i>>(v, v);
        }
      }
      return P(p);
    }

   private:
    // For Lanes::shuffle().
    template <int half>
    static constexpr int blocks_of_half(int i) {
      return half * (L::width / 2) + i / (2 * block) * block + i % block;
    }
    template <int vector>
    static constexpr int lane_in_block(int i) {
      const int row = i % block / row_lanes;  // of the block
      return i / block * block + vector * rows_of_block % block + row;
    }

    V m_kept[count][copies];
  };
  /// What is subtracted from the values of each row.
  struct RowShifts {
    using Parameters = V[1];
    KOKKOSSOFTMAX_HOST_FUNCTION explicit RowShifts(V v) : value(v) {}
    KOKKOSSOFTMAX_HOST_FUNCTION explicit RowShifts(const Parameters& p) : value(p[0]) {}
    KOKKOSSOFTMAX_HOST_FUNCTION void get(Parameters& p) const { p[0] = value; }
    V value;
  };
  /// What is kept of a group.
  struct Group {
    LaneStates<L> states;
    bool is_shifted;  // which is rare, see ExpOfShifted
    KeptParameters<RowShifts> shifts;
    KeptParameters<Exp> exp;
    KeptParameters<Output> output;
    V kept[vectors * row_vectors];
  };
  /// What a step needs. Copies of members stay in registers, where stores through pointers don't
  /// change them.
  struct Step {
    const X* x;          // of the group whose exponentials are computed
    const X* x_read;     // of the group that is read
    const X* x_written;  // of the group that is written
    Y* y;                // of the group that is written
    std::int64_t x_stride;
    std::int64_t y_stride;
    std::int64_t x_ahead;  // bytes, see bytes_ahead
    std::int64_t y_ahead;
    Group* group;
    Values values;
    FirstElements<T, L::width> some;  // of the last vector of a row

    KOKKOSSOFTMAX_HOST_FUNCTION static void prefetch(const void* p, std::int64_t bytes) {
      if constexpr (prefetches) prefetch_at(p, bytes);
    }

    /// The place of vector k of row i of a group, or of vector i of a group if there are several
    /// rows in each.
    KOKKOSSOFTMAX_HOST_FUNCTION static std::int64_t place(std::int64_t stride, int i, int k) {
      return dense > 0 ? i * L::width : i * stride + k * L::width;
    }
    KOKKOSSOFTMAX_HOST_FUNCTION V load(const X* p, int i, int k) const {
      p += place(x_stride, i, k);
      if (dense > 0 || k < row_vectors - 1) return values(L::load(p));
      return some.select(values(some.load(p)), L::splat(-NumberTraits<T>::infinity));
    }
    /// Loads a vector that is read for the first time.
    KOKKOSSOFTMAX_HOST_FUNCTION V load_first(int i, int k) const {
      prefetch(x_read + place(x_stride, i, k), x_ahead);
      return load(x_read, i, k);
    }
    KOKKOSSOFTMAX_HOST_FUNCTION void store(int i, int k, V v) const {
      Y* const p = y + place(y_stride, i, k);
      prefetch(p, y_ahead);
      if (dense > 0 || k < row_vectors - 1)
        L::store(p, v);
      else
        some.store(p, v);
    }
  };

  /// A step in which groups are missing.
  void run_end(std::int64_t g, std::int64_t groups) {
    const bool adds = g >= 0 && g < groups;
    if (g >= ahead) run_step<false, false, true>(g);
    if (adds) run_step<false, true, false>(g);
    if (g + ahead < groups) run_step<true, false, false>(g);
  }

  template <bool reads, bool adds, bool writes>
  KOKKOSSOFTMAX_HOST_FUNCTION void run_step(std::int64_t g) {
    Group& of_step = m_groups[g & 1];
    const auto x = [&](bool exists, std::int64_t of_group) {
      return exists ? m_job.x + of_group * group * m_job.x_stride : nullptr;
    };
    const Step step{
        x(adds, g),
        x(reads, g + ahead),
        x(writes, g - ahead),
        writes ? m_job.y + (g - ahead) * group * m_job.y_stride : nullptr,
        m_job.x_stride,
        m_job.y_stride,
        m_x_ahead,
        m_y_ahead,
        &of_step,
        Values(m_job.factors),
        FirstElements<T, L::width>(static_cast<int>(m_job.columns) - (row_vectors - 1) * L::width)};
    const Reduced reduced = run_vectors<reads, adds, writes, 0, vectors>(step);
    if constexpr (adds) {
      LaneStates<L> states = of_step.states;
      states.sum = end_sum<Op, L>(states.max, reduced.sum);
      of_step.output.set(Output(states, m_job.zero_empty_rows));
      if (m_job.lse.data != nullptr || m_job.max.data != nullptr)
        write_beside(m_job, g * group, in_order_of_rows(states), group);
    }
    if constexpr (reads) {
      of_step.states.max = reduced.max;
      of_step.states.reference = Exp::reference(reduced.max);
      of_step.exp.set(Exp(of_step.states.reference));
      if constexpr (Op::keeps_exponentials) {
        const V shifts = Exp::shift_of(of_step.states.reference);
        of_step.is_shifted = any(shifts != T(0));
        if (of_step.is_shifted) [[unlikely]]
          of_step.shifts.set(RowShifts(shifts));
      }
    }
  }

  /// Vectors [first, first + count) of a group.
  template <bool reads, bool adds, bool writes, int first, int count>
  KOKKOSSOFTMAX_HOST_FUNCTION static Reduced run_vectors(const Step& step) {
    if constexpr (count == 1) {
      Reduced r{};
      if constexpr (reads) {
        r.max = L::splat(-NumberTraits<T>::infinity);
        for (int k = 0; k < row_vectors; ++k)  // NaN is no maximum: larger() returns the second
          r.max = larger(step.load_first(first, k), r.max);
      }
      if constexpr (writes) write<first>(step);
      if constexpr (adds) r.sum = add<first>(step);
      return r;
    } else {
      constexpr int half = count / 2;
      const Reduced a = run_vectors<reads, adds, writes, first, half>(step);
      const Reduced b = run_vectors<reads, adds, writes, first + half, half>(step);
      Reduced r{};
      if constexpr (reads)
        r.max = L::template reduce_two<count>(
            a.max, b.max, [](V c, V d) KOKKOSSOFTMAX_HOST_LAMBDA { return larger(c, d); });
      if constexpr (adds)
        r.sum = L::template reduce_two<count>(
            a.sum, b.sum, [](V c, V d) KOKKOSSOFTMAX_HOST_LAMBDA { return c + d; });
      return r;
    }
  }

  template <int i>
  KOKKOSSOFTMAX_HOST_FUNCTION static V add(const Step& step) {
    const Exp exp = step.group->exp.template of_vector<i>();
    V sum{};
    for (int k = 0; k < row_vectors; ++k) {
      V v = step.load(step.x, i, k);
      if constexpr (Op::keeps_exponentials) {
        if (step.group->is_shifted) [[unlikely]]
          v -= step.group->shifts.template of_vector<i>().value;
        const V e = exp(v);
        step.group->kept[i * row_vectors + k] = e;
        sum += e;
      } else {
        exp.add(sum, v);
      }
    }
    return sum;
  }
  template <int i>
  KOKKOSSOFTMAX_HOST_FUNCTION static void write(const Step& step) {
    const Output output = step.group->output.template of_vector<i>();
    for (int k = 0; k < row_vectors; ++k) {
      if constexpr (Op::keeps_exponentials)
        step.store(i, k, output(step.group->kept[i * row_vectors + k]));
      else
        step.store(i, k, output(step.load(step.x_written, i, k)));
    }
  }

  /// The lane in which Lanes::reduce_two() leaves row r of a group.
  static constexpr int lane_of(int r) {
    const int vector = r / rows_of_vector;
    const int row = r % rows_of_vector;  // of the vector
    if (row_blocks == 1)
      return row / rows_of_block * block + vector * rows_of_block + row % rows_of_block;
    return (vector / block * rows_of_vector + row) * block + vector % block;
  }
  KOKKOSSOFTMAX_HOST_FUNCTION static LaneStates<L> in_order_of_rows(const LaneStates<L>& states) {
    if constexpr (rows_of_vector == 1) return states;
    const auto ordered = [](V v) KOKKOSSOFTMAX_HOST_LAMBDA {
      return L::template shuffle<&lane_of>(v, v);
    };
    return {ordered(states.max), ordered(states.reference), ordered(states.sum)};
  }

  const Job& m_job;
  std::int64_t m_x_ahead;
  std::int64_t m_y_ahead;
  Group m_groups[2];
};

/// Computes the first rows of a job by PipelinedShortRows. Returns their number.
///
/// The prefetchers of AMD's Zen 5 follow few of the many loads and stores of a step. Vectors of
/// several rows take the same time with and without prefetches. On a Zen 4, rows of 8 and 16 floats
/// take less time without (docs/trials.md).
template <class Op, class L, int dense, int row_vectors, class Job>
std::int64_t pipelined_short_rows_of(const Job& job) {
  const auto run = [&]<class Values>(std::type_identity<Values>) {
    if constexpr (dense == 0 || dense == L::width)
      if (!prefers_own_prefetchers())
        return PipelinedShortRows<Op, Values, L, dense, row_vectors, true, Job>(job).run();
    return PipelinedShortRows<Op, Values, L, dense, row_vectors, false, Job>(job).run();
  };
  return job.factors.is_one ? run(std::type_identity<PlainValues<L>>{})
                            : run(std::type_identity<ScaledValues<L>>{});
}

/// The same for rows of so many columns, or 1/2, 1/4, ... of them, that are stored back to back.
template <class Op, class L, int columns, class Job>
std::int64_t pipelined_dense_rows(const Job& job) {
  if constexpr (columns < 2)
    return 0;
  else if (job.columns == columns)
    return pipelined_short_rows_of<Op, L, columns, 1>(job);
  else
    return pipelined_dense_rows<Op, L, columns / 2>(job);
}

/// The same for rows of `row_vectors` to four vectors, if vectors have 64 bytes. Smaller vectors
/// have no fast stores of some elements.
template <class Op, class L, int row_vectors, class Job>
std::int64_t pipelined_rows_of_vectors(const Job& job) {
  if constexpr (row_vectors > 4 || sizeof(typename L::V) < 64)
    return 0;
  else if (job.columns <= row_vectors * L::width)
    return pipelined_short_rows_of<Op, L, 0, row_vectors>(job);
  else
    return pipelined_rows_of_vectors<Op, L, row_vectors + 1>(job);
}

/// Computes the first rows of a job if that takes less time than ShortRows and DenseRows. Returns
/// their number, which may be 0. The choice was measured on AMD's Zen 4, and on an Intel Xeon with
/// vectors of 64 bytes. Half types are left out because they take long to compile.
template <class Op, class Job>
std::int64_t pipelined_short_rows(const Job& job) {
  using T = typename Job::T;
  using L = Lanes<T, widest<T>>;
  if constexpr (Op::writes_entries && sizeof(typename Job::X) >= 4 &&
                std::is_same_v<typename Job::X, typename Job::Y>) {
    constexpr bool has_wide_vectors = sizeof(typename L::V) >= 64;
    if (!is_amd() && !has_wide_vectors) return 0;
    if (job.columns > L::width) return pipelined_rows_of_vectors<Op, L, 2>(job);
    const bool is_dense = job.x_stride == job.columns && job.y_stride == job.columns;
    const bool fills_vectors = is_dense && L::width % job.columns == 0;
    // On Intel's processors, vectors of several rows take as long in DenseRows.
    if (fills_vectors && (is_amd() || job.columns == L::width))
      return pipelined_dense_rows<Op, L, L::width>(job);
    // Vectors of 32 bytes have no fast stores of some elements.
    if constexpr (has_wide_vectors) {
      constexpr int most_floats_of_amd = 10, most_doubles = 6;
      const int most_floats = is_amd() ? most_floats_of_amd : max_dense_columns_of_others;
      const int most_for_dense_rows = L::width >= 16 ? most_floats : most_doubles;
      const bool is_for_dense_rows =
          is_dense && is_dense_number<L>(job.columns) && job.columns <= most_for_dense_rows;
      if (job.columns > L::width / 2 && !is_for_dense_rows)
        return pipelined_short_rows_of<Op, L, 0, 1>(job);
    }
  }
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
