// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_LAUNCH_HPP
#define KOKKOSSOFTMAX_IMPL_LAUNCH_HPP

/// \file
/// The border between the headers and the compiled library.

#include <KokkosSoftmax_Options.hpp>
#include <impl/KokkosSoftmax_RowProblem.hpp>

namespace KokkosSoftmax::Impl {

enum class Operation { softmax, log_softmax, logsumexp };

constexpr const char* to_string(Operation operation) {
  switch (operation) {
    case Operation::softmax:
      return "softmax";
    case Operation::log_softmax:
      return "log_softmax";
    case Operation::logsumexp:
      return "logsumexp";
  }
  return "unknown";
}

/// Chooses a schedule and launches it on `exec`. Instantiated in src/ for each execution space that
/// Kokkos has enabled and T = float, double. Needs rows > 0; columns may be 0 for logsumexp.
template <Operation operation, class Exec, class T>
void launch(const Exec& exec, const RowProblem<T, T>& problem, const Options& options);

}  // namespace KokkosSoftmax::Impl

#endif
