// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP
#define KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

/// \file
/// Log-sum-exp inside kernels: the state of a log-sum-exp, and a Kokkos reducer of states.

namespace KokkosSoftmax {

/// \defgroup in_a_kernel In a kernel
/// Log-sum-exp inside your own kernels and reductions, on the host or on a device.
/// \code
///   using State = KokkosSoftmax::LogSumExpState<double>;
///   State all;  // log sum_i exp(x_i)
///   Kokkos::parallel_reduce("all entries", Kokkos::RangePolicy(exec, 0, n),
///                           KOKKOS_LAMBDA(int i, State& state) { state.update(x(i)); },
///                           KokkosSoftmax::LogSumExp(all));
///   double value = all.value();
/// \endcode
/// \{

/// The state (max, sum) of the log-sum-exp of the entries x_i seen so far:
/// `value() = log(sum_i exp(x_i)) = max + log(sum)` with `sum = sum_i exp(x_i - max)`.
/// update() adds one entry, merge() adds the entries of another state. Both can be called in any
/// order and do not overflow. The method is the online normalizer of Milakov and Gimelshein,
/// https://arxiv.org/abs/1805.02867.
///
/// Special values follow SciPy: value() is -inf if there are no entries or if all entries are -inf,
/// +inf if there is an entry +inf and no NaN, and NaN if there is a NaN.
///
/// Each update and each merge rounds the sum. The error of a state therefore grows with the number
/// of its entries, by about one rounding error per entry.
///
/// \tparam T  float or double
template <class T>
struct LogSumExpState {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "KokkosSoftmax::LogSumExpState<T>: T must be float or double");

  T max = -Kokkos::Experimental::infinity_v<T>;  ///< the largest entry; -inf without entries
  T sum = T(0);                                  ///< the sum of exp(entry - max)

  /// Adds one entry.
  /// \param x  any value, including infinities and NaN
  KOKKOS_INLINE_FUNCTION void update(T x) { merge({x, T(1)}); }

  /// Adds the entries of another state to this one.
  /// \param other  a state of other entries; is not changed
  KOKKOS_INLINE_FUNCTION void merge(const LogSumExpState& other) {
    // Equal maxima are a case of their own because inf - inf would be NaN.
    if (other.max == max) {
      sum += other.sum;
    } else if (other.max > max) {
      sum = sum * Kokkos::exp(max - other.max) + other.sum;
      max = other.max;
    } else {  // also taken if other.max is NaN (a NaN entry), which makes the sum NaN
      sum += other.sum * Kokkos::exp(other.max - max);
    }
  }

  /// Returns the log-sum-exp of the entries so far.
  /// \return log(sum_i exp(x_i)); -inf without entries
  KOKKOS_INLINE_FUNCTION T value() const { return max + Kokkos::log(sum); }
};

/// Kokkos reducer that merges LogSumExpState<T>, for parallel_reduce at any level (range, team,
/// vector). The template arguments are deduced from the result:
/// \code
///   using State = LogSumExpState<double>;
///   State s;
///   auto add = KOKKOS_LAMBDA(int i, State& t) { t.update(x(i)); };
///   Kokkos::parallel_reduce(n, add, LogSumExp(s));
///   double lse = s.value();
/// \endcode
/// As with all reducers of Kokkos, a reduction into a variable waits for the result, and a
/// reduction into a View does not.
///
/// \tparam T      float or double
/// \tparam Space  the memory space of the result
template <class T, class Space = Kokkos::HostSpace>
struct LogSumExp {
  using reducer = LogSumExp;             ///< marks this type as a reducer for Kokkos
  using value_type = LogSumExpState<T>;  ///< the type that is reduced
  /// The result as a View of rank 0.
  using result_view_type = Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  /// Reduces into a variable.
  /// \param result  set by the reduction; must exist until the reduction has finished
  KOKKOS_INLINE_FUNCTION explicit LogSumExp(value_type& result)
      : m_result(&result), m_references_scalar(true) {}
  /// Reduces into a View of rank 0, which can be in the memory of a device.
  /// \param result  set by the reduction
  template <class... P>
  KOKKOS_INLINE_FUNCTION explicit LogSumExp(const Kokkos::View<value_type, P...>& result)
      : m_result(result), m_references_scalar(false) {}

  /// \name Functions that Kokkos calls
  /// \{

  /// Merges one partial result into another.
  /// \param into  the partial result that is changed
  /// \param from  the partial result that is added
  KOKKOS_INLINE_FUNCTION void join(value_type& into, const value_type& from) const {
    into.merge(from);
  }
  /// Initializes a partial result.
  /// \param value  set to the state without entries
  KOKKOS_INLINE_FUNCTION void init(value_type& value) const { value = value_type(); }
  /// Returns the result.
  /// \return the variable, or the element of the View
  KOKKOS_INLINE_FUNCTION value_type& reference() const { return *m_result.data(); }
  /// Returns the result as a View.
  /// \return an unmanaged View
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return m_result; }
  /// Tells whether Kokkos waits for the result.
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
