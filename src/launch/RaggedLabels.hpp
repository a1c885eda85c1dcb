// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDLABELS_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_RAGGEDLABELS_HPP

#include <array>
#include <impl/KokkosSoftmax_RaggedProblem.hpp>
#include <string>

namespace KokkosSoftmax::Impl {

/// The kernels of a call for ragged rows.
enum class RaggedStep { windows, rows, teams, merge, write };

/// The label of a kernel, such as "KokkosSoftmax::segment_softmax[teams]". The labels are made
/// once, because a call allocates no memory.
inline const std::string& ragged_label(RaggedOperation operation, RaggedStep step) {
  constexpr std::array steps = {"windows", "rows", "teams", "merge", "write"};
  constexpr std::size_t operations =
      static_cast<std::size_t>(RaggedOperation::logsumexp_backward) + 1;
  static const auto labels = [&] {
    std::array<std::array<std::string, steps.size()>, operations> names;
    for (std::size_t o = 0; o < operations; ++o)
      for (std::size_t s = 0; s < steps.size(); ++s)
        names[o][s] = std::string("KokkosSoftmax::") + to_string(static_cast<RaggedOperation>(o)) +
                      "[" + steps[s] + "]";
    return names;
  }();
  return labels[static_cast<std::size_t>(operation)][static_cast<std::size_t>(step)];
}

}  // namespace KokkosSoftmax::Impl

#endif
