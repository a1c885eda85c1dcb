// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_PLAN_HPP
#define KOKKOSSOFTMAX_PLAN_HPP

#include <KokkosSoftmax_Operands.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Arguments.hpp>
#include <impl/KokkosSoftmax_PlanDescription.hpp>
#include <impl/KokkosSoftmax_ViewShape.hpp>

/// \file
/// Plans: a function on Views of one shape that is checked once, whose schedule is chosen once, and
/// that is executed many times.

namespace KokkosSoftmax {

namespace Impl {

/// In the place of Operands if a call has none.
struct NoOperands {};

}  // namespace Impl

template <class Exec, class X, class Y, class Beside = Impl::NoOperands>
class Plan;

namespace Impl {

template <Operation operation, class Exec, class X, class Y, class Beside = NoOperands>
Plan<Exec, X, Y, Beside> make_plan(const Exec& exec, const X& x, const Y& y, const Options& options,
                                   const Beside& beside = {});

/// The shape of an operand.
template <class V>
struct OperandShape : ViewShape<V> {
  using ViewShape<V>::ViewShape;
};
template <>
struct OperandShape<NoOperand> {
  explicit OperandShape(NoOperand) {}
  void check(Operation, const char* /*name*/, NoOperand) const {}
};

/// The shape of the Views in Operands.
template <class Beside>
struct OperandsShape {
  explicit OperandsShape(const Beside&) {}
};
template <class Lse, class Max, class Bias, class Mask, class Lengths, class Position,
          class RowBias, class Weights, class Sign>
struct OperandsShape<Operands<Lse, Max, Bias, Mask, Lengths, Position, RowBias, Weights, Sign>> {
  using Given = Operands<Lse, Max, Bias, Mask, Lengths, Position, RowBias, Weights, Sign>;

  explicit OperandsShape(const Given& operands)
      : lse(operands.lse),
        max(operands.max),
        bias(operands.bias),
        mask(operands.mask),
        lengths(operands.lengths),
        causal(operands.causal),
        row_bias(operands.row_bias),
        weights(operands.weights),
        sign(operands.sign),
        scale_biases(operands.scale_biases) {}

  void check(Operation operation, const Given& operands) const {
    lse.check(operation, "lse", operands.lse);
    max.check(operation, "max", operands.max);
    bias.check(operation, "bias", operands.bias);
    mask.check(operation, "mask", operands.mask);
    lengths.check(operation, "lengths", operands.lengths);
    row_bias.check(operation, "row_bias", operands.row_bias);
    weights.check(operation, "weights", operands.weights);
    sign.check(operation, "sign", operands.sign);
    if (operands.scale_biases != scale_biases)
      throw_invalid(operation,
                    "scale_biases differs from that of the plan (the plan computes with ",
                    "it): make another plan");
    if constexpr (is_given<Position>)
      if (operands.causal.axis != causal.axis)
        throw_invalid(operation, "causal.axis differs from that of the plan (the offset alone may ",
                      "differ): make another plan for this axis");
  }

  OperandShape<Lse> lse;
  OperandShape<Max> max;
  OperandShape<Bias> bias;
  OperandShape<Mask> mask;
  OperandShape<Lengths> lengths;
  Position causal;
  OperandShape<RowBias> row_bias;
  OperandShape<Weights> weights;
  OperandShape<Sign> sign;
  bool scale_biases;
};

}  // namespace Impl

/// \defgroup plans Plans
/// Plans are for functions that are called many times on Views of one shape: the checks and the
/// choice of a schedule are done once, when the plan is made.
/// \code
///   const auto plan = KokkosSoftmax::plan_softmax(exec, x, y, {.axis = 0});
///   std::cout << plan.describe() << "\n";
///   for (int step = 0; step < steps; ++step) plan.execute(x, y);
/// \endcode
/// \{

/// A function on Views of one shape. Everything that depends on the shape alone (checks, choice of
/// a schedule) is done when the plan is made, by plan_softmax, plan_log_softmax or plan_logsumexp.
/// The plan can be executed any number of times. The result has the same bits as the result of the
/// function. A Plan holds a copy of the execution space instance, and does not own or keep the
/// memory of x and y.
///
/// \tparam Exec    an execution space
/// \tparam X       the type of x, a Kokkos::View
/// \tparam Y       the type of y, or of lse for logsumexp; a Kokkos::View
/// \tparam Beside  the type of the operands, if the plan was made with operands
template <class Exec, class X, class Y, class Beside>
class Plan {
  static constexpr bool has_operands = !std::is_same_v<Beside, Impl::NoOperands>;

 public:
  /// Enqueues the function on the execution space instance of the plan. It launches one kernel (or
  /// several for long strided rows, or for more rows than one launch can process) and does not
  /// fence. The memory per stream that it needs was allocated when the plan was made. The cases in
  /// which it allocates memory, such as the capture into a graph, are in docs/semantics.md.
  ///
  /// \param x  View with the same extents, strides and address modulo 16 bytes as the x for which
  ///           the plan was made
  /// \param y  the same for y, or for lse if the function is logsumexp. The rules on overlap of x
  ///           and y are those of the function
  /// \throws std::invalid_argument  if a View differs from that of the plan (the message says in
  ///           what), or if x and y overlap. Nothing has been written then
  void execute(const X& x, const Y& y) const requires(!has_operands) {
    execute_with(x, y, Impl::NoOperands{});
  }

  /// The same for a plan with operands.
  ///
  /// \param x         as for a plan without operands
  /// \param y         as for a plan without operands
  /// \param operands  Views with the same extents, strides and addresses modulo 16 bytes as the
  ///                  operands for which the plan was made. The rules on overlap are those of the
  ///                  function
  /// \throws std::invalid_argument  as for a plan without operands
  void execute(const X& x, const Y& y, const Beside& operands) const requires has_operands {
    execute_with(x, y, operands);
  }

  /// Describes the plan in one line for human readers. The format can change between versions.
  ///
  /// \return the function, the shape, the schedule, and whether the rule or a line of a tuning
  ///         table chose it (see docs/tuning.md)
  std::string describe() const {
    std::string text;
    with_operation([&](auto operation) { text = describe_as<operation.value>(); });
    return text;
  }

 private:
  static constexpr bool one_value_per_row = Y::rank() < X::rank();
  using Values = Impl::ValueTypes<typename X::non_const_value_type, typename Y::value_type>;

  Plan(Impl::Operation operation, const Exec& exec, const X& x, const Y& y, const Options& options,
       const Beside& beside)
      : m_operation(operation),
        m_exec(exec),
        m_options(options),
        m_problem(problem(operation, x, y, options, beside)),
        m_x(x),
        m_y(y),
        m_beside(beside) {}

  static auto problem(Impl::Operation operation, const X& x, const Y& y, const Options& options,
                      [[maybe_unused]] const Beside& beside) {
    if constexpr (has_operands)
      return Impl::checked_problem_with(operation, x, y_name(), y, options, beside);
    else
      return Impl::checked_problem(operation, Impl::strided_array(x), y_name(),
                                   Impl::strided_array(y), options);
  }

  void execute_with(const X& x, const Y& y, const Beside& beside) const {
    with_operation([&](auto operation) { execute_as<operation.value>(x, y, beside); });
  }

  /// Calls function with the operation as an integral constant. It is called only with operations
  /// whose output has the rank of Y.
  template <class Function>
  void with_operation(const Function& function) const {
    Impl::with_operation(m_operation, [&](auto operation) {
      if constexpr (Impl::one_value_per_row(operation.value) == one_value_per_row)
        function(operation);
    });
  }

  bool writes_something() const { return Impl::writes_something(m_operation, m_problem); }

  template <Impl::Operation operation>
  void execute_as(const X& x, const Y& y, [[maybe_unused]] const Beside& beside) const {
    m_x.check(operation, "x", x);
    m_y.check(operation, y_name(), y);
    auto problem = m_problem;
    problem.x = x.data();
    problem.y = y.data();
    if constexpr (has_operands) {
      m_beside.check(operation, beside);
      set_operands(operation, problem, x, y, beside);
      if (!writes_something() && problem.rows > 0)
        Impl::launch_beside_nothing(m_exec, Impl::arrays_beside<X, Y>(beside));
    }
    if (!writes_something()) return;
    Impl::check_overlap(operation, "x", y_name(), problem);
    Impl::launch<operation>(m_exec, problem, m_options, m_choice);
  }

  /// Sets the addresses of the operands, and checks that these don't overlap others.
  template <class Problem>
  void set_operands(Impl::Operation operation, Problem& problem, const X& x, const Y& y,
                    const Beside& beside) const {
    const auto x_array = Impl::strided_array(x);
    const auto axes = Impl::checked_axes(operation, "x", x_array, m_options);
    const auto merged_x = Impl::merged_array(operation, "x", x_array, axes);
    const auto merged_y = Impl::merged_output(operation, y_name(), Impl::strided_array(y), axes);
    const auto arrays = Impl::arrays_beside<X, Y>(beside);
    Impl::check_overlap_beside(operation, merged_x, merged_y, arrays, axes.merged_axis());
    if (arrays.lse) problem.lse = arrays.lse->data;
    if (arrays.max) problem.max = arrays.max->data;
    if constexpr (Impl::have_inputs<Beside>) {
      const auto inputs =
          Impl::checked_inputs<typename Values::Compute>(operation, x_array, axes, beside);
      Impl::check_overlap_inputs(operation, y_name(), merged_y, arrays, inputs, axes.merged_axis());
      if constexpr (Impl::is_given<decltype(Beside::bias)>)
        problem.inputs.bias.data = beside.bias.data();
      if constexpr (Impl::is_given<decltype(Beside::mask)>)
        problem.inputs.mask.data = beside.mask.data();
      if constexpr (Impl::is_given<decltype(Beside::lengths)>)
        problem.inputs.lengths.data = beside.lengths.data();
      if constexpr (Impl::is_given<decltype(Beside::row_bias)>)
        problem.inputs.row_bias.data = beside.row_bias.data();
      if constexpr (Impl::have_weights<Beside>)
        set_weights(operation, problem, x_array, y, axes, inputs, beside);
      if constexpr (Impl::is_given<decltype(Beside::causal)>)
        problem.inputs.causal_limit = Impl::causal_limit(beside.causal);
    }
  }

  template <class Problem, class Array, class Inputs>
  void set_weights(Impl::Operation operation, Problem& problem, const Array& x, const Y& y,
                   const Impl::ReducedAxes& axes, const Inputs& inputs,
                   const Beside& beside) const {
    problem.inputs.weights.data = beside.weights.data();
    if constexpr (Impl::is_given<decltype(Beside::sign)>) {
      problem.sign = beside.sign.data();
      Impl::check_sign(operation, x, y_name(), Impl::strided_array(y),
                       Impl::strided_array(beside.sign), inputs, axes);
    }
  }

  template <Impl::Operation operation>
  std::string describe_as() const {
    std::string schedule;
    if (writes_something()) schedule = Impl::describe<operation, Exec, Values>(m_choice, source);
    return Impl::plan_description<Exec, Values>(operation, m_problem, schedule);
  }

  static constexpr const char* y_name() { return one_value_per_row ? "lse" : "y"; }
  static constexpr auto source = Impl::have_weights<Beside>  ? Impl::SourceKind::weighted
                                 : Impl::have_inputs<Beside> ? Impl::SourceKind::general
                                                             : Impl::SourceKind::plain;

  template <Impl::Operation operation, class E, class V, class W, class B>
  friend Plan<E, V, W, B> Impl::make_plan(const E&, const V&, const W&, const Options&, const B&);

  Impl::Operation m_operation;
  Exec m_exec;
  Options m_options;
  // holds the addresses of the Views that the plan was made with; execute() replaces them
  std::conditional_t<
      Impl::have_weights<Beside>, Impl::WeightedRowProblem<typename Values::X, typename Values::Y>,
      std::conditional_t<Impl::have_inputs<Beside>,
                         Impl::GeneralRowProblem<typename Values::X, typename Values::Y>,
                         Impl::RowProblem<typename Values::X, typename Values::Y>>>
      m_problem;
  Impl::ViewShape<X> m_x;
  Impl::ViewShape<Y> m_y;
  Impl::OperandsShape<Beside> m_beside;
  Impl::Choice m_choice = {};
};

template <Impl::Operation operation, class Exec, class X, class Y, class Beside>
Plan<Exec, X, Y, Beside> Impl::make_plan(const Exec& exec, const X& x, const Y& y,
                                         const Options& options, const Beside& beside) {
  Plan<Exec, X, Y, Beside> plan(operation, exec, x, y, options, beside);
  if (plan.writes_something()) plan.m_choice = choose<operation>(exec, plan.m_problem, options);
  return plan;
}

/// Makes a plan of softmax(exec, x, y, options). The entries of x and y are neither read nor
/// written.
///
/// \param exec     execution space instance on which the kernels of the plan are enqueued
/// \param x        View as for softmax: the View that the plan will be executed with, or another
///                 View of the same type, extents, strides and alignment
/// \param y        View as for softmax, with the same condition as x
/// \param options  as for softmax
/// \return the plan
/// \throws std::invalid_argument  as softmax
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) Plan<Exec, X, Y> plan_softmax(const Exec& exec, const X& x,
                                                                 const Y& y,
                                                                 const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_softmax", Exec, X, "y", Y, 0);
  return Impl::make_plan<Impl::Operation::softmax>(exec, x, y, options);
}

/// Makes a plan of softmax(exec, x, y, options, operands).
///
/// \param exec      as for plan_softmax without operands
/// \param x         as for plan_softmax without operands
/// \param y         as for plan_softmax without operands
/// \param options   as for plan_softmax without operands
/// \param operands  the operands that the plan will be executed with, or Views of the same type,
///                  extents, strides and addresses modulo 16 bytes
/// \return the plan
/// \throws std::invalid_argument  as softmax
template <class Exec, class X, class Y, class... Given>
Plan<Exec, X, Y, Operands<Given...>> plan_softmax(const Exec& exec, const X& x, const Y& y,
                                                  const Options& options,
                                                  const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_softmax", Exec, X, "y", Y, 0);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("plan_softmax", Exec, X, Y, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS("plan_softmax", Operands<Given...>);
  return Impl::make_plan<Impl::Operation::softmax>(exec, x, y, options, operands);
}

/// Makes a plan of log_softmax(exec, x, y, options). The entries of x and y are neither read nor
/// written.
///
/// \param exec     execution space instance on which the kernels of the plan are enqueued
/// \param x        View as for log_softmax: the View that the plan will be executed with, or
///                 another View of the same type, extents, strides and alignment
/// \param y        View as for log_softmax, with the same condition as x
/// \param options  as for log_softmax
/// \return the plan
/// \throws std::invalid_argument  as log_softmax
template <class Exec, class X, class Y>
requires(!Kokkos::is_view_v<Exec>) Plan<Exec, X, Y> plan_log_softmax(const Exec& exec, const X& x,
                                                                     const Y& y,
                                                                     const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_log_softmax", Exec, X, "y", Y, 0);
  return Impl::make_plan<Impl::Operation::log_softmax>(exec, x, y, options);
}

/// Makes a plan of log_softmax(exec, x, y, options, operands).
///
/// \param exec      as for plan_log_softmax without operands
/// \param x         as for plan_log_softmax without operands
/// \param y         as for plan_log_softmax without operands
/// \param options   as for plan_log_softmax without operands
/// \param operands  the operands that the plan will be executed with, or Views of the same type,
///                  extents, strides and addresses modulo 16 bytes
/// \return the plan
/// \throws std::invalid_argument  as log_softmax
template <class Exec, class X, class Y, class... Given>
Plan<Exec, X, Y, Operands<Given...>> plan_log_softmax(const Exec& exec, const X& x, const Y& y,
                                                      const Options& options,
                                                      const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_log_softmax", Exec, X, "y", Y, 0);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("plan_log_softmax", Exec, X, Y, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_NO_WEIGHTS("plan_log_softmax", Operands<Given...>);
  return Impl::make_plan<Impl::Operation::log_softmax>(exec, x, y, options, operands);
}

/// Makes a plan of logsumexp(exec, x, lse, options). The entries of x and lse are neither read nor
/// written.
///
/// \param exec     execution space instance on which the kernels of the plan are enqueued
/// \param x        View as for logsumexp: the View that the plan will be executed with, or another
///                 View of the same type, extents, strides and alignment
/// \param lse      View as for logsumexp, with the same condition as x
/// \param options  as for logsumexp
/// \return the plan
/// \throws std::invalid_argument  as logsumexp
template <class Exec, class X, class L>
requires(!Kokkos::is_view_v<Exec>) Plan<Exec, X, L> plan_logsumexp(const Exec& exec, const X& x,
                                                                   const L& lse,
                                                                   const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_logsumexp", Exec, X, "lse", L, 1);
  return Impl::make_plan<Impl::Operation::logsumexp>(exec, x, lse, options);
}

/// Makes a plan of logsumexp(exec, x, lse, options, operands).
///
/// \param exec      as for plan_logsumexp without operands
/// \param x         as for plan_logsumexp without operands
/// \param lse       as for plan_logsumexp without operands
/// \param options   as for plan_logsumexp without operands
/// \param operands  the operands that the plan will be executed with, or Views of the same type,
///                  extents, strides and addresses modulo 16 bytes
/// \return the plan
/// \throws std::invalid_argument  as logsumexp
template <class Exec, class X, class L, class... Given>
Plan<Exec, X, L, Operands<Given...>> plan_logsumexp(const Exec& exec, const X& x, const L& lse,
                                                    const Options& options,
                                                    const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_TYPES("plan_logsumexp", Exec, X, "lse", L, 1);
  KOKKOSSOFTMAX_IMPL_CHECK_OPERANDS("plan_logsumexp", Exec, X, L, Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_READS_ONLY("plan_logsumexp", Operands<Given...>);
  KOKKOSSOFTMAX_IMPL_CHECK_WEIGHTS("plan_logsumexp", Exec, X, L, Operands<Given...>);
  return Impl::make_plan<Impl::Operation::logsumexp>(exec, x, lse, options, operands);
}

/// Makes a plan for the default instance of the execution space of y.
///
/// \param x        as for plan_softmax with an instance
/// \param y        as for plan_softmax with an instance
/// \param options  as for plan_softmax with an instance
/// \return the plan
/// \throws std::invalid_argument  as softmax
template <class X, class Y>
auto plan_softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    return plan_softmax(typename Y::execution_space{}, x, y, options);
}

/// Makes a plan with operands for the default instance of the execution space of y.
///
/// \param x         as for plan_softmax with an instance
/// \param y         as for plan_softmax with an instance
/// \param options   as for plan_softmax with an instance
/// \param operands  as for plan_softmax with an instance
/// \return the plan
/// \throws std::invalid_argument  as softmax
template <class X, class Y, class... Given>
auto plan_softmax(const X& x, const Y& y, const Options& options,
                  const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    return plan_softmax(typename Y::execution_space{}, x, y, options, operands);
}

/// Makes a plan for the default instance of the execution space of y.
///
/// \param x        as for plan_log_softmax with an instance
/// \param y        as for plan_log_softmax with an instance
/// \param options  as for plan_log_softmax with an instance
/// \return the plan
/// \throws std::invalid_argument  as log_softmax
template <class X, class Y>
auto plan_log_softmax(const X& x, const Y& y, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_log_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    return plan_log_softmax(typename Y::execution_space{}, x, y, options);
}

/// Makes a plan with operands for the default instance of the execution space of y.
///
/// \param x         as for plan_log_softmax with an instance
/// \param y         as for plan_log_softmax with an instance
/// \param options   as for plan_log_softmax with an instance
/// \param operands  as for plan_log_softmax with an instance
/// \return the plan
/// \throws std::invalid_argument  as log_softmax
template <class X, class Y, class... Given>
auto plan_log_softmax(const X& x, const Y& y, const Options& options,
                      const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_log_softmax", X, "y", Y);
  if constexpr (Impl::are_views<X, Y>)
    return plan_log_softmax(typename Y::execution_space{}, x, y, options, operands);
}

/// Makes a plan for the default instance of the execution space of lse.
///
/// \param x        as for plan_logsumexp with an instance
/// \param lse      as for plan_logsumexp with an instance
/// \param options  as for plan_logsumexp with an instance
/// \return the plan
/// \throws std::invalid_argument  as logsumexp
template <class X, class L>
auto plan_logsumexp(const X& x, const L& lse, const Options& options = {}) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_logsumexp", X, "lse", L);
  if constexpr (Impl::are_views<X, L>)
    return plan_logsumexp(typename L::execution_space{}, x, lse, options);
}

/// Makes a plan with operands for the default instance of the execution space of lse.
///
/// \param x         as for plan_logsumexp with an instance
/// \param lse       as for plan_logsumexp with an instance
/// \param options   as for plan_logsumexp with an instance
/// \param operands  as for plan_logsumexp with an instance
/// \return the plan
/// \throws std::invalid_argument  as logsumexp
template <class X, class L, class... Given>
auto plan_logsumexp(const X& x, const L& lse, const Options& options,
                    const Operands<Given...>& operands) {
  KOKKOSSOFTMAX_IMPL_CHECK_VIEWS("plan_logsumexp", X, "lse", L);
  if constexpr (Impl::are_views<X, L>)
    return plan_logsumexp(typename L::execution_space{}, x, lse, options, operands);
}

/// \}

}  // namespace KokkosSoftmax

#endif
