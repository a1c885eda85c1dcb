// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_CHOICES_HPP
#define KOKKOSSOFTMAX_TEST_CHOICES_HPP

/// \file
/// Launches any compiled schedule, regardless of the shapes for which the rule chooses it.

#include <dispatch/Compiled.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <support/Check.hpp>

namespace KokkosSoftmax::Test {

template <KokkosSoftmax::Impl::Operation operation>
inline constexpr Function function_of =
    operation == KokkosSoftmax::Impl::Operation::softmax       ? Function::softmax
    : operation == KokkosSoftmax::Impl::Operation::log_softmax ? Function::log_softmax
                                                               : Function::logsumexp;

/// Changes nothing, see check_choice().
struct SameProblem {
  template <class Problem>
  void operator()(Problem&) const {}
};

/// Launches a choice on LayoutRight tensors whose rows along the axis are `rows`, and checks the
/// output. Returns no result if the choice does not serve the problem. With `in_place` y is x.
/// change(problem) can add to the problem what is written beside y.
template <KokkosSoftmax::Impl::Operation operation, class V, int rank, class Exec,
          class Change = SameProblem>
std::optional<::testing::AssertionResult> check_choice(const Exec& exec, Case c,
                                                       const KokkosSoftmax::Impl::Choice& choice,
                                                       const RowsFor<typename V::X>& rows,
                                                       const Expected& expected,
                                                       bool in_place = false,
                                                       const Change& change = {}) {
  using L = Kokkos::LayoutRight;
  using KokkosSoftmax::Impl::strided_array;
  constexpr int y_rank = operation == KokkosSoftmax::Impl::Operation::logsumexp ? rank - 1 : rank;
  c.function = function_of<operation>;
  Field<typename V::X, Exec> x(place<L>(c.extents, c.x_offset));
  Field<typename V::Y, Exec> y(place<L>(c.y_extents(), c.y_offset));
  const auto x_array = strided_array(x.template view<L, rank, const typename V::X>());
  auto y_array = strided_array(y.template view<L, y_rank>());
  if constexpr (std::is_same_v<typename V::X, typename V::Y>)
    if (in_place) y_array = strided_array(x.template view<L, y_rank>());
  auto problem = KokkosSoftmax::Impl::make_row_problem(x_array, y_array, c.options.axis);
  change(problem);
  if (!KokkosSoftmax::Impl::serves<operation>(exec, problem, c.options, choice)) return {};
  x.assign(rows_to_tensor(rows.values, c.extents, c.options.axis));
  KokkosSoftmax::Impl::launch<operation>(exec, problem, c.options, choice);
  exec.fence();
  if constexpr (std::is_same_v<typename V::X, typename V::Y>)
    if (in_place) return check_output(c, rows, expected, x);
  return both(check_output(c, rows, expected, y), x.is_unchanged(), "x was written");
}

}  // namespace KokkosSoftmax::Test

#endif
