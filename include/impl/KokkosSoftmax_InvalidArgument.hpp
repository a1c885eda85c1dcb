// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_INVALIDARGUMENT_HPP
#define KOKKOSSOFTMAX_IMPL_INVALIDARGUMENT_HPP

/// \file
/// The exception for wrong arguments. Messages have the form PROBLEM (WHY): SUGGESTION.

#include <impl/KokkosSoftmax_Operation.hpp>
#include <sstream>
#include <stdexcept>

namespace KokkosSoftmax::Impl {

template <class... Parts>
[[noreturn]] void throw_invalid(const Callee& callee, const Parts&... parts) {
  std::ostringstream message;
  message << "KokkosSoftmax::" << callee.name() << ": ";
  (message << ... << parts);
  throw std::invalid_argument(message.str());
}

}  // namespace KokkosSoftmax::Impl

#endif
