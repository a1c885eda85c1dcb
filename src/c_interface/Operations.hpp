// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_OPERATIONS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_OPERATIONS_HPP

/// \file
/// Converts a kokkossoftmax_operation. `function` is the name of the function of C, for messages.

#include <c_interface/Status.hpp>
#include <impl/KokkosSoftmax_Operation.hpp>

namespace KokkosSoftmax::Impl {

inline Operation checked_operation(const char* function, int operation) {
  constexpr int last = static_cast<int>(last_operation);
  if (operation < 0 || operation > last)
    throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, function, ": operation = ", operation,
                 " is unknown (the known values are 0 to ", last,
                 "): give a value of kokkossoftmax_operation");
  return static_cast<Operation>(operation);
}

/// The backward pass of an operation. That of logsumexp has other arguments.
inline BackwardOperation checked_backward(const char* function, int operation) {
  switch (operation) {
    case KOKKOSSOFTMAX_SOFTMAX:
      return BackwardOperation::softmax_backward;
    case KOKKOSSOFTMAX_LOG_SOFTMAX:
      return BackwardOperation::log_softmax_backward;
    default:
      throw_status(KOKKOSSOFTMAX_INVALID_ARGUMENT, function, ": operation = ", operation,
                   " is not possible (the function has the backward passes of softmax and "
                   "log_softmax): give KOKKOSSOFTMAX_SOFTMAX or KOKKOSSOFTMAX_LOG_SOFTMAX");
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
