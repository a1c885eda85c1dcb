// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_STRIDEDPLAN_HPP
#define KOKKOSSOFTMAX_TEST_STRIDEDPLAN_HPP

/// \file
/// Which schedule the library takes for strided rows.

#include <KokkosSoftmax_Plan.hpp>
#include <Kokkos_Core.hpp>
#include <string>

namespace KokkosSoftmax::Test {

/// The description of the plan of softmax or logsumexp for `rows` rows of `columns` columns, along
/// axis 0 of dense matrices.
template <class C>
std::string plan_along_columns(std::size_t columns, std::size_t rows, Options options = {},
                               Function function = Function::softmax) {
  using Kokkos::view_alloc, Kokkos::WithoutInitializing;
  using Exec = typename C::exec;
  const Kokkos::View<typename C::x_value**, Kokkos::LayoutRight, Exec> x(
      view_alloc("x", WithoutInitializing), columns, rows);
  const Kokkos::View<typename C::y_value**, Kokkos::LayoutRight, Exec> y(
      view_alloc("y", WithoutInitializing), columns, rows);
  options.axis = 0;
  if (function == Function::logsumexp) {
    const Kokkos::View<typename C::value*, Exec> lse(view_alloc("lse", WithoutInitializing), rows);
    return plan_logsumexp(Exec{}, x, lse, options).describe();
  }
  return plan_softmax(Exec{}, x, y, options).describe();
}

}  // namespace KokkosSoftmax::Test

#endif
