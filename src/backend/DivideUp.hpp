// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_DIVIDEUP_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_DIVIDEUP_HPP

#include <Kokkos_Macros.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// The parts of `size` or less that `all` falls into; neither is negative. In the wider of the two
/// types, as kernels count in 32 bits where they can.
template <class A, class B>
KOKKOS_FUNCTION constexpr std::common_type_t<A, B> divide_up(A all, B size) {
  return (all + size - 1) / size;
}

}  // namespace KokkosSoftmax::Impl

#endif
