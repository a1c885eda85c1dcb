// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_DIVIDEUP_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_DIVIDEUP_HPP

#include <Kokkos_Macros.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// all / size, rounded up: the number of parts of at most `size` into which `all` can be divided.
/// Neither argument may be negative. The result has the wider of the two types because kernels
/// count in 32 bits where they can.
template <class A, class B>
KOKKOS_FUNCTION constexpr std::common_type_t<A, B> divide_up(A all, B size) {
  return (all + size - 1) / size;
}

}  // namespace KokkosSoftmax::Impl

#endif
