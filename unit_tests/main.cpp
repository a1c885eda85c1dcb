// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <gtest/gtest.h>

#include <Kokkos_Core.hpp>
#include <charconv>
#include <iostream>
#include <limits>
#include <string_view>
#include <support/RandomCases.hpp>
#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace {

/// Memory that is freed stays in the process for later tests. Without this, a third of the time of
/// tests with large tensors is spent on the page faults of memory that was just given back.
void keep_freed_memory() {
#ifdef __GLIBC__
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
#endif
}

/// Reads a flag like --cases=100. Returns false if it has another name or no number.
bool read_number(std::string_view flag, std::string_view name, std::uint64_t& number) {
  if (!flag.starts_with(name)) return false;
  const char* const end = flag.data() + flag.size();
  const auto [rest, error] = std::from_chars(flag.data() + name.size(), end, number);
  return error == std::errc{} && rest == end;
}

/// Reads the flags of the tests themselves: those that Kokkos and GoogleTest have left.
bool read_flags(int argc, char** argv) {
  auto& random = KokkosSoftmax::Test::random_cases_to_run;
  for (int i = 1; i < argc; ++i) {
    if (read_number(argv[i], "--cases=", random.cases)) continue;
    if (read_number(argv[i], "--seed=", random.seed)) continue;
    std::cerr << "The argument " << argv[i] << " is unknown: give --cases=N or --seed=S, N and S "
              << "numbers, or options of GoogleTest or Kokkos\n";
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  keep_freed_memory();
  Kokkos::ScopeGuard kokkos(argc, argv);
  ::testing::InitGoogleTest(&argc, argv);
  if (!read_flags(argc, argv)) return 1;
  const int status = RUN_ALL_TESTS();
  const auto* tests = ::testing::UnitTest::GetInstance();
  if (tests->test_to_run_count() == 0 && !GTEST_FLAG_GET(list_tests)) {
    std::cerr << "The filter selects no test\n";  // a misspelt filter must not pass
    return 1;
  }
  return status;
}
