// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_TEST_WATCHDOG_HPP
#define KOKKOSSOFTMAX_TEST_WATCHDOG_HPP

/// \file
/// A time limit for tests that hang if what they test is broken: a hang fails and has a name.

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace KokkosSoftmax::Test {

/// Ends the process with the name of the running test if it lives longer than the limit. The test
/// can't be stopped alone: a thread or a kernel that waits for ever doesn't return. As a member of
/// a fixture it limits each test. The environment variable KOKKOSSOFTMAX_TEST_SLOWDOWN multiplies
/// all limits, for tools under which a test takes longer.
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
  std::thread m_thread;  // the last member: it uses the others
};

}  // namespace KokkosSoftmax::Test

#endif
