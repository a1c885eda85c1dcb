// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_COMPILED_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_COMPILED_HPP

/// \file
/// What is compiled, for programs that list and search it. Without Kokkos, which takes nvcc a
/// while.

#include <impl/KokkosSoftmax_Export.h>

#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <span>
#include <vector>

namespace KokkosSoftmax::Impl {

struct Choice;

/// The schedules that are compiled; the place of one is its Choice::variant.
template <Operation operation, class Exec, class V>
std::vector<Schedule> compiled_schedules();

/// Whether one of them serves a problem.
template <Operation operation, class Exec, class Tx, class Ty>
bool serves(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice);

/// One instantiation of the above.
struct Compiled {
  const char* space;
  Operation operation;
  const char* types;
  std::vector<Schedule> (*schedules)();
};

/// All of them.
KOKKOSSOFTMAX_EXPORT std::span<const Compiled> compiled();

}  // namespace KokkosSoftmax::Impl

#endif
