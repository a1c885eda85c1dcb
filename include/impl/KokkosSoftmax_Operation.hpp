// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_OPERATION_HPP
#define KOKKOSSOFTMAX_IMPL_OPERATION_HPP

/// \file
/// The operations on a row. This header does not include Kokkos, for sources that name operations
/// but launch nothing.

namespace KokkosSoftmax::Impl {

enum class Operation { softmax, log_softmax, logsumexp };
inline constexpr Operation last_operation = Operation::logsumexp;

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

}  // namespace KokkosSoftmax::Impl

#endif
