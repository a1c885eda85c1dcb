// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_RAGGEDARGUMENTS_HPP
#define KOKKOSSOFTMAX_IMPL_RAGGEDARGUMENTS_HPP

/// \file
/// The checks of the arguments of functions for ragged rows.

#include <cstdint>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <impl/KokkosSoftmax_RaggedProblem.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

template <class V>
inline constexpr bool is_offset =
    std::is_same_v<V, std::int32_t> || std::is_same_v<V, std::int64_t>;

/// The type of the numbers of rows, if there are kernels for entries of type X.
template <class X>
struct RaggedNumber {
  using type = float;
};
template <>
struct RaggedNumber<double> {
  using type = double;
};

/// Checks the types at compile time. Each message names the function and the argument.
#define KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, name, V)                     \
  static_assert(Kokkos::is_view_v<V>,                                                      \
                "KokkosSoftmax::" function ": " name " must be a Kokkos::View");           \
  static_assert(V::rank() == 1, "KokkosSoftmax::" function ": " name " must have rank 1"); \
  static_assert(KokkosSoftmax::Impl::is_accessible_from<Exec, V>,                          \
                "KokkosSoftmax::" function ": the memory of " name " is not accessible from exec")
#define KOKKOSSOFTMAX_IMPL_CHECK_OFFSETS(function, Exec, Offsets)                               \
  static_assert(Kokkos::is_execution_space_v<Exec>,                                             \
                "KokkosSoftmax::" function ": exec must be an instance of an execution space"); \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "offsets", Offsets);                    \
  static_assert(KokkosSoftmax::Impl::is_offset<typename Offsets::non_const_value_type>,         \
                "KokkosSoftmax::" function                                                      \
                ": the value type of offsets must be std::int32_t or std::int64_t")
#define KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS(function, Exec, X, Offsets, Y)                           \
  KOKKOSSOFTMAX_IMPL_CHECK_OFFSETS(function, Exec, Offsets);                                       \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "x", X);                                   \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "y", Y);                                   \
  static_assert(                                                                                   \
      KokkosSoftmax::Impl::have_kernels<typename X::non_const_value_type, typename Y::value_type>, \
      "KokkosSoftmax::" function                                                                   \
      ": the value types of x and y must be float and float, double and double, half_t and "       \
      "half_t, half_t and float, bhalf_t and bhalf_t, or bhalf_t and float, that of y without "    \
      "const, and the library must be built for them (KokkosSoftmax_VALUE_TYPES "                  \
      "was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")")
#define KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_NUMBERS(function, Exec, X, Offsets, name, V, Value)    \
  KOKKOSSOFTMAX_IMPL_CHECK_OFFSETS(function, Exec, Offsets);                                    \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "x", X);                                \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, name, V);                               \
  static_assert(KokkosSoftmax::Impl::have_kernels<typename X::non_const_value_type,             \
                                                  typename X::non_const_value_type>,            \
                "KokkosSoftmax::" function                                                      \
                ": the value type of x must be float, double, half_t or bhalf_t, and the "      \
                "library must be built for it (KokkosSoftmax_VALUE_TYPES "                      \
                "was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");                                     \
  static_assert(std::is_same_v<typename V::Value, typename KokkosSoftmax::Impl::RaggedNumber<   \
                                                      typename X::non_const_value_type>::type>, \
                "KokkosSoftmax::" function ": the value type of " name                          \
                " must be double if that of x is double, otherwise float (without const if "    \
                "it is written)")
#define KOKKOSSOFTMAX_IMPL_CHECK_SEGMENTS_BACKWARD(function, Exec, Y, y_name, DY, Offsets, DX)  \
  KOKKOSSOFTMAX_IMPL_CHECK_OFFSETS(function, Exec, Offsets);                                    \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, y_name, Y);                             \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "dy", DY);                              \
  KOKKOSSOFTMAX_IMPL_CHECK_SEGMENT_VIEW(function, Exec, "dx", DX);                              \
  static_assert(KokkosSoftmax::Impl::have_kernels<typename Y::non_const_value_type,             \
                                                  typename Y::non_const_value_type>,            \
                "KokkosSoftmax::" function ": the value type of " y_name                        \
                " must be float, double, half_t or bhalf_t, and the library must be built for " \
                "it (KokkosSoftmax_VALUE_TYPES was " KOKKOSSOFTMAX_IMPL_VALUE_TYPES ")");       \
  static_assert(                                                                                \
      std::is_same_v<typename DY::non_const_value_type, typename Y::non_const_value_type> &&    \
          std::is_same_v<typename DX::value_type, typename Y::non_const_value_type>,            \
      "KokkosSoftmax::" function ": the value types of dy and dx must be that of " y_name       \
      ", that of dx without const")

/// A View that is read.
template <class V>
auto ragged_input(const V& view) {
  return input_array<typename V::non_const_value_type>(view);
}

/// An argument of rank 1: a contiguous vector. Its elements are bytes, so that one set of checks
/// serves all types.
struct RaggedVector {
  const char* name;
  const void* data;
  std::int64_t extent;
  std::int64_t bytes;
};

template <class T>
RaggedVector ragged_vector(const Callee& callee, const char* name, const StridedArray<T>& array) {
  if (array.rank != 1)
    throw_invalid(callee, "the rank of ", name, " is ", array.rank,
                  " (all rows lie in one vector, one after the other): give an array of rank 1");
  check_size(callee, name, array);
  const std::int64_t extent = array.extents[0];
  if (extent > 1 && array.strides[0] != 1)
    throw_invalid(callee, "the stride of ", name, " is ", array.strides[0],
                  " (its elements must be contiguous): give a contiguous copy");
  return {name, array.data, extent, extent * static_cast<std::int64_t>(sizeof(T))};
}

inline void check_same_extent(const Callee& callee, const RaggedVector& a, const RaggedVector& b) {
  if (a.extent != b.extent)
    throw_invalid(callee, "the extent ", b.extent, " of ", b.name, " isn't that of ", a.name, ", ",
                  a.extent, ": give ", b.name, " the extent of ", a.name);
}

/// Checks that a vector that is written shares no byte with another one. `may_be_same`: except if
/// they are the same.
inline void check_apart(const Callee& callee, const RaggedVector& other,
                        const RaggedVector& written, bool may_be_same) {
  const auto begin = reinterpret_cast<std::uintptr_t>(other.data);
  const auto written_begin = reinterpret_cast<std::uintptr_t>(written.data);
  const bool are_apart = begin + static_cast<std::uintptr_t>(other.bytes) <= written_begin ||
                         written_begin + static_cast<std::uintptr_t>(written.bytes) <= begin;
  const bool are_same = begin == written_begin && other.bytes == written.bytes;
  if (are_apart || other.bytes == 0 || written.bytes == 0 || (may_be_same && are_same)) return;
  throw_invalid(callee, other.name, " at ", other.data, " and ", written.name, " at ", written.data,
                " overlap (", written.name, " is written): give ", written.name,
                " memory of its own");
}

/// The arguments that all functions have.
template <class X, class Y, class Offset>
RaggedProblem<X, Y> ragged_problem(const Callee& callee, const RaggedVector& x,
                                   const StridedArray<Offset>& offsets, double scale) {
  check_scale<ValueTypes<X, Y>>(callee, scale);
  const RaggedVector of_rows = ragged_vector(callee, "offsets", offsets);
  if (of_rows.extent == 0)
    throw_invalid(callee,
                  "offsets has no elements (it has one per row and one more): give one offset for "
                  "no rows");
  RaggedProblem<X, Y> problem;
  problem.rows = of_rows.extent - 1;
  problem.entries = x.extent;
  problem.offset = {offsets.data, sizeof(Offset) == 8};
  problem.x = static_cast<const X*>(x.data);
  return problem;
}

inline void check_row_numbers(const Callee& callee, std::int64_t rows,
                              const RaggedVector& numbers) {
  if (numbers.extent != rows)
    throw_invalid(callee, "the extent ", numbers.extent, " of ", numbers.name,
                  " isn't the number of rows, ", rows, " (offsets has one element more): give ",
                  numbers.name, " one element per row");
}

/// The callee of an operation, for messages.
constexpr Callee ragged_callee(RaggedOperation operation) {
  return Callee(to_string(operation), operation == RaggedOperation::logsumexp);
}

/// Checks the values of the arguments and enqueues the operation. If it throws, nothing is written.
template <class Exec, class X, class Offset, class Y>
void check_and_launch_ragged(const Exec& exec, RaggedOperation operation,
                             const StridedArray<const X>& x, const StridedArray<Offset>& offsets,
                             const StridedArray<Y>& y, double scale, EmptyRows empty_rows) {
  const Callee callee = ragged_callee(operation);
  const RaggedVector of_x = ragged_vector(callee, "x", x), of_y = ragged_vector(callee, "y", y);
  auto problem = ragged_problem<X, Y>(callee, of_x, offsets, scale);
  check_same_extent(callee, of_x, of_y);
  check_apart(callee, of_x, of_y, std::is_same_v<X, Y>);
  check_apart(callee, ragged_vector(callee, "offsets", offsets), of_y, false);
  problem.y = y.data;
  if (problem.rows > 0) launch_ragged(exec, operation, problem, scale, empty_rows);
}

/// The same for segment_logsumexp.
template <class Exec, class X, class Offset, class T>
void check_and_launch_ragged_numbers(const Exec& exec, const StridedArray<const X>& x,
                                     const StridedArray<Offset>& offsets,
                                     const StridedArray<T>& lse, double scale) {
  constexpr auto operation = RaggedOperation::logsumexp;
  const Callee callee = ragged_callee(operation);
  const RaggedVector of_x = ragged_vector(callee, "x", x);
  const RaggedVector of_lse = ragged_vector(callee, "lse", lse);
  auto problem = ragged_problem<X, X>(callee, of_x, offsets, scale);
  check_row_numbers(callee, problem.rows, of_lse);
  check_apart(callee, of_x, of_lse, false);
  check_apart(callee, ragged_vector(callee, "offsets", offsets), of_lse, false);
  problem.of_rows = lse.data;
  if (problem.rows > 0) launch_ragged(exec, operation, problem, scale, EmptyRows::nan);
}

/// The same for the backward passes of segment_softmax and segment_log_softmax. `y_name` is the
/// name of the first argument.
template <class Exec, class X, class DY, class Offset, class DX>
void check_and_launch_ragged_backward(const Exec& exec, RaggedOperation operation,
                                      const char* y_name, const StridedArray<const X>& y,
                                      const StridedArray<const DY>& dy,
                                      const StridedArray<Offset>& offsets,
                                      const StridedArray<DX>& dx, double scale) {
  const Callee callee = ragged_callee(operation);
  const RaggedVector of_y = ragged_vector(callee, y_name, y);
  const RaggedVector of_dy = ragged_vector(callee, "dy", dy);
  const RaggedVector of_dx = ragged_vector(callee, "dx", dx);
  auto problem = ragged_problem<X, X>(callee, of_y, offsets, scale);
  check_same_extent(callee, of_y, of_dy);
  check_same_extent(callee, of_y, of_dx);
  check_apart(callee, of_y, of_dx, true);
  check_apart(callee, of_dy, of_dx, true);
  check_apart(callee, ragged_vector(callee, "offsets", offsets), of_dx, false);
  problem.second = dy.data;
  problem.y = dx.data;
  if (problem.rows > 0) launch_ragged(exec, operation, problem, scale, EmptyRows::nan);
}

/// The same for segment_logsumexp_backward.
template <class Exec, class X, class T, class DT, class Offset, class DX>
void check_and_launch_ragged_gradient(const Exec& exec, const StridedArray<const X>& x,
                                      const StridedArray<const T>& lse,
                                      const StridedArray<const DT>& dlse,
                                      const StridedArray<Offset>& offsets,
                                      const StridedArray<DX>& dx, double scale) {
  constexpr auto operation = RaggedOperation::logsumexp_backward;
  const Callee callee = ragged_callee(operation);
  const RaggedVector of_x = ragged_vector(callee, "x", x);
  const RaggedVector of_lse = ragged_vector(callee, "lse", lse);
  const RaggedVector of_dlse = ragged_vector(callee, "dlse", dlse);
  const RaggedVector of_dx = ragged_vector(callee, "dx", dx);
  auto problem = ragged_problem<X, X>(callee, of_x, offsets, scale);
  check_row_numbers(callee, problem.rows, of_lse);
  check_row_numbers(callee, problem.rows, of_dlse);
  check_same_extent(callee, of_x, of_dx);
  check_apart(callee, of_x, of_dx, true);
  check_apart(callee, of_lse, of_dx, false);
  check_apart(callee, of_dlse, of_dx, false);
  check_apart(callee, ragged_vector(callee, "offsets", offsets), of_dx, false);
  problem.lse = lse.data;
  problem.derivative = dlse.data;
  problem.y = dx.data;
  if (problem.rows > 0) launch_ragged(exec, operation, problem, scale, EmptyRows::nan);
}

}  // namespace KokkosSoftmax::Impl

#endif
