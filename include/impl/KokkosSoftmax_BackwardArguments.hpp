// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_BACKWARDARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_BACKWARDARGUMENTS_HPP

/// \file
/// The checks of the arguments of the backward passes.

#include <impl/KokkosSoftmax_Arguments.hpp>

namespace KokkosSoftmax::Impl {

/// Checks the type of a View of a backward pass at compile time. Y is the type of the first input.
#define KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEW(function, Exec, Y, y_name, name, V, Value)         \
  static_assert(Kokkos::is_view_v<V>,                                                             \
                "KokkosSoftmax::" function ": " name " must be a Kokkos::View");                  \
  static_assert(KokkosSoftmax::Impl::rank_of<V>() == KokkosSoftmax::Impl::rank_of<Y>(),           \
                "KokkosSoftmax::" function ": " name " must have the rank of " y_name);           \
  static_assert(std::is_same_v<typename V::Value, typename Y::non_const_value_type>,              \
                "KokkosSoftmax::" function ": the value type of " name " must be that of " y_name \
                " (of dx without const)");                                                        \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, V>,                                 \
                "KokkosSoftmax::" function ": the memory of " name " is not accessible from exec")

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD(function, Exec, Y, y_name, DY, DX)                       \
  static_assert(Kokkos::is_execution_space_v<Exec>,                                                \
                "KokkosSoftmax::" function ": exec must be an instance of an execution space");    \
  static_assert(Kokkos::is_view_v<Y>,                                                              \
                "KokkosSoftmax::" function ": " y_name " must be a Kokkos::View");                 \
  static_assert(Y::rank() >= 1, "KokkosSoftmax::" function ": " y_name " must have rank 1 to 8");  \
  static_assert(KokkosSoftmax::Impl::have_kernels<typename Y::non_const_value_type,                \
                                                  typename Y::non_const_value_type>,               \
                "KokkosSoftmax::" function ": the value type of " y_name                           \
                " must be float, double, half_t or bhalf_t, and the library must be built for it " \
                "(KokkosSoftmax_VALUE_TYPES was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");             \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, Y>,                                  \
                "KokkosSoftmax::" function ": the memory of " y_name                               \
                " is not accessible from exec");                                                   \
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEW(function, Exec, Y, y_name, "dy", DY,                      \
                                         non_const_value_type);                                    \
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEW(function, Exec, Y, y_name, "dx", DX, value_type)

/// Checks one argument of a call without exec. An argument that isn't a View is mostly an exec in a
/// call that has one View too few; the message therefore lists both forms of the call.
#define KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, arguments, name, V)                        \
  static_assert(Kokkos::is_view_v<V>, "KokkosSoftmax::" function ": " name                    \
                                      " must be a Kokkos::View (the arguments are " arguments \
                                      ", or exec, " arguments ")")

/// Checks the types of a call without exec, which takes the execution space from dx.
#define KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEWS(function, Y, y_name, DY, DX)   \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, y_name ", dy and dx", y_name, Y); \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, y_name ", dy and dx", "dy", DY);  \
  KOKKOSSOFTMAX_IMPL_CHECK_IS_VIEW(function, y_name ", dy and dx", "dx", DX)

/// Checks that dx shares no element with the inputs, except that it may be one of them.
template <class T>
void check_backward_overlap(const Callee& callee, const char* y_name,
                            const StridedArray<const T>& y, const StridedArray<const T>& dy,
                            const StridedArray<T>& dx, int axis) {
  const auto check = [&](const char* name, const StridedArray<const T>& input) {
    const auto pair = make_row_pair(input, dx, axis);
    if (pair.rows > 0) check_overlap(callee, name, "dx", pair);
  };
  check(y_name, y);
  check("dy", dy);
}

/// The arrays of a backward pass with the reduced axes merged to `axis`.
template <class T>
struct BackwardArrays {
  StridedArray<const T> y;
  StridedArray<const T> dy;
  StridedArray<T> dx;
  int axis;
};

/// Merges the reduced axes of arrays that have passed check_size(), and checks that dx doesn't
/// overlap the others.
template <class T>
BackwardArrays<T> merged_backward_arrays(const Callee& callee, const char* y_name,
                                         const StridedArray<const T>& y,
                                         const StridedArray<const T>& dy, const StridedArray<T>& dx,
                                         const ReducedAxes& axes) {
  const BackwardArrays<T> arrays{merged_array(callee, y_name, y, axes),
                                 merged_array(callee, "dy", dy, axes),
                                 merged_array(callee, "dx", dx, axes), axes.merged_axis()};
  check_backward_overlap(callee, y_name, arrays.y, arrays.dy, arrays.dx, arrays.axis);
  return arrays;
}

/// Checks the values of the arguments and returns the problem in the form rows x columns.
template <class T>
auto checked_backward_problem(const Callee& callee, const char* y_name,
                              const StridedArray<const T>& y, const StridedArray<const T>& dy,
                              const StridedArray<T>& dx, const Options& options) {
  const ReducedAxes axes = checked_axes(callee, y_name, y, options);
  check_scale<ValueTypes<T>>(callee, options.scale);
  check_extents(callee, y_name, y, "dy", dy, axes, false);
  check_extents(callee, y_name, y, "dx", dx, axes, false);
  check_size(callee, y_name, y);
  check_size(callee, "dy", dy);
  check_size(callee, "dx", dx);
  const auto arrays = merged_backward_arrays(callee, y_name, y, dy, dx, axes);
  const auto problem = make_backward_problem(arrays.y, arrays.dy, arrays.dx, arrays.axis);
  check_outer_rank(callee, problem);
  return problem;
}

/// Checks the values of the arguments and enqueues the operation. If it throws, nothing is written.
template <BackwardOperation operation, class Exec, class T>
void check_and_launch_backward(const Exec& exec, const StridedArray<const T>& y,
                               const StridedArray<const T>& dy, const StridedArray<T>& dx,
                               const Options& options) {
  const auto problem =
      checked_backward_problem(operation, first_input_name(operation), y, dy, dx, options);
  if (writes_something(operation, problem)) launch<operation>(exec, problem, options);
}

/// The same for arguments that are Views.
template <BackwardOperation operation, class Exec, class Y, class DY, class DX>
void check_and_launch_backward(const Exec& exec, const Y& y, const DY& dy, const DX& dx,
                               const Options& options) {
  using T = typename DX::value_type;
  check_and_launch_backward<operation>(exec, input_array<T>(y), input_array<T>(dy),
                                       strided_array(dx), options);
}

}  // namespace KokkosSoftmax::Impl

#endif
