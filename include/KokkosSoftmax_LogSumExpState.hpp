// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP
#define KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

/// \file
/// A log-sum-exp inside kernels: its state, and a Kokkos reducer of states.

namespace KokkosSoftmax {

/// \defgroup in_a_kernel In a kernel
/// Log-sum-exps inside your own kernels and reductions, on the host or on a device.
/// \code
///   using State = KokkosSoftmax::LogSumExpState<double>;
///   State all;  // log sum_i exp(x_i)
///   Kokkos::parallel_reduce("all entries", Kokkos::RangePolicy(exec, 0, n),
///                           KOKKOS_LAMBDA(int i, State& state) { state.update(x(i)); },
///                           KokkosSoftmax::LogSumExp(all));
///   double value = all.value();
/// \endcode
/// \{

/// A log-sum-exp under way: `value() = log(sum_i exp(x_i)) = max + log(sum)`, where
/// `sum = sum_i exp(x_i - max)`. Entries are added one by one (update) and states of parts of a row
/// are joined (merge) in any order without overflow: the online normalizer of Milakov and
/// Gimelshein, https://arxiv.org/abs/1805.02867.
///
/// Special values follow SciPy: without entries, or with entries -inf alone, value() is -inf; with
/// an entry +inf it is +inf; with a NaN it is NaN.
///
/// Each update and merge rounds, so the error grows with the number of entries that one state
/// takes in, by about one rounding each.
///
/// \tparam T  float or double
template <class T>
struct LogSumExpState {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "KokkosSoftmax::LogSumExpState<T>: T must be float or double");

  T max = -Kokkos::Experimental::infinity_v<T>;  ///< the largest entry; -inf before the first
  T sum = T(0);                                  ///< the sum of exp(entry - max)

  /// Adds one entry.
  /// \param x  any number, also infinite or NaN
  KOKKOS_INLINE_FUNCTION void update(T x) { merge({x, T(1)}); }

  /// Joins the entries of another state to this one.
  /// \param other  a state of other entries; stays as it is
  KOKKOS_INLINE_FUNCTION void merge(const LogSumExpState& other) {
    // Equal maxima are taken apart because inf - inf would be NaN.
    if (other.max == max) {
      sum += other.sum;
    } else if (other.max > max) {
      sum = sum * Kokkos::exp(max - other.max) + other.sum;
      max = other.max;
    } else {  // a NaN entry comes here, and makes the sum NaN
      sum += other.sum * Kokkos::exp(other.max - max);
    }
  }

  /// The log-sum-exp of the entries so far.
  /// \return log(sum_i exp(x_i)); -inf without entries
  KOKKOS_INLINE_FUNCTION T value() const { return max + Kokkos::log(sum); }
};

/// Kokkos reducer that joins LogSumExpState<T>, for any parallel_reduce (range, team, vector). Its
/// template arguments follow from the result:
/// \code
///   using State = LogSumExpState<double>;
///   State s;
///   auto add = KOKKOS_LAMBDA(int i, State& t) { t.update(x(i)); };
///   Kokkos::parallel_reduce(n, add, LogSumExp(s));
///   double lse = s.value();
/// \endcode
/// As with all of Kokkos' reducers, a reduction into a State waits for its result; one into a View
/// doesn't.
///
/// \tparam T      float or double
/// \tparam Space  the memory space of the result
template <class T, class Space = Kokkos::HostSpace>
struct LogSumExp {
  using reducer = LogSumExp;             ///< what makes it a reducer to Kokkos
  using value_type = LogSumExpState<T>;  ///< what is joined
  /// the result as a View of rank 0
  using result_view_type = Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Reduces into a variable.
  /// \param result  what the reduction sets; must live until then
  KOKKOS_INLINE_FUNCTION explicit LogSumExp(value_type& result)
      : m_result(&result), m_references_scalar(true) {}
  /// Reduces into a View of rank 0, which may be on a device.
  /// \param result  what the reduction sets
  template <class... P>
  KOKKOS_INLINE_FUNCTION explicit LogSumExp(const Kokkos::View<value_type, P...>& result)
      : m_result(result), m_references_scalar(false) {}

  /// \name What Kokkos calls
  /// \{

  /// Joins one partial result to another.
  /// \param into  the one that is changed
  /// \param from  the one that is added
  KOKKOS_INLINE_FUNCTION void join(value_type& into, const value_type& from) const {
    into.merge(from);
  }
  /// Begins a partial result.
  /// \param value  set to the state without entries
  KOKKOS_INLINE_FUNCTION void init(value_type& value) const { value = value_type(); }
  /// What is reduced into.
  /// \return the variable, or what is in the View
  KOKKOS_INLINE_FUNCTION value_type& reference() const { return *m_result.data(); }
  /// What is reduced into, as a View.
  /// \return a View without ownership
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return m_result; }
  /// Whether Kokkos waits for the result.
  /// \return true for a variable, false for a View
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return m_references_scalar; }

  /// \}

 private:
  result_view_type m_result;
  bool m_references_scalar;
};

/// \}

/// \cond
template <class T, class... P>
LogSumExp(const Kokkos::View<LogSumExpState<T>, P...>&)
    -> LogSumExp<T, typename Kokkos::View<LogSumExpState<T>, P...>::memory_space>;
template <class T>
LogSumExp(LogSumExpState<T>&) -> LogSumExp<T>;
/// \endcond

}  // namespace KokkosSoftmax

#endif
