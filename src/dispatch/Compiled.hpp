// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DISPATCH_COMPILED_HPP
#define KOKKOSSOFTMAX_SRC_DISPATCH_COMPILED_HPP

/// \file
/// The list of compiled variants, for programs that print and search it. This file doesn't include
/// Kokkos, which nvcc takes a while to compile.

#include <impl/KokkosSoftmax_Export.h>

#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace KokkosSoftmax::Impl {

struct Choice;

/// The schedules that are compiled. The index of a schedule is its Choice::variant.
template <Operation operation, class Exec, class V>
std::vector<Schedule> compiled_schedules();

/// Whether the variant of `choice` serves a problem.
template <Operation operation, class Exec, class Tx, class Ty>
bool serves(const Exec& exec, const RowProblem<Tx, Ty>& problem, const Options& options,
            const Choice& choice);

/// One instantiation of compiled_schedules().
struct Compiled {
  const char* space;
  Operation operation;
  const char* types;
  std::vector<Schedule> (*schedules)();
};

/// All instantiations.
KOKKOSSOFTMAX_EXPORT std::span<const Compiled> compiled();

/// The names of all ValueTypes, including those that this library has no kernels for: a tuning
/// table is for several builds.
std::span<const std::string_view> type_names();

}  // namespace KokkosSoftmax::Impl

#endif
