// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FLATRUN_HPP
#define KOKKOSSOFTMAX_SRC_OP_FLATRUN_HPP

/// \file
/// The reduction of short rows by lanes that have runs of entries, see
/// schedules/ragged/FlatBatch.hpp. A Batch is a FlatBatch, which knows the rows in the run of this
/// lane.

#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A lane's run in scratch memory, and what is there of the rows of its vector.
template <class T, class OfRow, class Places>
struct FlatRun {
  T* first;   // the entries of the run, which results replace
  T* second;  // those of the second input
  OfRow* of_row;
  T* all;  // the entries of all lanes
  Places places;
  int first_slot;  // that of the first entry

  /// The entry in a slot of any lane.
  KOKKOS_FORCEINLINE_FUNCTION T entry(int slot) const { return all[places.of(slot)]; }
};

/// What lanes need of a row: first its maximum (as its sum), then the exponential relative to its
/// reference and, if results are computed from values, the maximum; then the sum and the output.
template <RowOp Rows>
class FlatRowOf {
 public:
  using T = typename Rows::Types::Compute;
  using Output = OnlyOutput<Rows>;
  using Exp = typename Output::Exp;
  static constexpr bool keeps_max = !Output::keeps_exponentials;

  T sum;

  KOKKOS_FORCEINLINE_FUNCTION void set_exp(const Exp& exp, T max) {
    m_words = words_of(exp);
    if constexpr (keeps_max) {
      static_assert(sizeof(Exp) == sizeof(T));
      m_words.word[1] = max;
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION Exp exp() const { return object_in<Exp>(m_words); }
  KOKKOS_FORCEINLINE_FUNCTION T max() const {
    static_assert(keeps_max);
    return m_words.word[1];
  }

  KOKKOS_FORCEINLINE_FUNCTION void set_output(const Output& output) { m_words = words_of(output); }
  KOKKOS_FORCEINLINE_FUNCTION Output output() const { return object_in<Output>(m_words); }

 private:
  struct Words {
    T word[2];
  };
  template <class Object>
  KOKKOS_FORCEINLINE_FUNCTION static Words words_of(const Object& object) {
    if constexpr (sizeof(Object) == sizeof(T))
      return {{Kokkos::bit_cast<T>(object), T(0)}};
    else
      return Kokkos::bit_cast<Words>(object);
  }
  template <class Object>
  KOKKOS_FORCEINLINE_FUNCTION static Object object_in(const Words& words) {
    // Kokkos::bit_cast asks for a default constructor.
    if constexpr (sizeof(Object) == sizeof(T))
      return __builtin_bit_cast(Object, words.word[0]);
    else
      return __builtin_bit_cast(Object, words);
  }

  Words m_words;
};

/// A sum of terms of a run. A float also has what rounding has dropped (Kahan): 32 equal terms
/// beside a large one would add up 32 equal rounding errors. Infinite sums become NaN.
template <class T>
class RunSum {
 public:
  KOKKOS_FORCEINLINE_FUNCTION void add(T term) {
    if constexpr (std::is_same_v<T, float>) {
      term -= m_dropped;
      const T sum = m_sum + term;
      m_dropped = (sum - m_sum) - term;
      m_sum = sum;
    } else {
      m_sum += term;
    }
  }
  /// Adds exp(v). With `keep`, also writes exp(v) to `slot`.
  template <bool keep, class Exp>
  KOKKOS_FORCEINLINE_FUNCTION void add_exp(const Exp& exp, T v, T& slot) {
    if constexpr (!keep && std::is_same_v<T, double>) {
      m_sum = plus_exp(m_sum, exp, v);
    } else {
      const T term = exp(v);
      if constexpr (keep) slot = term;
      add(term);
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION T value() const { return m_sum; }

 private:
  T m_sum = T(0);
  T m_dropped = T(0);  // only of float
};

/// The values of a run in registers, for operations on values.
template <RowOp Rows, class Batch, class Run>
class FlatValues {
 public:
  using T = typename Rows::Types::Compute;
  using Output = OnlyOutput<Rows>;
  using Exp = typename Output::Exp;
  using State = HeldState<Rows>;
  using OfRow = FlatRowOf<Rows>;

  KOKKOS_FORCEINLINE_FUNCTION FlatValues(const Batch& batch, const Run& run)
      : m_batch(batch), m_run(run) {
    batch.for_each_slot([&](int j) { m_value[j] = batch.has_entry(j) ? run.first[j] : -infinity; });
  }

  /// Finds the states of all rows of the vector. Afterwards the values are what the output keeps.
  KOKKOS_FORCEINLINE_FUNCTION void reduce() {
    find_maxima();
    Intrinsics::vector_barrier();
    m_batch.for_each_row([&](int r) {
      const T max = m_run.of_row[r].sum;
      m_run.of_row[r].set_exp(Exp(StateTraits<State>::reference_of(max)), max);
    });
    Intrinsics::vector_barrier();
    find_sums();
    Intrinsics::vector_barrier();
  }

  /// The state of row r. If results are computed from exponentials, its sum alone is known.
  KOKKOS_FORCEINLINE_FUNCTION State state(int r) const {
    T max(0);
    if constexpr (OfRow::keeps_max) max = m_run.of_row[r].max();
    return StateTraits<State>::make(max, m_run.of_row[r].sum);
  }

  /// Writes the results of the run, given the output of each row.
  KOKKOS_FORCEINLINE_FUNCTION void write() const {
    const OfRow* row = m_run.of_row + m_batch.first_row();
    Output output = row->output();
    m_batch.for_each_slot_in_rows([&] { output = (++row)->output(); },
                                  [&](int j) { m_run.first[j] = output(m_value[j]); });
  }

 private:
  static constexpr T infinity = Kokkos::Experimental::infinity_v<T>;

  KOKKOS_FORCEINLINE_FUNCTION void find_maxima() {
    OfRow* row = m_run.of_row + m_batch.first_row();
    T max = -infinity;
    m_batch.for_each_slot_in_rows(
        [&] {
          ++row;
          max = -infinity;
        },
        [&](int j) {
          max = larger(max, m_value[j]);
          if (m_batch.is_tail(j)) row->sum = max;
        });
    m_batch.join_lanes(max, m_run.of_row, [](T a, T b) { return larger(a, b); });
  }

  KOKKOS_FORCEINLINE_FUNCTION void find_sums() {
    OfRow* row = m_run.of_row + m_batch.first_row();
    Exp exp = row->exp();
    RunSum<T> sum;
    m_batch.for_each_slot_in_rows(
        [&] {
          exp = (++row)->exp();
          sum = RunSum<T>();
        },
        [&](int j) {
          sum.template add_exp<Output::keeps_exponentials>(exp, m_value[j], m_value[j]);
          if (m_batch.is_tail(j)) row->sum = sum.value();
        });
    m_batch.join_lanes(sum.value(), m_run.of_row, [](T a, T b) { return a + b; });
  }

  const Batch& m_batch;
  const Run& m_run;
  T m_value[Batch::longest_run];
};

}  // namespace KokkosSoftmax::Impl

#endif
