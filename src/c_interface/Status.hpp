// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_STATUS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_STATUS_HPP

/// \file
/// From exceptions to a status and a message. Messages read PROBLEM (WHY) SUGGESTION.

#include <kokkossoftmax.h>

#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>

namespace KokkosSoftmax::Impl {

/// An error with its status; others are told apart by their types, see guarded().
class StatusError : public std::runtime_error {
 public:
  StatusError(kokkossoftmax_status status, const std::string& message)
      : std::runtime_error(message), m_status(status) {}
  kokkossoftmax_status status() const { return m_status; }

 private:
  kokkossoftmax_status m_status;
};

template <class... Parts>
[[noreturn]] void throw_status(kokkossoftmax_status status, const Parts&... parts) {
  std::ostringstream message;
  (message << ... << parts);
  throw StatusError(status, message.str());
}

/// Keeps the message for kokkossoftmax_last_error() in this thread. Doesn't allocate.
void set_last_error(const char* message) noexcept;

/// Runs the body of a function of the C interface.
template <class Body>
int guarded(const Body& body) noexcept {
  try {
    body();
    return KOKKOSSOFTMAX_SUCCESS;
  } catch (const StatusError& error) {
    set_last_error(error.what());
    return error.status();
  } catch (const std::invalid_argument& error) {
    set_last_error(error.what());
    return KOKKOSSOFTMAX_INVALID_ARGUMENT;
  } catch (const std::exception& error) {
    set_last_error(error.what());
  } catch (...) {
    set_last_error("kokkossoftmax: an exception that is no std::exception was thrown");
  }
  return KOKKOSSOFTMAX_FAILURE;
}

}  // namespace KokkosSoftmax::Impl

#endif
