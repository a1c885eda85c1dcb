// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_DENSEROWS_HPP
#define KOKKOSSOFTMAX_SRC_HOST_DENSEROWS_HPP

/// \file
/// Rows of two to 12 columns that are stored back to back. As many rows as a vector has lanes
/// are loaded in whole vectors and transposed in registers, so that each lane has a row. The
/// results have the bits of ShortRows, which computes all other short rows.

#include <host/NearZero.hpp>
#include <host/Operations.hpp>
#include <host/Processor.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

inline constexpr int max_dense_columns = 12;
/// On other processors than AMD's, where longer rows weren't measured.
inline constexpr int max_dense_columns_of_others = 8;

/// Transposes L::width rows of `columns` numbers between vectors in the order of memory and vectors
/// of one column each.
template <class L, int columns>
class Transposition {
  using V = typename L::V;
  static constexpr int width = L::width;
  using Half = Transposition<L, columns / 2>;

 public:
  KOKKOSSOFTMAX_HOST_FUNCTION static void to_columns(V (&v)[columns]) {
    if constexpr (columns % 2 == 0) {
      V even[columns / 2], odd[columns / 2];
      for (int k = 0; k < columns / 2; ++k) {
        even[k] = L::template shuffle<&even_element>(v[2 * k], v[2 * k + 1]);
        odd[k] = L::template shuffle<&odd_element>(v[2 * k], v[2 * k + 1]);
      }
      Half::to_columns(even);
      Half::to_columns(odd);
      for (int k = 0; k < columns / 2; ++k) {
        v[2 * k] = even[k];
        v[2 * k + 1] = odd[k];
      }
    } else if constexpr (columns > 1) {
      replace(v, [&](auto c) KOKKOSSOFTMAX_HOST_LAMBDA {
        return all_of<decltype(c)::value, &row_element>(v);
      });
    }
  }

  KOKKOSSOFTMAX_HOST_FUNCTION static void to_rows(V (&v)[columns]) {
    if constexpr (columns % 2 == 0) {
      V even[columns / 2], odd[columns / 2];
      for (int k = 0; k < columns / 2; ++k) {
        even[k] = v[2 * k];
        odd[k] = v[2 * k + 1];
      }
      Half::to_rows(even);
      Half::to_rows(odd);
      for (int k = 0; k < columns / 2; ++k) {
        v[2 * k] = L::template shuffle<&lower_of_both>(even[k], odd[k]);
        v[2 * k + 1] = L::template shuffle<&upper_of_both>(even[k], odd[k]);
      }
    } else if constexpr (columns > 1) {
      replace(v, [&](auto w) KOKKOSSOFTMAX_HOST_LAMBDA {
        return all_of<decltype(w)::value, &column_element>(v);
      });
    }
  }

 private:
  // For Lanes::shuffle().
  static constexpr int even_element(int i) { return 2 * i; }
  static constexpr int odd_element(int i) { return 2 * i + 1; }
  static constexpr int lower_of_both(int i) { return i / 2 + i % 2 * width; }
  static constexpr int upper_of_both(int i) { return width / 2 + lower_of_both(i); }

  /// The place of a number among `columns` vectors.
  struct Element {
    int vector;
    int lane;
  };
  /// Column c of row i in the order of memory, and lane i of vector w of that order in columns.
  static constexpr Element row_element(int c, int i) {
    const int e = columns * i + c;
    return {e / width, e % width};
  }
  static constexpr Element column_element(int w, int i) {
    const int e = width * w + i;
    return {e % columns, e / columns};
  }

  /// The vector whose lane i is element(number, i).
  template <int number, Element (*element)(int, int), int source = 1>
  KOKKOSSOFTMAX_HOST_FUNCTION static V gathered(const V (&v)[columns]) {
    if constexpr (source == 1)
      return L::template shuffle<&first_two<number, element>>(v[0], v[1]);
    else
      return L::template shuffle<&with_source<number, element, source>>(
          gathered<number, element, source - 1>(v), v[source]);
  }
  template <int number, Element (*element)(int, int)>
  static constexpr int first_two(int i) {
    const Element e = element(number, i);
    return e.vector > 1 ? 0 : e.vector * width + e.lane;
  }
  template <int number, Element (*element)(int, int), int source>
  static constexpr int with_source(int i) {
    const Element e = element(number, i);
    return e.vector == source ? width + e.lane : i;
  }
  template <int number, Element (*element)(int, int)>
  KOKKOSSOFTMAX_HOST_FUNCTION static V all_of(const V (&v)[columns]) {
    return gathered<number, element, columns - 1>(v);
  }

  template <class Vector>
  KOKKOSSOFTMAX_HOST_FUNCTION static void replace(V (&v)[columns], const Vector& vector) {
    [&]<int... k>(std::integer_sequence<int, k...>) KOKKOSSOFTMAX_HOST_LAMBDA {
      const V replaced[columns] = {vector(std::integral_constant<int, k>{})...};
      ((v[k] = replaced[k]), ...);
    }
    (std::make_integer_sequence<int, columns>{});
  }
};

/// Groups of L::width dense rows.
template <class Op, class L, int columns, bool streams, class Job>
class DenseRows {
  using T = typename L::T;
  using V = typename L::V;
  using Exp = typename Op::template ExpOfShifted<L>;

 public:
  explicit DenseRows(const Job& job) : m_job(job), m_values(job.factors) {}

  /// Computes all whole groups; returns the number of their rows.
  std::int64_t run() const {
    std::int64_t r = 0;
    for (; r + L::width <= m_job.rows; r += L::width) run_group(r);
    return r;
  }

 private:
  KOKKOSSOFTMAX_HOST_FUNCTION void run_group(std::int64_t r) const {
    V v[columns];
    const T* const x = m_job.x + r * columns;
    for (int k = 0; k < columns; ++k) v[k] = L::load(x + k * L::width);
    Transposition<L, columns>::to_columns(v);
    LaneStates<L> rows{L::splat(-NumberTraits<T>::infinity), V{}, V{}};
    for (int k = 0; k < columns; ++k) {
      v[k] = m_values(v[k]);
      rows.max = larger(v[k], rows.max);
    }
    rows.reference = Exp::reference(rows.max);
    if constexpr (Op::keeps_exponentials) {
      const V shifts = Exp::shift_of(rows.reference);
      if (any(shifts != T(0))) [[unlikely]]
        for (int k = 0; k < columns; ++k) v[k] -= shifts;
    }
    rows.sum = end_sum<Op, L>(rows.max, add_exponentials(Exp(rows.reference), v));
    if constexpr (Op::writes_entries) {
      const typename Op::template Output<L> output(rows, m_job.zero_empty_rows);
      for (int k = 0; k < columns; ++k) v[k] = output(v[k]);
      Transposition<L, columns>::to_rows(v);
      T* const y = m_job.y + r * columns;
      for (int k = 0; k < columns; ++k) {
        if constexpr (streams)
          L::stream_to(y + k * L::width, v[k]);
        else
          L::store(y + k * L::width, v[k]);
      }
      write_beside(m_job, r, rows, L::width);
    } else {
      write_log_sum_exps<Op>(m_job, r, rows, L::width);
    }
  }

  /// The sum of the exponentials, in the order by which ShortRows adds them: vector after vector,
  /// then the lanes in a tree.
  KOKKOSSOFTMAX_HOST_FUNCTION static V add_exponentials(const Exp& exp, V (&v)[columns]) {
    constexpr int lanes = 16;
    V lane[lanes] = {};
    for (int k = 0; k < columns; ++k) {
      V& sum = lane[k % L::width];
      if constexpr (Op::keeps_exponentials)
        sum += v[k] = exp(v[k]);
      else
        exp.add(sum, v[k]);
    }
    for (int n = lanes; n > 1; n /= 2)
      for (int i = 0; i < n / 2; ++i) lane[i] = lane[2 * i] + lane[2 * i + 1];
    return lane[0];
  }

  const Job& m_job;
  ScaledValues<L> m_values;
};

/// Whether rows of so many columns are computed by DenseRows: if the vectors can be transposed in
/// few instructions. A shuffle of two vectors by any indices is one instruction for vectors of 64
/// bytes, and three for vectors of 32 bytes. Rows of more than two thirds of a vector of 64 bytes
/// take less time in PipelinedShortRows.
template <class L>
constexpr bool is_dense_number(std::int64_t columns) {
  constexpr std::int64_t bytes = L::width * static_cast<std::int64_t>(sizeof(typename L::T));
  if (columns > max_dense_columns_of_others)
    return bytes >= 64 && columns % 2 == 0 && columns <= max_dense_columns &&
           (columns > L::width || 3 * columns <= 2 * L::width);
  return columns >= 2 && (bytes >= 64 || (bytes == 32 && columns != 5 && columns != 7));
}

template <class Op, class L, int columns, class Job>
std::int64_t dense_rows_of(const Job& job, std::int64_t job_columns) {
  if constexpr (columns > max_dense_columns) {
    return 0;
  } else {
    if (job_columns != columns) return dense_rows_of<Op, L, columns + 1>(job, job_columns);
    if constexpr (!is_dense_number<L>(columns))
      return 0;
    else if (Op::writes_entries && job.streams)
      return DenseRows<Op, L, columns, true, Job>(job).run();
    else
      return DenseRows<Op, L, columns, false, Job>(job).run();
  }
}

/// Computes the first rows of a job if DenseRows can. Returns their number, which may be 0.
template <class Op, class Job>
std::int64_t dense_rows(const Job& job) {
  using T = typename Job::T;
  using L = Lanes<T, widest<T>>;
  if constexpr (std::is_same_v<typename Job::X, T> && std::is_same_v<typename Job::Y, T>) {
    const bool is_short = job.columns <= max_dense_columns_of_others || is_amd();
    const bool is_dense = is_short && job.x_stride == job.columns &&
                          (!Op::writes_entries || (job.y_stride == job.columns &&
                                                   !(job.streams && to_cache_line(job.y) != 0)));
    if (is_dense) return dense_rows_of<Op, L, 2>(job, job.columns);
  }
  return 0;
}

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
