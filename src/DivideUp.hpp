// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_DIVIDEUP_HPP
#define KOKKOSSOFTMAX_SRC_DIVIDEUP_HPP

#include <cstdint>

namespace KokkosSoftmax::Impl {

/// The parts of `size` or less that `all` falls into; neither is negative.
constexpr std::int64_t divide_up(std::int64_t all, std::int64_t size) {
  return (all + size - 1) / size;
}

}  // namespace KokkosSoftmax::Impl

#endif
