// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <iostream>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

/// Memory that is freed stays in the process for later tests. Without this, a third of the time of
/// tests with large tensors is spent on the page faults of memory that was just given back.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 32 << 20);  // the largest one that is accepted
  mallopt(M_TRIM_THRESHOLD, 512 << 20);
#endif
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
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
