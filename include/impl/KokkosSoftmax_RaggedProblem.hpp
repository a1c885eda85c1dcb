// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_RAGGEDPROBLEM_HPP
#define KOKKOSSOFTMAX_IMPL_RAGGEDPROBLEM_HPP

/// \file
/// Ragged rows, as the compiled library gets them: rows of different lengths that lie one after the
/// other in one vector.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <cstdint>
#include <impl/KokkosSoftmax_ValueTypes.hpp>

namespace KokkosSoftmax::Impl {

/// The operations on ragged rows.
enum class RaggedOperation {
  softmax,
  log_softmax,
  logsumexp,
  softmax_backward,
  log_softmax_backward,
  logsumexp_backward
};

/// The name of the public function.
constexpr const char* to_string(RaggedOperation operation) {
  switch (operation) {
    case RaggedOperation::softmax:
      return "segment_softmax";
    case RaggedOperation::log_softmax:
      return "segment_log_softmax";
    case RaggedOperation::logsumexp:
      return "segment_logsumexp";
    case RaggedOperation::softmax_backward:
      return "segment_softmax_backward";
    case RaggedOperation::log_softmax_backward:
      return "segment_log_softmax_backward";
    case RaggedOperation::logsumexp_backward:
      return "segment_logsumexp_backward";
  }
  return "unknown";
}

/// Row r has the entries from offset(r) to offset(r + 1).
struct RowOffsets {
  const void* data = nullptr;
  bool have_64_bits = false;

  KOKKOS_FORCEINLINE_FUNCTION std::int64_t operator()(std::int64_t r) const {
    return have_64_bits ? static_cast<const std::int64_t*>(data)[r]
                        : static_cast<const std::int32_t*>(data)[r];
  }
};

/// Ragged rows with inputs of type X and results of type Y. What an operation doesn't have is null.
/// All arrays are contiguous.
template <class X, class Y>
struct RaggedProblem {
  using T = typename ValueTypes<X, Y>::Compute;

  std::int64_t rows = 0;
  std::int64_t entries = 0;  // of the vectors, at least those of the rows
  RowOffsets offset;
  const X* x = nullptr;       // x, or the output y or log_y of a forward pass
  const X* second = nullptr;  // dy
  Y* y = nullptr;             // y or dx
  T* of_rows = nullptr;       // the results of logsumexp, per row
  const T* lse = nullptr;     // per row, for its backward pass
  const T* derivative = nullptr;
};

/// Enqueues the problem on exec. Instantiated in src/ for each execution space and all ValueTypes.
/// X and Y may differ for softmax and log_softmax alone. Requires rows > 0.
template <class Exec, class X, class Y>
void launch_ragged(const Exec& exec, RaggedOperation operation, const RaggedProblem<X, Y>& problem,
                   double scale, EmptyRows empty_rows);

}  // namespace KokkosSoftmax::Impl

#endif
