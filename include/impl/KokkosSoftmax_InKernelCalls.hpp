// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_INKERNELCALLS_HPP
#define KOKKOSSOFTMAX_IMPL_INKERNELCALLS_HPP

/// \file
/// The calls inside kernels: their arguments, the checks of their types, and how they are computed
/// on a host and on a device.

#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_HostRow.hpp>
#include <impl/device/op/KokkosSoftmax_Backward.hpp>
#include <impl/device/op/KokkosSoftmax_LogSumExp.hpp>
#include <impl/device/op/KokkosSoftmax_Softmax.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <impl/device/schedules/KokkosSoftmax_RowInOrder.hpp>

namespace KokkosSoftmax::Impl {

/// Whether V is a View of rank 1.
template <class V>
KOKKOS_FUNCTION constexpr bool is_row() {
  if constexpr (Kokkos::is_view_v<V>)
    return V::rank() == 1;
  else
    return false;
}
/// Whether there are kernels for the value types of an input and an output. True for arguments that
/// aren't rows, which have a message of their own.
template <class X, class Y = X>
KOKKOS_FUNCTION constexpr bool rows_have_kernels() {
  if constexpr (!is_row<X>() || !is_row<Y>())
    return true;
  else if constexpr (std::is_same_v<X, Y>)
    return have_kernels<typename X::non_const_value_type, typename X::non_const_value_type>;
  else
    return have_kernels<typename X::non_const_value_type, typename Y::value_type>;
}
/// Whether `Value` is the value type of X, const or not.
template <class X, class Value>
inline constexpr bool is_value_type_of =
    std::is_same_v<std::remove_const_t<Value>, typename X::non_const_value_type>;
template <class Y, class DY, class DX>
KOKKOS_FUNCTION constexpr bool rows_have_one_type() {
  if constexpr (!is_row<Y>() || !is_row<DY>() || !is_row<DX>())
    return true;
  else
    return is_value_type_of<Y, typename DY::value_type> &&
           is_value_type_of<Y, typename DX::value_type> &&
           !std::is_const_v<typename DX::value_type>;
}

template <class X, class Y>
inline constexpr bool can_call_forward = is_row<X>() && is_row<Y>() && rows_have_kernels<X, Y>();
template <class Y, class DY, class DX>
inline constexpr bool can_call_backward =
    can_call_forward<Y, Y>&& is_row<DY>() && is_row<DX>() && rows_have_one_type<Y, DY, DX>();

/// Checks the types of a call at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, V, name)                                        \
  static_assert(KokkosSoftmax::Impl::is_row<V>(), "KokkosSoftmax::..." function "::invoke: " name \
                                                  " must be a Kokkos::View of rank 1")
#define KOKKOSSOFTMAX_IMPL_CHECK_ROW(function, X, Y)                                            \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, X, "x");                                            \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, Y, "y");                                            \
  static_assert(KokkosSoftmax::Impl::rows_have_kernels<X, Y>(),                                 \
                "KokkosSoftmax::..." function                                                   \
                "::invoke: the value types of x and y must be float and float, double and "     \
                "double, half_t and half_t, half_t and float, bhalf_t and bhalf_t, or bhalf_t " \
                "and float, that of y without const, and the library must be built for them "   \
                "(KokkosSoftmax_VALUE_TYPES was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")")
#define KOKKOSSOFTMAX_IMPL_CHECK_INPUT_ROW(function, X, name)                                   \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, X, name);                                           \
  static_assert(KokkosSoftmax::Impl::rows_have_kernels<X>(),                                    \
                "KokkosSoftmax::..." function "::invoke: the value type of " name               \
                " must be float, double, half_t or bhalf_t, and the library must be built for " \
                "it (KokkosSoftmax_VALUE_TYPES was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")")
#define KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_ROW(function, Y, name, DY, DX) \
  KOKKOSSOFTMAX_IMPL_CHECK_INPUT_ROW(function, Y, name);                 \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, DY, "dy");                   \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_ROW(function, DX, "dx");                   \
  static_assert(KokkosSoftmax::Impl::rows_have_one_type<Y, DY, DX>(),    \
                "KokkosSoftmax::..." function                            \
                "::invoke: all Views must have the value type "          \
                "of " name ", that of dx without const")

/// The type that is computed in; float for a type that isn't a row.
template <class X>
struct RowComputeOf {
  using type = float;
};
template <class X>
requires(is_row<X>() && rows_have_kernels<X>()) struct RowComputeOf<X> {
  using type = typename ValueTypes<typename X::non_const_value_type>::Compute;
};
template <class X>
using RowCompute = typename RowComputeOf<X>::type;

template <class View>
auto host_row(const View& view) {
  return StridedRow<typename View::value_type>{view.data(),
                                               static_cast<std::int64_t>(view.stride(0))};
}
template <class View>
auto host_input_row(const View& view) {
  return StridedRow<typename View::const_value_type>{view.data(),
                                                     static_cast<std::int64_t>(view.stride(0))};
}
template <class View>
KOKKOS_FORCEINLINE_FUNCTION std::int64_t columns_of(const View& view) {
  return static_cast<std::int64_t>(view.extent(0));
}

/// Stands for the output of a call that writes no row.
template <class X>
struct NoRow {
  using value_type = typename X::non_const_value_type;
};

/// softmax and log_softmax, and logsumexp with NoRow.
template <Operation operation, class X, class Y>
class ForwardCall {
  using Types = ValueTypes<typename X::non_const_value_type, typename Y::value_type>;
  using Op =
      std::conditional_t<operation == Operation::logsumexp, LogSumExpOp<Types>, SoftmaxOp<Types>>;
  static constexpr int function = operation == Operation::log_softmax ? 1 : 0;

 public:
  using T = typename Types::Compute;

  template <class AnyOptions>
  KOKKOS_FORCEINLINE_FUNCTION ForwardCall(const X& x, const Y& y, const AnyOptions& options)
      : m_x(x), m_y(y), m_scale(options.scale), m_empty_rows(options.empty_rows) {
    if constexpr (Op::writes_entries) {
      KOKKOS_EXPECTS(x.extent(0) == y.extent(0));
    }
  }

  T on_host() const {
    StridedRow<typename Y::value_type> y{nullptr, 1};
    if constexpr (Op::writes_entries) y = host_row(m_y);
    return compute_row_on_host<operation>(host_input_row(m_x), y, columns_of(m_x), m_scale,
                                          m_empty_rows);
  }

  template <class Group, class Team>
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> on_device(const Group& group, const Team& team) const {
    const ForwardEntries<X, Y> row(m_x, m_y, static_cast<T>(m_scale));
    return RowInOrder<Op, function, ForwardEntries<X, Y>, Group, Team>(row, group, team,
                                                                       m_empty_rows)
        .compute();
  }

  /// The log-sum-exp; beside y as it is written beside y.
  KOKKOS_FORCEINLINE_FUNCTION T result(const RowTotals<T>& row) const {
    const T lse =
        written_lse(row.reference + Kokkos::log(row.sum), static_cast<T>(m_scale) == T(0));
    constexpr T infinity = Kokkos::Experimental::infinity_v<T>;
    return Op::writes_entries && lse == infinity ? lse - lse : lse;
  }

 private:
  const X& m_x;
  const Y& m_y;
  double m_scale;
  EmptyRows m_empty_rows;
};
template <class X>
using LogSumExpCall = ForwardCall<Operation::logsumexp, X, NoRow<X>>;

/// softmax_backward and log_softmax_backward.
template <BackwardOperation operation, class Y, class DY, class DX>
class BackwardCall {
 public:
  using T = RowCompute<Y>;

  template <class AnyOptions>
  KOKKOS_FORCEINLINE_FUNCTION BackwardCall(const Y& y, const DY& dy, const DX& dx,
                                           const AnyOptions& options)
      : m_y(y), m_dy(dy), m_dx(dx), m_scale(options.scale) {
    KOKKOS_EXPECTS(y.extent(0) == dy.extent(0));
    KOKKOS_EXPECTS(y.extent(0) == dx.extent(0));
  }

  T on_host() const {
    compute_row_on_host<operation>(host_input_row(m_y), host_input_row(m_dy), host_row(m_dx),
                                   columns_of(m_y), m_scale);
    return T(0);
  }

  template <class Group, class Team>
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> on_device(const Group& group, const Team& team) const {
    constexpr bool is_log = operation == BackwardOperation::log_softmax_backward;
    using Entries = BackwardEntries<is_log, Y, DY, DX>;
    using Op = BackwardOp<typename Entries::Types>;
    const Entries row(m_y, m_dy, m_dx, static_cast<T>(m_scale));
    return RowInOrder<Op, 0, Entries, Group, Team>(row, group, team, EmptyRows::nan).compute();
  }
  KOKKOS_FORCEINLINE_FUNCTION static T result(const RowTotals<T>&) { return T(0); }

 private:
  const Y& m_y;
  const DY& m_dy;
  const DX& m_dx;
  double m_scale;
};

/// logsumexp_backward, whose entries are computed alone.
template <class X, class DX>
class LogSumExpBackwardCall {
 public:
  using T = RowCompute<X>;

  template <class AnyOptions>
  KOKKOS_FORCEINLINE_FUNCTION LogSumExpBackwardCall(const X& x, T lse, T dlse, const DX& dx,
                                                    const AnyOptions& options)
      : m_x(x), m_dx(dx), m_lse(lse), m_dlse(dlse), m_scale(options.scale) {
    KOKKOS_EXPECTS(x.extent(0) == dx.extent(0));
  }

  T on_host() const {
    compute_row_on_host(host_input_row(m_x), m_lse, m_dlse, host_row(m_dx), columns_of(m_x),
                        m_scale);
    return T(0);
  }

  template <class Group, class Team>
  KOKKOS_FORCEINLINE_FUNCTION RowTotals<T> on_device(const Group& group, const Team& team) const {
    if (!team.takes_part()) return {};
    using Value = typename DX::value_type;
    const ForwardEntries<X, DX> row(m_x, m_dx, static_cast<T>(m_scale));
    const T factor = product(static_cast<T>(m_scale), m_dlse);
    const std::int64_t step = team.groups() * group.lanes();
    for (std::int64_t c = team.number() * group.lanes() + group.lane(); c < row.columns();
         c += step) {
      const T p = softmax_from_lse<Value>(row.value(c), m_lse);
      row.store(c, p == T(0) ? T(0) : factor * p);
    }
    return {};
  }
  KOKKOS_FORCEINLINE_FUNCTION static T result(const RowTotals<T>&) { return T(0); }

 private:
  const X& m_x;
  const DX& m_dx;
  T m_lse;
  T m_dlse;
  double m_scale;
};

}  // namespace KokkosSoftmax::Impl

#endif
