// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_GRADIENTLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_GRADIENTLAUNCH_HPP

/// \file
/// Launches the gradients of operations with one number per row.

#include <backend/Device.hpp>
#include <backend/DivideUp.hpp>
#include <launch/LaunchContext.hpp>
#include <row/GradientArgs.hpp>
#include <schedules/Gradient.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// Computes a gradient on a host. Units of host spaces include launch/HostLaunch.hpp, which defines
/// it: see HostLaunch in KernelRegistry.hpp.
template <class Source, class Exec>
void host_gradient(const Exec& exec, const std::string& label,
                   const GradientArgs<ArgumentsOf<Source>>& arguments);

/// Whether chunks of `width` entries are aligned in x and in dx with this access.
template <class Context>
bool has_chunks(const Context& context, AccessMode access, int width) {
  Schedule schedule;
  schedule.access = access;
  schedule.width = width;
  return context.access_serves(schedule);
}

template <class Kernel, class Exec>
void launch_gradient_kernel(const Exec& exec, const std::string& label, const Kernel& kernel) {
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, typename Kernel::Bounds>;
  const Policy policy(exec, 0, kernel.iterations());
  // large arguments are waited for otherwise, see TeamLimits.hpp
  Kokkos::parallel_for(label,
                       Kokkos::Experimental::require(
                           policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       kernel);
}

/// Computes rows in pieces or, if they are of double, in parts, if that takes less time. Returns
/// whether it did. Operands would take too many registers.
template <class Source, int width, class Exec, class Context>
bool launch_gradient_in_pieces(const Exec& exec, const std::string& label, const Context& context) {
  [[maybe_unused]] const auto& arguments = context.arguments;
  [[maybe_unused]] const bool has_whole_chunks =
      has_chunks(context, AccessMode::guarded_vectors, width);
  if constexpr (knows_rows<Source>) {
    return false;
  } else if constexpr (sizeof(typename Source::Types::Compute) == 8) {
    using Kernel = GradientPartsKernel<Source, width>;
    if (!has_whole_chunks || !Kernel::serves(arguments)) return false;
    launch_gradient_kernel(exec, label, Kernel(arguments));
    return true;
  } else {
    using Kernel = GradientPiecesKernel<Source, width>;
    const bool in_halves = !has_whole_chunks;
    if (in_halves && !has_chunks(context, AccessMode::guarded_vectors, width / 2)) return false;
    if (!Kernel::serves(arguments, in_halves)) return false;
    launch_gradient_kernel(exec, label, Kernel(arguments, in_halves));
    return true;
  }
}

template <template <class> class SourceOf, class Exec, class T>
void launch_gradient_of(const Exec& exec, const std::string& label,
                        const GradientProblem<T>& problem, const Options& options) {
  using V = ValueTypes<T>;
  using Source = SourceOf<V>;
  using Arguments = GradientArgs<ArgumentsOf<Source>>;
  if constexpr (is_host_space<Exec>) {
    host_gradient<Source>(exec, label, Arguments(problem, options));
  } else {
    constexpr int width = widest<T>;
    Options any_access = options;
    any_access.reproducible = false;  // entries don't depend on the way in which they are read
    const LaunchContext<Exec, V, Arguments> context(exec, problem, any_access);
    const Arguments& arguments = context.arguments;
    if (context.rows_are_neighbours()) {
      if (has_chunks(context, AccessMode::vectors_across_rows, width))
        launch_gradient_kernel(exec, label, GradientColumnsKernel<Source, width>(arguments));
      else
        launch_gradient_kernel(exec, label, GradientColumnsKernel<Source, 1>(arguments));
    } else if (launch_gradient_in_pieces<Source, width>(exec, label, context)) {
      return;
    } else if (has_chunks(context, AccessMode::dense_rows, width) ||
               has_chunks(context, AccessMode::guarded_vectors, width)) {
      launch_gradient_kernel(exec, label, GradientRowsKernel<Source, width>(arguments));
    } else {
      launch_gradient_kernel(exec, label, GradientRowsKernel<Source, 1>(arguments));
    }
  }
}

/// Enqueues a gradient. Problems without bias and masks have kernels of their own.
template <class Exec, class T>
void launch_gradient(const Exec& exec, const std::string& label, const GradientProblem<T>& problem,
                     const Options& options) {
  const RowInputs& inputs = problem.inputs;
  const bool has_inputs = inputs.bias.data != nullptr || inputs.mask.data != nullptr ||
                          inputs.lengths.data != nullptr || inputs.row_bias.data != nullptr ||
                          inputs.causal_limit != RowInputs::no_limit;
  if (has_inputs)
    launch_gradient_of<GeneralSource>(exec, label, problem, options);
  else
    launch_gradient_of<PlainSource>(exec, label, problem, options);
}

}  // namespace KokkosSoftmax::Impl

#endif
