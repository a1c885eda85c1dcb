// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <iostream>

int main(int argc, char** argv) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  const int status = RUN_ALL_TESTS();
  const auto* tests = ::testing::UnitTest::GetInstance();
  if (tests->test_to_run_count() == 0 && !GTEST_FLAG_GET(list_tests)) {
    std::cerr << "The filter selects no test\n";  // a misspelt filter must not pass
    return 1;
  }
  return status;
}
