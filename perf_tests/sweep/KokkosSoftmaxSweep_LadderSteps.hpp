// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXSWEEP_LADDERSTEPS_HPP
#define KOKKOSSOFTMAXSWEEP_LADDERSTEPS_HPP

/// \file
/// Definition of prepare_ladder_step, for the translation units that instantiate it.

#include <KokkosSoftmaxLadder.hpp>
#include <KokkosSoftmaxSweep_Algorithms.hpp>
#include <stdexcept>

namespace KokkosSoftmaxSweep {

template <class Exec, class T>
using Matrix =
    Kokkos::View<T**, Kokkos::LayoutRight, Exec, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

template <class Exec, class T>
Launch prepare_ladder_step(const std::string& name, const Exec& exec, const Shape& shape,
                           const T* x, T* y) {
  using X = Matrix<Exec, const T>;
  using Y = Matrix<Exec, T>;
  if (!shape.is_row_major_matrix())
    throw std::invalid_argument("the ladder serves the last axis of a LayoutRight matrix only");
  for (const auto& step : KokkosSoftmaxLadder::steps<Exec, X, Y>())
    if (step.name == name)
      return step.prepare(exec, X(x, shape.rows(), shape.columns()),
                          Y(y, shape.rows(), shape.columns()));
  throw std::invalid_argument("there is no step \"" + name + "\" on the ladder");
}

}  // namespace KokkosSoftmaxSweep

#endif
