// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_C_INTERFACE_STATUS_HPP
#define KOKKOSSOFTMAX_SRC_C_INTERFACE_STATUS_HPP

/// \file
/// Converts exceptions to a status and a message. Messages have the form PROBLEM (WHY) SUGGESTION.

#include <kokkossoftmax.h>

#include <exception>
#include <sstream>
#include <stdexcept>
#include <string>

namespace KokkosSoftmax::Impl {

/// An error with its status. The status of other exceptions depends on their type, see guarded().
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

/// Stores the message that kokkossoftmax_last_error() returns in this thread. Doesn't allocate
/// memory.
void set_last_error(const char* message) noexcept;

/// Runs the body of a function of the C interface. Returns the status, and stores the message of an
/// exception.
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
    set_last_error("kokkossoftmax: an exception that is not a std::exception was thrown");
  }
  return KOKKOSSOFTMAX_FAILURE;
}

}  // namespace KokkosSoftmax::Impl

#endif
