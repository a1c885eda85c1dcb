// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_ALGORITHMS_HPP
#define KOKKOSSOFTMAXSWEEP_ALGORITHMS_HPP

/// \file
/// What is compared: the steps of the ladder and the library, behind one function.

#include <KokkosSoftmaxSweep_Shape.hpp>
#include <functional>
#include <string>
#include <vector>

namespace KokkosSoftmaxSweep {

using Launch = std::function<void()>;

/// The library's choice among the schedules that are written in portable Kokkos; the same as
/// "library" where that isn't `cluster`.
inline constexpr const char* portable = "portable";

/// `portable`, "library" (its own choice), the names of its algorithms, the steps of the ladder.
std::vector<std::string> algorithm_names();

/// The steps of the ladder, from the lowest up.
std::vector<std::string> ladder_step_names();

/// A function that enqueues y = softmax(x) on `exec` without allocating. Throws
/// std::invalid_argument, here or when first called, where the algorithm can't serve the shape.
template <class Exec, class T>
Launch prepare(const std::string& algorithm, const Exec& exec, const Shape& shape, const T* x,
               T* y);

/// What the library chooses for a shape of aligned Views, and why; empty for a step of the ladder.
/// Throws as prepare().
template <class Exec, class T>
std::string choice(const std::string& algorithm, const Exec& exec, const Shape& shape);

/// prepare() for a step of the ladder; a translation unit for each T, as nvcc takes its time.
template <class Exec, class T>
Launch prepare_ladder_step(const std::string& step, const Exec& exec, const Shape& shape,
                           const T* x, T* y);

}  // namespace KokkosSoftmaxSweep

#endif
