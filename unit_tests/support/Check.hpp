// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CHECK_HPP
#define KOKKOSSOFTMAX_TEST_CHECK_HPP

/// \file
/// One call of the library with all of its checks: the values, the memory beside the output, and
/// the memory of the input.

#include <gtest/gtest.h>

#include <KokkosSoftmax.hpp>
#include <Kokkos_Core.hpp>
#include <optional>
#include <reference/Accuracy.hpp>
#include <sstream>
#include <stdexcept>
#include <support/Config.hpp>
#include <support/Field.hpp>
#include <support/Samples.hpp>
#include <utility>

namespace KokkosSoftmax::Test {

template <class Exec, class X, class Y>
void call(Function function, const Exec& exec, const X& x, const Y& y, const Options& options) {
  if constexpr (Y::rank() + 1 == X::rank())
    logsumexp(exec, x, y, options);
  else if (function == Function::softmax)
    softmax(exec, x, y, options);
  else if (function == Function::log_softmax)
    log_softmax(exec, x, y, options);
  else
    throw std::logic_error("no such function");
}

/// Throws what the call would throw.
template <class Exec, class X, class Y>
void plan_call(Function function, const Exec& exec, const X& x, const Y& y,
               const Options& options) {
  if constexpr (Y::rank() + 1 == X::rank())
    plan_logsumexp(exec, x, y, options);
  else if (function == Function::softmax)
    plan_softmax(exec, x, y, options);
  else
    plan_log_softmax(exec, x, y, options);
}

/// The function to call, and the extents of its tensors.
struct Case {
  Function function = Function::softmax;
  Extents extents = {};
  Options options = {};
  std::size_t x_offset = 0;  // elements between an aligned address and the first element
  std::size_t y_offset = 0;

  /// The extents of the output of the function.
  Extents y_extents() const {
    return function == Function::logsumexp ? without_axis(extents, options.axis) : extents;
  }
};

inline std::ostream& operator<<(std::ostream& out, const Case& c) {
  out << to_string(c.function) << " of extents (";
  for (std::size_t d = 0; d < c.extents.size(); ++d) out << (d == 0 ? "" : ", ") << c.extents[d];
  return out << "), axis " << c.options.axis << ", scale " << c.options.scale << ", "
             << to_string(c.options.algorithm) << ", offsets " << c.x_offset << " and "
             << c.y_offset;
}

/// Combines a result with a condition; both must hold.
inline ::testing::AssertionResult both(::testing::AssertionResult result, bool condition,
                                       const char* otherwise) {
  if (condition) return result;
  return ::testing::AssertionFailure() << result.message() << "\n  " << otherwise;
}

/// The format that results of a type are rounded to, if it differs from the type of the
/// computation.
template <class Y>
constexpr std::optional<Format> format_of() {
  if (sizeof(Y) > 2) return {};
  if (std::is_same_v<Y, Kokkos::Experimental::half_t>) return Format{11, -14, 65504};
  return Format{8, -126, 0x1.fep127L};
}

/// Whether results, rounded to X, are as near to the expected ones as the bounds say.
template <class X, class T>
::testing::AssertionResult are_near(const std::vector<T>& got, const ExpectedNumbers& expected) {
  return are_near(got, expected, format_of<X>());
}

/// Checks the contents of y after a call.
template <class T, class Y, class Exec>
::testing::AssertionResult check_output(const Case& c, const Rows<T>& rows,
                                        const Expected& expected, const Field<Y, Exec>& y) {
  const std::vector<T> got = c.function == Function::logsumexp
                                 ? y.template read<T>()
                                 : tensor_to_rows(y.template read<T>(), c.extents, c.options.axis);
  auto result = is_accurate(c.function, rows, expected, got, 0, format_of<Y>());
  result = both(result, y.gaps_are_unchanged(), "something beside y's elements was written");
  if (!result) result << "\n  in " << ::testing::PrintToString(c);
  return result;
}

/// Calls the function on tensors of layouts LX and LY whose rows along the axis are `rows`, and
/// checks the result. A call that an algorithm refuses throws before the tensors get their values.
template <class V, class LX, class LY, int rank, class T, class Exec>
::testing::AssertionResult check_as(const Exec& exec, const Case& c, const Rows<T>& rows,
                                    const Expected& expected) {
  using X = typename V::X;
  Field<X, Exec> x(place<LX>(c.extents, c.x_offset), FirstContents::undefined);
  Field<typename V::Y, Exec> y(place<LY>(c.y_extents(), c.y_offset), FirstContents::undefined);
  const auto x_view = x.template view<LX, rank, const X>();
  const auto with_y = [&](const auto& y_view) {
    if (c.options.algorithm != Algorithm::automatic)
      plan_call(c.function, exec, x_view, y_view, c.options);
    x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
    y.assign_poison();
    call(c.function, exec, x_view, y_view, c.options);
  };
  if (c.function == Function::logsumexp)
    with_y(y.template view<LY, rank - 1>());
  else
    with_y(y.template view<LY, rank>());
  exec.fence();
  auto result = both(check_output(c, rows, expected, y), x.is_unchanged(), "x was written");
  if constexpr (std::is_same_v<X, T>)
    if (c.function == Function::logsumexp && result) {
      result = is_accurate_near_zero(rows, expected, y.template read<T>());
      if (!result) result << "\n  in " << ::testing::PrintToString(c);
    }
  return result;
}

/// The same for x and y of the type of `rows`.
template <class LX, class LY, int rank, class T, class Exec>
::testing::AssertionResult check(const Exec& exec, const Case& c, const Rows<T>& rows,
                                 const Expected& expected) {
  return check_as<KokkosSoftmax::Impl::ValueTypes<T>, LX, LY, rank>(exec, c, rows, expected);
}

/// The same with y = x.
template <class L, int rank, class X = void, class T, class Exec>
::testing::AssertionResult check_in_place(const Exec& exec, const Case& c, const Rows<T>& rows,
                                          const Expected& expected) {
  Field<std::conditional_t<std::is_void_v<X>, T, X>, Exec> x(place<L>(c.extents, c.x_offset));
  x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
  const auto view = x.template view<L, rank>();
  call(c.function, exec, view, view, c.options);
  exec.fence();
  return check_output(c, rows, expected, x);
}

/// The same for matrices of the layout of a configuration. The matrix gets the extents that fit
/// `rows` and the axis.
template <class C>
::testing::AssertionResult check_matrix(Case c, const Rows<typename C::value>& rows,
                                        const Expected& expected,
                                        const typename C::exec& exec = {}) {
  using L = typename C::layout;
  c.extents = axis_index({0, 0}, c.options.axis) == 1 ? Extents{rows.count, rows.columns}
                                                      : Extents{rows.columns, rows.count};
  return check_as<typename C::values, L, L, 2>(exec, c, rows, expected);
}

}  // namespace KokkosSoftmax::Test

#endif
