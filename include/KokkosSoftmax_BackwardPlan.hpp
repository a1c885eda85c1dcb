// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_BACKWARDPLAN_HPP
#define KOKKOSSOFTMAX_BACKWARDPLAN_HPP

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_BackwardArguments.hpp>
#include <impl/KokkosSoftmax_PlanDescription.hpp>
#include <impl/KokkosSoftmax_ViewShape.hpp>

/// \file
/// Plans of the backward passes.

namespace KokkosSoftmax {

template <class Exec, class Y, class DY, class DX>
class BackwardPlan;

namespace Impl {

template <BackwardOperation operation, class Exec, class Y, class DY, class DX>
BackwardPlan<Exec, Y, DY, DX> make_backward_plan(const Exec& exec, const Y& y, const DY& dy,
                                                 const DX& dx, const Options& options);

}  // namespace Impl

/// \addtogroup plans
/// \{

/// A backward pass on Views of one shape: what Plan is for the functions. It is made by
/// plan_softmax_backward or plan_log_softmax_backward, and can be executed any number of times. The
/// result has the same bits as the result of the backward pass. A BackwardPlan holds a copy of the
/// execution space instance, and does not own or keep the memory of y, dy and dx.
///
/// \tparam Exec  an execution space
/// \tparam Y     the type of y, or of log_y for log_softmax_backward; a Kokkos::View
/// \tparam DY    the type of dy, a Kokkos::View
/// \tparam DX    the type of dx, a Kokkos::View
template <class Exec, class Y, class DY, class DX>
class BackwardPlan {
 public:
  /// Enqueues the backward pass on the execution space instance of the plan. It launches one kernel
  /// (or several for long strided rows, or for more rows than one launch can process) and does not
  /// fence. The memory per stream that it needs was allocated when the plan was made. The cases in
  /// which it allocates memory, such as the capture into a graph, are in docs/semantics.md.
  ///
  /// \param y   View with the same extents, strides and address modulo 16 bytes as the y, or the
  ///            log_y, for which the plan was made
  /// \param dy  the same for dy
  /// \param dx  the same for dx. dx can be y or dy itself, also if it was not when the plan was
  ///            made, and must not overlap them in any other way
  /// \throws std::invalid_argument  if a View differs from that of the plan (the message says in
  ///            what), or if dx overlaps y or dy without being the same. Nothing has been written
  ///            then
  void execute(const Y& y, const DY& dy, const DX& dx) const {
    m_y.check(m_operation, Impl::first_input_name(m_operation), y);
    m_dy.check(m_operation, "dy", dy);
    m_dx.check(m_operation, "dx", dx);
    if (!writes_something()) return;
    check_overlap(y, dy, dx);
    auto problem = m_problem;
    problem.x = y.data();
    problem.dy.data = dy.data();
    problem.y = dx.data();
    Impl::with_operation(m_operation, [&](auto operation) {
      Impl::launch<operation.value>(m_exec, problem, m_options, m_choice);
    });
  }

  /// Describes the plan in one line for human readers. The format can change between versions.
  ///
  /// \return the backward pass, the shape and the schedule
  std::string describe() const {
    std::string schedule;
    if (writes_something())
      schedule = Impl::with_operation(m_operation, [&](auto operation) {
        return Impl::describe<operation.value, Exec, Values>(m_choice);
      });
    return Impl::plan_description<Exec, Values>(m_operation, m_problem, schedule);
  }

 private:
  using T = typename DX::value_type;
  using Values = Impl::ValueTypes<T>;

  BackwardPlan(Impl::BackwardOperation operation, const Exec& exec, const Y& y, const DY& dy,
               const DX& dx, const Options& options)
      : m_operation(operation),
        m_exec(exec),
        m_options(options),
        m_problem(Impl::checked_backward_problem(operation, Impl::first_input_name(operation),
                                                 Impl::input_array<T>(y), Impl::input_array<T>(dy),
                                                 Impl::strided_array(dx), options)),
        m_y(y),
        m_dy(dy),
        m_dx(dx) {}

  bool writes_something() const { return Impl::writes_something(m_operation, m_problem); }

  void check_overlap(const Y& y, const DY& dy, const DX& dx) const {
    const char* y_name = Impl::first_input_name(m_operation);
    const auto y_array = Impl::input_array<T>(y);
    Impl::merged_backward_arrays(m_operation, y_name, y_array, Impl::input_array<T>(dy),
                                 Impl::strided_array(dx),
                                 Impl::checked_axes(m_operation, y_name, y_array, m_options));
  }

  template <Impl::BackwardOperation operation, class E, class V, class DV, class W>
  friend BackwardPlan<E, V, DV, W> Impl::make_backward_plan(const E&, const V&, const DV&, const W&,
                                                            const Options&);

  Impl::BackwardOperation m_operation;
  Exec m_exec;
  Options m_options;
  // holds the addresses of the Views that the plan was made with; execute() replaces them
  Impl::BackwardProblem<T> m_problem;
  Impl::ViewShape<Y> m_y;
  Impl::ViewShape<DY> m_dy;
  Impl::ViewShape<DX> m_dx;
  Impl::Choice m_choice = {};
};

template <Impl::BackwardOperation operation, class Exec, class Y, class DY, class DX>
BackwardPlan<Exec, Y, DY, DX> Impl::make_backward_plan(const Exec& exec, const Y& y, const DY& dy,
                                                       const DX& dx, const Options& options) {
  BackwardPlan<Exec, Y, DY, DX> plan(operation, exec, y, dy, dx, options);
  if (plan.writes_something()) plan.m_choice = choose<operation>(exec, plan.m_problem, options);
  return plan;
}

/// Makes a plan of softmax_backward(exec, y, dy, dx, options). The entries of y, dy and dx are
/// neither read nor written.
///
/// \param exec     execution space instance on which the kernels of the plan are enqueued
/// \param y        View as for softmax_backward: the View that the plan will be executed with, or
///                 another View of the same type, extents, strides and alignment
/// \param dy       View as for softmax_backward, with the same condition as y
/// \param dx       View as for softmax_backward, with the same condition as y
/// \param options  as for softmax_backward
/// \return the plan
/// \throws std::invalid_argument  as softmax_backward
template <class Exec, class Y, class DY, class DX>
requires(!Kokkos::is_view_v<Exec>) BackwardPlan<Exec, Y, DY, DX> plan_softmax_backward(
    const Exec& exec, const Y& y, const DY& dy, const DX& dx, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD("plan_softmax_backward", Exec, Y, "y", DY, DX);
  return Impl::make_backward_plan<Impl::BackwardOperation::softmax_backward>(exec, y, dy, dx,
                                                                             options);
}

/// Makes a plan for the default instance of the execution space of dx.
///
/// \param y        as for plan_softmax_backward with an instance
/// \param dy       as for plan_softmax_backward with an instance
/// \param dx       as for plan_softmax_backward with an instance
/// \param options  as for plan_softmax_backward with an instance
/// \return the plan
/// \throws std::invalid_argument  as softmax_backward
template <class Y, class DY, class DX>
auto plan_softmax_backward(const Y& y, const DY& dy, const DX& dx, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEWS("plan_softmax_backward", Y, "y", DY, DX);
  if constexpr (Impl::are_views<Y, DY, DX>)
    return plan_softmax_backward(typename DX::execution_space{}, y, dy, dx, options);
}

/// Makes a plan of log_softmax_backward(exec, log_y, dy, dx, options). The entries of log_y, dy and
/// dx are neither read nor written.
///
/// \param exec     execution space instance on which the kernels of the plan are enqueued
/// \param log_y    View as for log_softmax_backward: the View that the plan will be executed with,
///                 or another View of the same type, extents, strides and alignment
/// \param dy       View as for log_softmax_backward, with the same condition as log_y
/// \param dx       View as for log_softmax_backward, with the same condition as log_y
/// \param options  as for log_softmax_backward
/// \return the plan
/// \throws std::invalid_argument  as log_softmax_backward
template <class Exec, class LogY, class DY, class DX>
requires(!Kokkos::is_view_v<Exec>) BackwardPlan<Exec, LogY, DY, DX> plan_log_softmax_backward(
    const Exec& exec, const LogY& log_y, const DY& dy, const DX& dx, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD("plan_log_softmax_backward", Exec, LogY, "log_y", DY, DX);
  return Impl::make_backward_plan<Impl::BackwardOperation::log_softmax_backward>(exec, log_y, dy,
                                                                                 dx, options);
}

/// Makes a plan for the default instance of the execution space of dx.
///
/// \param log_y    as for plan_log_softmax_backward with an instance
/// \param dy       as for plan_log_softmax_backward with an instance
/// \param dx       as for plan_log_softmax_backward with an instance
/// \param options  as for plan_log_softmax_backward with an instance
/// \return the plan
/// \throws std::invalid_argument  as log_softmax_backward
template <class LogY, class DY, class DX>
auto plan_log_softmax_backward(const LogY& log_y, const DY& dy, const DX& dx,
                               const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_BACKWARD_VIEWS("plan_log_softmax_backward", LogY, "log_y", DY, DX);
  if constexpr (Impl::are_views<LogY, DY, DX>)
    return plan_log_softmax_backward(typename DX::execution_space{}, log_y, dy, dx, options);
}

/// \}

}  // namespace KokkosSoftmax

#endif
