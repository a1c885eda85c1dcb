// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_HOSTKERNEL_HPP
#define KOKKOSSOFTMAX_TEST_HOSTKERNEL_HPP

/// \file
/// Runs a kernel on the host that the library compiles only for GPUs. Its teams have one thread.

#include <impl/KokkosSoftmax_Arguments.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

/// Runs make_kernel(problem) with one team per row of `rows`, and checks the output.
template <class V, class MakeKernel>
::testing::AssertionResult check_on_host(Case c, const RowsFor<typename V::X>& rows,
                                         std::size_t scratch_bytes, const MakeKernel& make_kernel) {
  using Exec = Kokkos::DefaultHostExecutionSpace;
  using L = Kokkos::LayoutRight;
  using KokkosSoftmax::Impl::strided_array;
  c.extents = {rows.count, rows.columns};
  const Exec exec;
  Field<typename V::X, Exec> x(place<L>(c.extents, c.x_offset));
  Field<typename V::Y, Exec> y(place<L>(c.y_extents(), c.y_offset));
  x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
  const auto kernel = make_kernel(KokkosSoftmax::Impl::make_row_problem(
      strided_array(x.template view<L, 2, const typename V::X>()),
      c.function == Function::logsumexp ? strided_array(y.template view<L, 1>())
                                        : strided_array(y.template view<L, 2>()),
      c.options.axis));
  Kokkos::TeamPolicy<Exec> policy(exec, static_cast<int>(rows.count), 1, 1);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes));
  Kokkos::parallel_for("host kernel", policy, kernel);
  exec.fence();
  return check_output(c, rows, reference(rows, c.options.scale), y);
}

}  // namespace KokkosSoftmax::Test

#endif
