// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_WATCHDOG_HPP
#define KOKKOSSOFTMAX_TEST_WATCHDOG_HPP

/// \file
/// A time limit for tests that hang if the tested code is broken. A test that hangs fails, and its
/// name is printed.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace KokkosSoftmax::Test {

/// If a Watchdog exists longer than the limit, it prints the name of the running test and ends the
/// process. It can't end the test alone, because a thread or a kernel that waits for ever does not
/// return. As a member of a fixture it limits the time of each test. The environment variable
/// KOKKOSSOFTMAX_TEST_SLOWDOWN multiplies all limits, for tools under which tests take longer.
class Watchdog {
 public:
  explicit Watchdog(std::chrono::seconds limit);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();

  std::string m_test;
  std::chrono::seconds m_limit;
  std::mutex m_mutex;
  std::condition_variable m_ended;
  bool m_has_ended = false;
  std::thread m_thread;  // must be the last member, because it uses the others
};

}  // namespace KokkosSoftmax::Test

#endif
