// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_LAUNCH_HPP
#define KOKKOSSOFTMAX_IMPL_LAUNCH_HPP

/// \file
/// The border between the headers and the compiled library.

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <impl/KokkosSoftmax_ValueTypes.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

struct TuningLine;

/// The schedule that was chosen for a problem: its place among the ones compiled for (operation,
/// Exec, ValueTypes), and the line of a tuning table that says so.
struct Choice {
  int variant = 0;
  const TuningLine* line = nullptr;  ///< null: the rule
};

// Instantiated in src/ for each execution space that Kokkos has enabled and all ValueTypes. They
// need rows > 0; columns may be 0 for logsumexp.

/// Also makes what the schedule's launches need on exec, so that they allocate nothing.
template <Operation operation, class Exec, class Tx, class Ty>
Choice choose(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options);

/// Launches what was chosen for a problem that differs, if at all, in the addresses of x and y, and
/// not in their alignment.
template <Operation operation, class Exec, class Tx, class Ty>
void launch(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice);

/// Chooses and launches.
template <Operation operation, class Exec, class Tx, class Ty>
void launch(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options);

/// The schedule, and why it was chosen; V: ValueTypes.
template <Operation operation, class Exec, class V>
std::string describe(const Choice& choice);

}  // namespace KokkosSoftmax::Impl

#endif
