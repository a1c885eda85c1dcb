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
#include <schedules/PackedGradient.hpp>
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

/// Launches a kernel as a light one: its arguments, which are large, would be waited for otherwise,
/// see TeamLimits.hpp.
template <class Policy, class Kernel>
void launch_gradient_kernel(const std::string& label, const Policy& policy, const Kernel& kernel) {
  Kokkos::parallel_for(label,
                       Kokkos::Experimental::require(
                           policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       kernel);
}
/// The same over the range of a kernel.
template <class Kernel, class Exec>
void launch_gradient_range(const Exec& exec, const std::string& label, const Kernel& kernel) {
  using Policy =
      Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>, typename Kernel::Bounds>;
  launch_gradient_kernel(label, Policy(exec, 0, kernel.iterations()), kernel);
}

/// Computes rows along one outer axis. Short rows that are stored back to back are computed in
/// scratch memory. Others are computed in parts or, if they are too short for that, several per
/// lane. Returns whether it did. Operands would take too many registers.
template <class Source, int width, class Exec, class Context>
bool launch_gradient_of_one_axis(const Exec& exec, const std::string& label,
                                 const Context& context) {
  if constexpr (knows_rows<Source>) {
    return false;
  } else {
    using Packed = PackedGradientKernel<Exec, Source>;
    using Parts = GradientPartsKernel<Source, width>;
    const auto& arguments = context.arguments;
    if (has_chunks(context, AccessMode::dense_rows, width) && Packed::serves(arguments)) {
      const Packed kernel(arguments);
      launch_gradient_kernel(label, kernel.policy(exec), kernel);
      return true;
    }
    if (Parts::serves(arguments)) {
      launch_gradient_range(exec, label, Parts(arguments));
      return true;
    }
    if constexpr (sizeof(typename Source::Types::X) < 8) {
      using ShortRows = GradientShortRowsKernel<Source, width>;
      const bool in_halves = !has_chunks(context, AccessMode::guarded_vectors, width);
      if (in_halves && !has_chunks(context, AccessMode::guarded_vectors, width / 2)) return false;
      if (!ShortRows::serves(arguments)) return false;
      launch_gradient_range(exec, label, ShortRows(arguments, in_halves));
      return true;
    }
    return false;
  }
}

/// Computes rows with any strides, entry by entry. The kernel is that of problems with operands, so
/// that there is one less per type.
template <class Exec, class T>
void launch_gradient_of_entries(const Exec& exec, const std::string& label,
                                const GradientProblem<T>& problem, const Options& options) {
  using Kernel = GradientRowsKernel<GeneralSource<ValueTypes<T>>, 1>;
  launch_gradient_range(exec, label, Kernel(typename Kernel::Arguments(problem, options)));
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
        launch_gradient_range(exec, label, GradientColumnsKernel<Source, width>(arguments));
      else
        launch_gradient_range(exec, label, GradientColumnsKernel<Source, 1>(arguments));
    } else if (launch_gradient_of_one_axis<Source, width>(exec, label, context)) {
      return;
    } else if (has_chunks(context, AccessMode::dense_rows, width) ||
               has_chunks(context, AccessMode::guarded_vectors, width)) {
      launch_gradient_range(exec, label, GradientRowsKernel<Source, width>(arguments));
    } else {
      launch_gradient_of_entries(exec, label, problem, any_access);
    }
  }
}

/// Enqueues a gradient. Most problems without bias and masks have kernels of their own.
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
