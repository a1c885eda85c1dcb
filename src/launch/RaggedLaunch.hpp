// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDLAUNCH_HPP

/// \file
/// Launches operations on ragged rows.

#include <backend/Device.hpp>
#include <backend/FirstLaunch.hpp>
#include <launch/RaggedTeamsLaunch.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The shapes on GPUs. Vectors of 32 lanes need shuffles, which the library has for CUDA and HIP.
template <class Exec, class Op>
struct RaggedShapeOf {
  static constexpr int bytes = sizeof(typename Op::T) * Op::inputs;
  static constexpr bool has_vectors = is_cuda<Exec> || is_hip<Exec>;
  static constexpr int halves = sizeof(typename Op::Types::X) == 2 ? 2 : 1;
  /// So many teams of vectors that a lane has 72 registers, or 96 for pairs of doubles and 128 for
  /// exponentials of doubles.
  static constexpr int teams = sizeof(typename Op::T) < 8 ? 7 : Op::inputs == 2 ? 5 : 4;
  using type = std::conditional_t<
      has_vectors, RaggedShape<Op, 32, 4, 128 / bytes, teams, 8, 8 / (Op::inputs * halves), 4>,
      RaggedShape<Op, 1, 1, 32, 1, 1, 256, 1>>;
};

/// Launches the kernels of an operation on a host. Units of host spaces include
/// launch/RaggedHostLaunch.hpp, which defines it: see HostLaunch in KernelRegistry.hpp.
template <class Op, class Exec>
void launch_ragged_on_host(const Exec& exec, RaggedOperation operation,
                           const typename Op::Arguments& arguments);

template <class Op, class Exec>
void launch_ragged_op(const Exec& exec, RaggedOperation operation,
                      const typename Op::Arguments& arguments) {
  if constexpr (is_host_space<Exec>)
    launch_ragged_on_host<Op>(exec, operation, arguments);
  else
    RaggedTeamsLaunch<Exec, Op, typename RaggedShapeOf<Exec, Op>::type>(exec, operation, arguments)
        .launch();
}

template <class Exec, class X, class Y>
void launch_ragged(const Exec& exec, RaggedOperation operation, const RaggedProblem<X, Y>& problem,
                   double scale, EmptyRows empty_rows) {
  using V = ValueTypes<X, Y>;
  prepare_first_launch(exec);
  const auto of_values = [&]<class Op>(std::type_identity<Op>) {
    launch_ragged_op<Op>(exec, operation, Op::Arguments::of_values(problem, scale, empty_rows));
  };
  if (operation == RaggedOperation::softmax)
    return of_values(std::type_identity<RaggedSoftmax<V, 0>>());
  if (operation == RaggedOperation::log_softmax)
    return of_values(std::type_identity<RaggedSoftmax<V, 1>>());
  if constexpr (std::is_same_v<X, Y>) {
    using Backward = RaggedBackward<V>;
    if (operation == RaggedOperation::logsumexp)
      of_values(std::type_identity<RaggedLogSumExp<V>>());
    else if (operation == RaggedOperation::logsumexp_backward)
      of_values(std::type_identity<RaggedGradient<V>>());
    else
      launch_ragged_op<Backward>(
          exec, operation,
          Backward::Arguments::of_pairs(problem, scale,
                                        operation == RaggedOperation::log_softmax_backward));
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
