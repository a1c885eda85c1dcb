// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_HOSTLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_HOSTLAUNCH_HPP

#include <host/Isa.hpp>
#include <launch/Labels.hpp>
#include <launch/LaunchContext.hpp>
#include <schedules/HostBackward.hpp>
#include <schedules/HostColumns.hpp>
#include <schedules/HostGradient.hpp>
#include <schedules/HostLoss.hpp>
#include <schedules/HostRows.hpp>
#include <schedules/HostValuePanels.hpp>
#include <schedules/HostVectors.hpp>
#include <schedules/HostWeightedPanels.hpp>

namespace KokkosSoftmax::Impl {

/// Launches the host schedules.
template <class Exec, class Op, class Source>
struct HostLaunch {
  using V = typename Source::Types;

  using Context = LaunchContext<Exec, V, ArgumentsOf<Source>>;

  static bool fits_device(const Context&) { return true; }
  static void prepare(const Context&) {}

  static void launch(const Context& context) {
    check_host_isa();
    const std::string& label = kernel_label<Op>(Algorithm::host, context.problem().function);
    if constexpr (is_loss<Op>)
      host_loss<Exec, V>(context.exec, label, context.arguments, context.options.reproducible);
    else if constexpr (has_two_inputs<Source>)
      host_backward(context.exec, label, context.arguments, context.options.reproducible);
    else if constexpr (has_weights<Source>)
      host_weighted<Exec, V>(context.exec, label, context.arguments, context.options.reproducible);
    else
      launch_of_one_input(context, label);
  }

 private:
  static void launch_of_one_input(const Context& context, const std::string& label) {
    if constexpr (HostKernelsOf<Op>::exist && std::is_same_v<Source, PlainSource<V>>)
      if (host_vectors<Exec, Op>(context.exec, label, context.arguments,
                                 context.options.reproducible))
        return;
    if constexpr (knows_rows<Source> && HostKernelsOf<Op>::exist && OpOnComputed<Op>::exists)
      if (context.problem().columns > 0) return launch_of_values(context, label);
    if (context.x_contiguous())
      host_rows<Exec, Op, Source>(context.exec, label, context.arguments,
                                  context.options.reproducible);
    else
      host_columns<Exec, Op, Source>(context.exec, label, context.arguments);
  }

  static void launch_of_values(const Context& context, const std::string& label) {
    using Panels = HostValuePanels<Op, Source>;
    if (!context.options.reproducible &&
        HostPanelBuffer<typename V::Compute>::serves(context.problem()))
      host_panels<Exec, Panels>(context.exec, label, context.arguments);
    else
      host_values<Exec, HostValueRows<Op, Source>>(context.exec, label, context.arguments);
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
