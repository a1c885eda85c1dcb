// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <support/Watchdog.hpp>

namespace KokkosSoftmax::Test {
namespace {

std::chrono::seconds slowed_down(std::chrono::seconds limit) {
  const char* text = std::getenv("KOKKOSSOFTMAX_TEST_SLOWDOWN");
  return limit * (text == nullptr ? 1 : std::max(1, std::atoi(text)));
}

std::string name_of_test() {
  const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
  if (test == nullptr) return "a test";
  return std::string(test->test_suite_name()) + "." + test->name();
}

}  // namespace

Watchdog::Watchdog(std::chrono::seconds limit)
    : m_test(name_of_test()), m_limit(slowed_down(limit)), m_thread([this] { watch(); }) {}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(m_mutex);
    m_has_ended = true;
  }
  m_ended.notify_one();
  m_thread.join();
}

void Watchdog::watch() {
  std::unique_lock lock(m_mutex);
  if (m_ended.wait_for(lock, m_limit, [this] { return m_has_ended; })) return;
  std::cerr << "[  FAILED  ] " << m_test << " (it hangs: no end after " << m_limit.count()
            << " s; the process ends here)" << std::endl;
  std::_Exit(EXIT_FAILURE);  // does not wait for a kernel or a thread
}

}  // namespace KokkosSoftmax::Test
