// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_THROWS_HPP
#define KOKKOSSOFTMAX_TEST_THROWS_HPP

#include <gtest/gtest.h>

#include <initializer_list>
#include <reference/Reference.hpp>
#include <stdexcept>
#include <string>

namespace KokkosSoftmax::Test {

/// Succeeds if `body` throws std::invalid_argument with a message that contains all of `parts`.
template <class Body>
::testing::AssertionResult throws_with(std::initializer_list<std::string> parts, const Body& body) {
  try {
    body();
  } catch (const std::invalid_argument& error) {
    const std::string message = error.what();
    for (const auto& part : parts)
      if (message.find(part) == std::string::npos)
        return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << message;
    return ::testing::AssertionSuccess();
  }
  return ::testing::AssertionFailure() << "nothing was thrown";
}

inline std::string full_name(Function function) {
  return std::string("KokkosSoftmax::") + to_string(function) + ":";
}

}  // namespace KokkosSoftmax::Test

#endif
