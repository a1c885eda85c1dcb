// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_ONELANE_HPP
#define KOKKOSSOFTMAX_TEST_ONELANE_HPP

/// \file
/// The kernels of ragged rows for GPUs, run on hosts with teams of one lane.

#include <launch/RaggedTeamsLaunch.hpp>
#include <type_traits>

namespace KokkosSoftmax::Test {

using KokkosSoftmax::Impl::RaggedOperation;
using KokkosSoftmax::Impl::RaggedProblem;

/// Short rows have up to 32 entries, those of a team up to 128.
template <class Op>
using OneLane = KokkosSoftmax::Impl::RaggedShape<Op, 1, 1, 32, 1, 1, 128, 1>;

template <class Op, class Exec>
void launch_on_one_lane(const Exec& exec, RaggedOperation operation,
                        const typename Op::Arguments& arguments) {
  KokkosSoftmax::Impl::RaggedTeamsLaunch<Exec, Op, OneLane<Op>>(exec, operation, arguments)
      .launch();
}

/// Enqueues the problem, as Impl::launch_ragged() does. Requires a row.
template <class Exec, class T>
void launch_on_one_lane(const Exec& exec, RaggedOperation operation,
                        const RaggedProblem<T, T>& problem, double scale,
                        EmptyRows empty_rows = EmptyRows::nan) {
  using namespace KokkosSoftmax::Impl;
  using V = ValueTypes<T, T>;
  const auto of_values = [&]<class Op>(std::type_identity<Op>) {
    launch_on_one_lane<Op>(exec, operation, Op::Arguments::of_values(problem, scale, empty_rows));
  };
  const auto of_pairs = [&](bool is_log) {
    using Op = RaggedBackward<V>;
    launch_on_one_lane<Op>(exec, operation, Op::Arguments::of_pairs(problem, scale, is_log));
  };
  switch (operation) {
    case RaggedOperation::softmax:
      return of_values(std::type_identity<RaggedSoftmax<V, 0>>());
    case RaggedOperation::log_softmax:
      return of_values(std::type_identity<RaggedSoftmax<V, 1>>());
    case RaggedOperation::logsumexp:
      return of_values(std::type_identity<RaggedLogSumExp<V>>());
    case RaggedOperation::softmax_backward:
      return of_pairs(false);
    case RaggedOperation::log_softmax_backward:
      return of_pairs(true);
    case RaggedOperation::logsumexp_backward:
      return of_values(std::type_identity<RaggedGradient<V>>());
  }
}

}  // namespace KokkosSoftmax::Test

#endif
