// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP
#define KOKKOSSOFTMAX_LOGSUMEXPSTATE_HPP

#include <Kokkos_Core.hpp>
#include <type_traits>

namespace KokkosSoftmax {

/// A log-sum-exp under way: `value() = log(sum_i exp(x_i)) = max + log(sum)`, where
/// `sum = sum_i exp(x_i - max)`. Entries are added one by one (update) and states of parts of a row
/// are joined (merge) in any order without overflow: the online normalizer of Milakov and
/// Gimelshein, arXiv:1805.02867.
///
/// Special values follow SciPy: without entries, or with entries -inf alone, value() is -inf; with
/// an entry +inf it is +inf; with a NaN it is NaN.
template <class T>
struct LogSumExpState {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, double>,
                "KokkosSoftmax::LogSumExpState<T>: T must be float or double");

  T max = -Kokkos::Experimental::infinity_v<T>;
  T sum = T(0);

  /// Adds one entry.
  KOKKOS_INLINE_FUNCTION void update(T x) { merge({x, T(1)}); }

  /// Joins the entries of another state to this one.
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
  KOKKOS_INLINE_FUNCTION T value() const { return max + Kokkos::log(sum); }
};

/// Kokkos reducer that joins LogSumExpState<T>, for any parallel_reduce (range, team, vector):
/// \code
///   using State = LogSumExpState<double>;
///   State s;
///   auto add = KOKKOS_LAMBDA(int i, State& t) { t.update(x(i)); };
///   Kokkos::parallel_reduce(n, add, LogSumExp(s));
///   double lse = s.value();
/// \endcode
template <class T, class Space = Kokkos::HostSpace>
struct LogSumExp {
  using reducer = LogSumExp;
  using value_type = LogSumExpState<T>;
  using result_view_type = Kokkos::View<value_type, Space, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

  KOKKOS_INLINE_FUNCTION explicit LogSumExp(value_type& result)
      : m_result(&result), m_references_scalar(true) {}
  template <class... P>
  KOKKOS_INLINE_FUNCTION explicit LogSumExp(const Kokkos::View<value_type, P...>& result)
      : m_result(result), m_references_scalar(false) {}

  KOKKOS_INLINE_FUNCTION void join(value_type& into, const value_type& from) const {
    into.merge(from);
  }
  KOKKOS_INLINE_FUNCTION void init(value_type& value) const { value = value_type(); }
  KOKKOS_INLINE_FUNCTION value_type& reference() const { return *m_result.data(); }
  KOKKOS_INLINE_FUNCTION result_view_type view() const { return m_result; }
  KOKKOS_INLINE_FUNCTION bool references_scalar() const { return m_references_scalar; }

 private:
  result_view_type m_result;
  bool m_references_scalar;
};

template <class T, class... P>
LogSumExp(const Kokkos::View<LogSumExpState<T>, P...>&)
    -> LogSumExp<T, typename Kokkos::View<LogSumExpState<T>, P...>::memory_space>;
template <class T>
LogSumExp(LogSumExpState<T>&) -> LogSumExp<T>;

}  // namespace KokkosSoftmax

#endif
