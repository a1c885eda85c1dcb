// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_DISPATCH_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_DISPATCH_HPP

/// \file
/// From a problem to a launched kernel: chooses one of the variants and launches it. Included by
/// the translation units that instantiate the functions of KokkosSoftmax_Launch.hpp.

#include <backend/Architecture.hpp>
#include <backend/FirstLaunch.hpp>
#include <dispatch/Compiled.hpp>
#include <dispatch/KernelTypes.hpp>
#include <dispatch/OpOf.hpp>
#include <dispatch/Rule.hpp>
#include <dispatch/Tuning.hpp>
#include <impl/KokkosSoftmax_InvalidArgument.hpp>
#include <impl/KokkosSoftmax_Launch.hpp>
#include <launch/GradientLaunch.hpp>
#include <row/BackwardSource.hpp>
#include <row/GeneralSource.hpp>
#include <row/LossSource.hpp>
#include <row/WeightedSource.hpp>
#include <sstream>
#include <string>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A line of a tuning table, and the number of the variant that is compiled for its schedule.
struct TunedVariant {
  const TuningLine* line;
  int variant;
};

/// The lines for (operation, Exec, V) whose schedules are compiled. They are searched once.
template <Operation operation, class Exec, class V>
const std::vector<TunedVariant>& tuned_variants() {
  static const auto tuned = [] {
    std::vector<TunedVariant> found;
    const std::vector<Schedule> schedules = compiled_schedules<operation, Exec, V>();
    for (const TuningLine& line : tuning_lines()) {
      const auto schedule = std::find(schedules.begin(), schedules.end(), line.schedule);
      if (line.operation == operation && line.types == V::name && schedule != schedules.end())
        found.push_back({&line, static_cast<int>(schedule - schedules.begin())});
    }
    return found;
  }();
  return tuned;
}

template <class Exec, class V, auto operation, template <class> class SourceOf>
class Dispatch {
  using Source = SourceOf<V>;

 public:
  using Problem = typename ArgumentsOf<Source>::Problem;

  Dispatch(const Exec& exec, const Problem& problem, const Options& options)
      : m_context(exec, problem, options) {}

  Choice choose() const {
    if (const TunedVariant* tuned = by_tables()) return {tuned->variant, tuned->line};
    const int variant = RuleOf(m_context).choose();
    if (variant == RuleOf::none) throw_cannot_serve();
    return {variant, nullptr};
  }

  void prepare(const Choice& choice) const { list[choice.variant].prepare(m_context); }
  void launch(const Choice& choice) const { list[choice.variant].launch(m_context); }

  bool serves(const Choice& choice) const { return list[choice.variant].serves(m_context); }

 private:
  using Op = OpOnSource<operation, Source>;
  static_assert(Op::writes_entries != one_value_per_row(operation));
  static_assert(function_number<operation, V> < static_cast<int>(std::size(function_names<Op>())));
  static constexpr const auto& list =
      kernel_variants<Exec, Op, function_number<operation, V>, Source>;
  using RuleOf = Rule<Exec, Op, function_number<operation, V>, Source>;

  /// The first line that applies to the problem and whose variant serves it.
  const TunedVariant* by_tables() const {
    if constexpr (!std::is_same_v<Source, PlainSource<V>>) {
      return nullptr;
    } else {
      return first_that_applies(tuned_variants<operation, Exec, V>());
    }
  }
  const TunedVariant* first_that_applies(const std::vector<TunedVariant>& tuned) const {
    // Not for `reproducible`: a line can apply to some numbers of rows only.
    if (tuned.empty() || m_context.options.reproducible) return nullptr;
    const std::string& device = architecture(m_context.exec);
    for (const TunedVariant& t : tuned)
      if (t.line->applies(m_context.problem().rows, m_context.problem().columns, device) &&
          is_eligible(t.line->schedule.algorithm) && list[t.variant].serves(m_context))
        return &t;
    return nullptr;
  }

  /// Tuning tables don't take strides into account. On a GPU, a schedule that is fast for
  /// contiguous rows isn't fast for strided rows, and vice versa.
  bool is_eligible(Algorithm algorithm) const {
    if (m_context.options.algorithm != Algorithm::automatic)
      return algorithm == m_context.options.algorithm;
    return is_host_space<Exec> ||
           has_row_in_each_lane(algorithm) == m_context.rows_are_neighbours();
  }

  [[noreturn]] void throw_cannot_serve() const {
    throw_invalid(operation, "algorithm = ", to_string(m_context.options.algorithm),
                  " can't serve ", m_context.problem().rows, " rows of ",
                  m_context.problem().columns, " columns of ", V::name, " with column stride ",
                  m_context.problem().x_column_stride, " on ", Exec::name(),
                  knows_rows<Source> ? " with biases, mask, lengths, causal or weights" : "",
                  " (see docs/algorithms.md for what each algorithm can hold): use "
                  "Algorithm::automatic");
  }

  const LaunchContext<Exec, V, ArgumentsOf<Source>> m_context;
};

/// The source of a problem.
template <class Problem>
struct SourceOfProblem;
template <class Tx, class Ty>
struct SourceOfProblem<RowProblem<Tx, Ty>> {
  template <class V>
  using type = PlainSource<V>;
};
template <class Tx, class Ty>
struct SourceOfProblem<GeneralRowProblem<Tx, Ty>> {
  template <class V>
  using type = GeneralSource<V>;
};
template <class Tx, class Ty>
struct SourceOfProblem<WeightedRowProblem<Tx, Ty>> {
  template <class V>
  using type = WeightedSource<V>;
};

/// The Dispatch of a problem, for the types of its kernels.
template <BackwardOperation operation, class Exec, class T>
auto dispatch(const Exec& exec, const BackwardProblem<T>& problem, const Options& options) {
  using V = ValueTypes<T>;
  return Dispatch<Exec, V, operation, BackwardSource>(exec, kernel_problem<operation, V>(problem),
                                                      options);
}
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
auto dispatch(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options) {
  using V = KernelTypes<operation, ValueTypes<Tx, Ty>>;
  return Dispatch<Exec, V, operation, SourceOfProblem<Problem<Tx, Ty>>::template type>(
      exec, kernel_problem<operation, V>(problem), options);
}

template <LossOperation operation, class Exec, class T>
auto dispatch(const Exec& exec, const LossProblem<T>& problem, const Options& options) {
  using V = ValueTypes<T>;
  return Dispatch<Exec, V, operation, LossSource>(exec, kernel_problem<operation, V>(problem),
                                                  options);
}

template <auto operation, class Exec, class Problem>
Choice choose_for(const Exec& exec, const Problem& problem, const Options& options) {
  prepare_first_launch(exec);
  const auto call = dispatch<operation>(exec, problem, options);
  const Choice choice = call.choose();
  call.prepare(choice);
  return choice;
}
template <auto operation, class Exec, class Problem>
void launch_for(const Exec& exec, const Problem& problem, const Options& options) {
  prepare_first_launch(exec);
  const auto call = dispatch<operation>(exec, problem, options);
  call.launch(call.choose());
}

template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
Choice choose(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options) {
  return choose_for<operation>(exec, problem, options);
}
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
void launch(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options,
            const Choice& choice) {
  dispatch<operation>(exec, problem, options).launch(choice);
}
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
void launch(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options) {
  launch_for<operation>(exec, problem, options);
}

template <BackwardOperation operation, class Exec, class T>
Choice choose(const Exec& exec, const BackwardProblem<T>& problem, const Options& options) {
  return choose_for<operation>(exec, problem, options);
}
template <BackwardOperation operation, class Exec, class T>
void launch(const Exec& exec, const BackwardProblem<T>& problem, const Options& options,
            const Choice& choice) {
  dispatch<operation>(exec, problem, options).launch(choice);
}
template <BackwardOperation operation, class Exec, class T>
void launch(const Exec& exec, const BackwardProblem<T>& problem, const Options& options) {
  launch_for<operation>(exec, problem, options);
}

template <LossOperation operation, class Exec, class T>
void launch(const Exec& exec, const LossProblem<T>& problem, const Options& options) {
  launch_for<operation>(exec, problem, options);
}
template <GradientOperation operation, class Exec, class T>
void launch(const Exec& exec, const GradientProblem<T>& problem, const Options& options) {
  static const std::string label =
      std::string("KokkosSoftmax::") + to_string(operation) + "[entries]";
  prepare_first_launch(exec);
  launch_gradient(exec, label, problem, options);
}

/// The variants that serve an operation on a pair of value types.
template <auto operation, class Exec, class V, template <class> class SourceOf = PlainSource,
          class KernelV = KernelTypes<operation, V>>
inline constexpr const auto& variants_for =
    kernel_variants<Exec, OpOnSource<operation, SourceOf<KernelV>>,
                    function_number<operation, KernelV>, SourceOf<KernelV>>;

/// A schedule as text, with the reason for the choice.
template <class Variant>
std::string description(const Variant& variant, const Choice& choice) {
  std::ostringstream text;
  text << variant.schedule;
  if (variant.is_limited) text << " for rows that end early";
  if (const TuningLine* line = choice.line)
    text << " (" << line->table << ":" << line->number << ": columns " << line->columns << ", rows "
         << line->rows << ")";
  else
    text << " (rule)";
  return text.str();
}

template <Operation operation, class Exec, class V>
std::string describe(const Choice& choice, SourceKind source) {
  const auto text = [&](const auto& variants) {
    return description(variants[choice.variant], choice);
  };
  if constexpr (one_value_per_row(operation))
    if (source == SourceKind::weighted)
      return text(variants_for<operation, Exec, V, WeightedSource>);
  return source == SourceKind::general ? text(variants_for<operation, Exec, V, GeneralSource>)
                                       : text(variants_for<operation, Exec, V>);
}
template <BackwardOperation operation, class Exec, class V>
std::string describe(const Choice& choice) {
  return description(variants_for<operation, Exec, V, BackwardSource>[choice.variant], choice);
}

template <Operation operation, class Exec, class V>
std::vector<Schedule> compiled_schedules() {
  std::vector<Schedule> schedules;
  for (const auto& variant : variants_for<operation, Exec, V>)
    schedules.push_back(variant.schedule);
  return schedules;
}

template <Operation operation, class Exec, class Tx, class Ty>
bool serves(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice) {
  return dispatch<operation>(exec, problem, options).serves(choice);
}

}  // namespace KokkosSoftmax::Impl

#endif
