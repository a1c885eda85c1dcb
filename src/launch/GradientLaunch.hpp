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
#include <schedules/HostGradient.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// Whether chunks of `width` entries lie side by side in x and in dx, and are aligned.
template <class Context>
bool has_chunks(const Context& context, int width) {
  const auto serves = [&](AccessMode access) {
    Schedule schedule;
    schedule.access = access;
    schedule.width = width;
    return context.access_serves(schedule);
  };
  return serves(AccessMode::dense_rows) || serves(AccessMode::guarded_vectors) ||
         serves(AccessMode::vectors_across_rows);
}

template <class Source, int width, class Exec, class Problem>
void launch_gradient_kernel(const Exec& exec, const std::string& label, const Problem& problem,
                            const Options& options, bool columns_are_fastest) {
  using Kernel = GradientKernel<Source, width>;
  const std::int64_t chunks = divide_up(problem.rows * problem.columns, width);
  const std::int64_t iterations = divide_up(chunks, Kernel::items);
  const Kernel kernel{{problem, options}, columns_are_fastest, iterations};
  using Policy = Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>;
  const Policy policy(exec, 0, iterations);
  // large arguments are waited for otherwise, see TeamLimits.hpp
  Kokkos::parallel_for(label,
                       Kokkos::Experimental::require(
                           policy, Kokkos::Experimental::WorkItemProperty::HintLightWeight),
                       kernel);
}

template <template <class> class SourceOf, class Exec, class T>
void launch_gradient_of(const Exec& exec, const std::string& label,
                        const GradientProblem<T>& problem, const Options& options) {
  using V = ValueTypes<T>;
  using Source = SourceOf<V>;
  if constexpr (is_host_space<Exec>) {
    host_gradient<Source>(exec, label, GradientArgs<ArgumentsOf<Source>>(problem, options));
  } else {
    Options any_access = options;
    any_access.reproducible = false;  // entries don't depend on the way in which they are read
    const LaunchContext<Exec, V, GradientArgs<ArgumentsOf<Source>>> context(exec, problem,
                                                                            any_access);
    const bool columns_are_fastest = !context.rows_are_neighbours();
    constexpr int width = widest<T>;
    if (has_chunks(context, width))
      launch_gradient_kernel<Source, width>(exec, label, problem, options, columns_are_fastest);
    else
      launch_gradient_kernel<Source, 1>(exec, label, problem, options, columns_are_fastest);
  }
}

/// Enqueues a gradient. Problems without bias and masks have kernels of their own.
template <class Exec, class T>
void launch_gradient(const Exec& exec, const std::string& label, const GradientProblem<T>& problem,
                     const Options& options) {
  const RowInputs& inputs = problem.inputs;
  const bool has_inputs = inputs.bias.data != nullptr || inputs.mask.data != nullptr ||
                          inputs.lengths.data != nullptr ||
                          inputs.causal_limit != RowInputs::no_limit;
  if (has_inputs)
    launch_gradient_of<GeneralSource>(exec, label, problem, options);
  else
    launch_gradient_of<PlainSource>(exec, label, problem, options);
}

}  // namespace KokkosSoftmax::Impl

#endif
