// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FLATVALUES_HPP
#define KOKKOSSOFTMAX_SRC_OP_FLATVALUES_HPP

/// \file
/// The reduction of short rows whose entries are dealt out to lanes, for operations on values, see
/// schedules/ragged/FlatBatch.hpp.

#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>
#include <impl/device/numerics/KokkosSoftmax_ExpForSum.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <op/SharedReference.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// What lanes need of a row, in scratch memory: first its maximum (as its sum), then the
/// exponential relative to its reference and, if results are computed from values, the maximum;
/// then the sum and the output.
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

/// The values of a lane's slots, in registers. `Batch`: a FlatBatch, which knows their rows.
/// Slots without an entry have the value NaN, which reaches no row's sum.
///
/// If the values of all rows are near each other, one reference serves them all (SharedReference).
/// Otherwise each row has its own, which takes another reduction.
template <RowOp Rows, class Batch>
class FlatValues {
 public:
  using T = typename Rows::Types::Compute;
  using Output = OnlyOutput<Rows>;
  using Exp = typename Output::Exp;
  using State = HeldState<Rows>;
  using OfRow = FlatRowOf<Rows>;
  using Values = T[Batch::Slots::count];

  KOKKOS_FORCEINLINE_FUNCTION FlatValues(const Batch& batch, Values& value, OfRow* of_row)
      : m_batch(batch), m_value(value), m_of_row(of_row) {}

  /// Finds the states of all rows of the vector. Afterwards the values are what the output keeps.
  KOKKOS_FORCEINLINE_FUNCTION void reduce() {
    m_shared = m_batch.shared_reference(m_value);
    if (m_shared.exists) {
      const ExpOfShared<Output> exp(m_shared.reference);
      find_sums(exp, [](const OfRow&) {});
    } else {
      find_maxima();
      Intrinsics::vector_barrier();
      m_batch.for_each_row([&](int r) {
        const T max = m_of_row[r].sum;
        m_of_row[r].set_exp(Exp(StateTraits<State>::reference_of(max)), max);
      });
      Intrinsics::vector_barrier();
      Exp exp = m_of_row[-1].exp();
      find_sums(exp, [&](const OfRow& row) { exp = row.exp(); });
    }
    Intrinsics::vector_barrier();
  }

  /// The state of row r. If results are computed from exponentials, its sum alone is known.
  KOKKOS_FORCEINLINE_FUNCTION State state(int r) const {
    const T sum = m_of_row[r].sum;
    if constexpr (OfRow::keeps_max)
      return m_shared.exists ? state_of_sum<State>(m_shared.reference, sum)
                             : StateTraits<State>::make(m_of_row[r].max(), sum);
    else
      return StateTraits<State>::make(T(0), sum);
  }
  /// How far the entries of a row may be above the maximum in its state().
  KOKKOS_FORCEINLINE_FUNCTION T slack() const { return m_shared.exists ? slack_of_sum<T> : T(0); }

  /// Replaces the values by the results, given the output of each row.
  KOKKOS_FORCEINLINE_FUNCTION void write() {
    Output output = m_of_row[-1].output();
    m_batch.for_each_slot(
        m_of_row, [&](const OfRow& row) { output = row.output(); },
        [&](int j) {
          const T result = output(m_value[j]);
          // A sum that isn't relative to the maximum can make a logarithm positive by rounding.
          m_value[j] = !Output::keeps_exponentials && result > T(0) ? T(0) : result;
        });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void find_maxima() {
    m_batch.reduce(
        -Kokkos::Experimental::infinity_v<T>, m_of_row, [](const OfRow&) {},
        [&](T max, int j) { return larger(max, m_value[j]); },
        [](T a, T b) { return larger(a, b); });
  }

  template <class AnyExp, class Enter>
  KOKKOS_FORCEINLINE_FUNCTION void find_sums(const AnyExp& exp, const Enter& enter) {
    m_batch.reduce(
        T(0), m_of_row, enter,
        [&](T sum, int j) {
          add_term<Output::keeps_exponentials>(sum, exp, m_value[j], m_value[j]);
          return sum;
        },
        [](T a, T b) { return a + b; });
  }

  const Batch& m_batch;
  Values& m_value;
  OfRow* m_of_row;
  SharedReference<T> m_shared;
};

}  // namespace KokkosSoftmax::Impl

#endif
