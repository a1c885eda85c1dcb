// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_LAUNCH_HPP
#define KOKKOSSOFTMAX_IMPL_LAUNCH_HPP

/// \file
/// The functions of the compiled library that the headers call.

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_LossProblem.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

struct TuningLine;

/// The schedule that was chosen for a problem: its index among the variants that are compiled for
/// (operation, Exec, ValueTypes), and the line of a tuning table that chose it.
struct Choice {
  int variant = 0;
  const TuningLine* line = nullptr;  ///< null if the rule chose the schedule
};

// The functions are instantiated in src/ for each execution space that Kokkos has enabled and for
// all ValueTypes. They require rows > 0. They require columns > 0, except for logsumexp.

// Problem is RowProblem, GeneralRowProblem, or WeightedRowProblem (only for logsumexp). The
// variants of a Choice are those of the source of the problem: PlainSource, GeneralSource or
// WeightedSource.

/// Chooses a schedule. Also allocates what the launches of the schedule need on exec, so that the
/// launches themselves allocate nothing.
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
Choice choose(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options);

/// Launches the chosen schedule. The problem must be that of choose(), except that x and y can have
/// other addresses of the same alignment.
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
void launch(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options,
            const Choice& choice);

/// Chooses a schedule and launches it.
template <Operation operation, class Exec, template <class, class> class Problem, class Tx,
          class Ty>
void launch(const Exec& exec, const Problem<Tx, Ty>& problem, const Options& options);

/// The same for the backward passes.
template <BackwardOperation operation, class Exec, class T>
Choice choose(const Exec& exec, const BackwardProblem<T>& problem, const Options& options);
template <BackwardOperation operation, class Exec, class T>
void launch(const Exec& exec, const BackwardProblem<T>& problem, const Options& options,
            const Choice& choice);
template <BackwardOperation operation, class Exec, class T>
void launch(const Exec& exec, const BackwardProblem<T>& problem, const Options& options);

/// Launches the kernel that a problem needs.
template <LossOperation operation, class Exec, class T>
void launch(const Exec& exec, const LossProblem<T>& problem, const Options& options);
template <GradientOperation operation, class Exec, class T>
void launch(const Exec& exec, const GradientProblem<T>& problem, const Options& options);

/// Which kernels compute a problem: those of x alone, those that read more than x, or those with
/// weights.
enum class SourceKind { plain, general, weighted };

/// Returns the schedule and the reason for the choice as text. V is a ValueTypes.
template <Operation operation, class Exec, class V>
std::string describe(const Choice& choice, SourceKind source = SourceKind::plain);
/// The same for the backward passes.
template <BackwardOperation operation, class Exec, class V>
std::string describe(const Choice& choice);

}  // namespace KokkosSoftmax::Impl

#endif
