// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/// \file
/// The log-sum-exps along both axes of the C interface.

#include <c_interface/Instances.hpp>
#include <c_interface/Options.hpp>
#include <c_interface/Status.hpp>
#include <c_interface/Tensors.hpp>
#include <impl/KokkosSoftmax_BothAxesArguments.hpp>
#include <initializer_list>

namespace KokkosSoftmax::Impl {
namespace {

constexpr FixedOptions why_fixed_of_both_axes = {
    .axes = "the function reduces each of the two axes",
    .algorithm = "the extents of x and the device say how it is read",
    .reproducible =
        "the bits of a row depend on the other rows; the same call has the same bits each time "
        "without this option"};

void check_is_matrix(const Callee& callee, const kokkossoftmax_tensor& x) {
  if (x.rank != 2)
    throw_invalid(callee, "x has rank ", x.rank, " (rows and columns are those of a matrix): ",
                  "merge axes to get rank 2, or make a call per matrix");
}

void both_axes(int space, void* stream, const kokkossoftmax_tensor* x,
               const kokkossoftmax_tensor* row_lse, const kokkossoftmax_tensor* column_lse,
               const kokkossoftmax_options* options) {
  constexpr Callee callee = both_axes_callee;
  const std::initializer_list<NamedTensor> tensors = {{"x", x, Role::input}};
  check_tensors(callee, tensors);
  check_is_matrix(callee, *x);
  const double scale = cpp_options(callee, options, why_fixed_of_both_axes).scale;
  with_same_type(SupportedTypes{}, callee, tensors, [&]<class Type>(Type) {
    using X = typename Type::type;
    using T = typename BothAxesProblem<X>::T;
    const auto of_rows = given_row_numbers<T>(callee, "row_lse", row_lse);
    const auto of_columns = given_row_numbers<T>(callee, "column_lse", column_lse);
    with_instance("kokkossoftmax_logsumexp_both_axes", space, stream, [&](const auto& exec) {
      check_and_launch_both_axes(exec, typed_array<const X>(*x), of_rows, of_columns, scale);
    });
  });
}

}  // namespace
}  // namespace KokkosSoftmax::Impl

namespace Impl = KokkosSoftmax::Impl;

extern "C" {

int kokkossoftmax_logsumexp_both_axes(int space, void* stream, const kokkossoftmax_tensor* x,
                                      const kokkossoftmax_tensor* row_lse,
                                      const kokkossoftmax_tensor* column_lse,
                                      const kokkossoftmax_options* options) {
  return Impl::guarded([&] { Impl::both_axes(space, stream, x, row_lse, column_lse, options); });
}

}  // extern "C"
