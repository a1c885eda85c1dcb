// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_ALGORITHMS_HPP
#define KOKKOSSOFTMAXSWEEP_ALGORITHMS_HPP

/// \file
/// What is compared: one function for the steps of the ladder, the library and oneDNN.

#include <KokkosSoftmaxSweep_Shape.hpp>
#include <functional>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

using Launch = std::function<void()>;

/// The library's choice among the schedules that are written in portable Kokkos. It is the same as
/// "library", except if that is `cluster`.
inline constexpr const char* portable = "portable";

/// Softmax of oneDNN, on hosts: see KokkosSoftmaxSweep_OneDnn.hpp. Without oneDNN, prepare() and
/// choice() throw for it and say why.
inline constexpr const char* onednn = "onednn";

/// `portable`, `onednn`, "library" (its own choice), the names of its algorithms, the steps of the
/// ladder.
std::vector<std::string> algorithm_names();

/// The steps of the ladder, from the simplest to the best.
std::vector<std::string> ladder_step_names();

/// Returns a function that enqueues y = softmax(x) on `exec` without allocating. If the algorithm
/// doesn't support the shape, this call or the first call of that function throws
/// std::invalid_argument.
template <class Exec, class T>
Launch prepare(const std::string& algorithm, const Exec& exec, const Shape& shape, const T* x,
               T* y);

/// What the library or oneDNN chooses for a shape of aligned Views. Empty for a step of the ladder.
/// Throws like prepare().
template <class Exec, class T>
std::string choice(const std::string& algorithm, const Exec& exec, const Shape& shape);

/// prepare() for a step of the ladder. There is one translation unit per T, because nvcc is slow.
template <class Exec, class T>
Launch prepare_ladder_step(const std::string& step, const Exec& exec, const Shape& shape,
                           const T* x, T* y);

}  // namespace KokkosSoftmaxSweep

#endif
