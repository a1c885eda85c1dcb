// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_RANDOMCASES_PLANS_HPP
#define KOKKOSSOFTMAX_TEST_RANDOMCASES_PLANS_HPP

/// \file
/// Random cases by plans. Arrays of the cases become Views, whose ranks are constants.

#include <KokkosSoftmax.hpp>
#include <random_cases/GivenAxes.hpp>
#include <reference/Backward.hpp>
#include <reference/Reference.hpp>
#include <support/Field.hpp>
#include <tuple>
#include <type_traits>

namespace KokkosSoftmax::Test {

/// The largest rank of x in plans of random cases. Each combination of ranks takes time to compile.
inline constexpr int max_plan_rank = 4;

/// Calls body(rank) with a rank from `least` to `most` as a constant.
template <int least, int most, class Body>
void with_rank(int rank, const Body& body) {
  if constexpr (least <= most) {
    if (rank == least)
      body(std::integral_constant<int, least>{});
    else
      with_rank<least + 1, most>(rank, body);
  }
}

/// An array as a View. Axes of extent 1 are put before its own axes up to the rank of the View,
/// which means the same for an operand that is broadcast.
template <int rank, class Exec, class T>
auto view_of(const StridedArray<T>& array) {
  using Device = Kokkos::Device<Exec, typename Exec::memory_space>;
  using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  if constexpr (rank == 0) {  // Kokkos 4.7 can't make a LayoutStride of rank 0
    return Kokkos::View<T, Device, Unmanaged>(array.data);
  } else {
    Kokkos::LayoutStride layout;
    const int missing = rank - array.rank;
    for (int d = 0; d < rank; ++d) {
      const int axis = d - missing;
      layout.dimension[d] = axis < 0 ? 1 : static_cast<std::size_t>(array.extents[axis]);
      layout.stride[d] = axis < 0 ? 1 : static_cast<std::size_t>(array.strides[axis]);
    }
    return Kokkos::View<typename Impl::DataType<T, rank>::type, Kokkos::LayoutStride, Device,
                        Unmanaged>(array.data, layout);
  }
}

template <Function function, class... Arguments>
auto plan_of(const Arguments&... arguments) {
  if constexpr (function == Function::softmax)
    return plan_softmax(arguments...);
  else if constexpr (function == Function::log_softmax)
    return plan_log_softmax(arguments...);
  else
    return plan_logsumexp(arguments...);
}

template <BackwardFunction function, class... Arguments>
auto plan_of(const Arguments&... arguments) {
  if constexpr (function == BackwardFunction::softmax_backward)
    return plan_softmax_backward(arguments...);
  else
    return plan_log_softmax_backward(arguments...);
}

/// Executes a plan with the arguments that it was made with, and then with others of the same
/// shape.
template <class Plan, class Arguments>
void execute_with_each(const Plan& plan, const Arguments& made_with, const Arguments& others) {
  const auto execute = [&](const auto&... arguments) { plan.execute(arguments...); };
  std::apply(execute, made_with);
  std::apply(execute, others);
}

}  // namespace KokkosSoftmax::Test

#endif
