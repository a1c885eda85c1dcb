// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_ONEDNN_HPP
#define KOKKOSSOFTMAXSWEEP_ONEDNN_HPP

/// \file
/// Softmax of oneDNN, for comparisons on hosts. It is there if CMake found oneDNN, built for
/// OpenMP. This header needs neither Kokkos nor oneDNN.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

/// What a primitive of oneDNN is made for: an operation along an axis of an array of float. x and y
/// have the same extents and strides (in elements).
struct OneDnnProblem {
  enum class Operation { softmax, log_softmax };
  Operation operation = Operation::softmax;
  std::vector<std::int64_t> extents, strides;
  int axis = 0;
};

/// Why there is no oneDNN; empty if there is one.
std::string why_no_onednn();

/// For example "2.6.3"; empty if there is no oneDNN.
std::string onednn_version();

/// Returns a function that computes y from x, with the threads of OpenMP, and waits for the end.
/// Throws std::invalid_argument if there is no oneDNN, if it doesn't support the problem, or if it
/// has only a reference implementation for it, which is very slow.
std::function<void()> prepare_onednn(const OneDnnProblem& problem, const float* x, float* y);

/// The implementation that oneDNN chooses, for example "oneDNN 2.6.3, jit:avx512_core". Throws like
/// prepare_onednn().
std::string onednn_choice(const OneDnnProblem& problem);

}  // namespace KokkosSoftmaxSweep

#endif
