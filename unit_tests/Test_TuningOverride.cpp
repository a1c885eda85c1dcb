// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the effect of the file that KOKKOSSOFTMAX_TUNING names. The file is read once per process,
// so CTest sets the variable for each run: to testdata/override.table for TuningOverride, to
// testdata/bad.table for TuningBad, and to a file that does not exist for TuningMissing.

#include <cstdlib>
#include <support/Check.hpp>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;
using Right = Kokkos::LayoutRight;

class WithTuningFile : public ::testing::Test {
 protected:
  explicit WithTuningFile(const std::string& file) : m_file(file) {}

  void SetUp() override {
    const char* const value = std::getenv("KOKKOSSOFTMAX_TUNING");
    if (value == nullptr || std::string(value).find(m_file) == std::string::npos)
      GTEST_SKIP() << "KOKKOSSOFTMAX_TUNING doesn't name " << m_file;
  }

 private:
  std::string m_file;
};

// The lines of override.table are for GPU schedules on hosts.
#if !defined(KOKKOSSOFTMAX_NO_GPU_SCHEDULES_ON_HOSTS)

class TuningOverride : public WithTuningFile {
 protected:
  TuningOverride() : WithTuningFile("override.table") {}

  static std::string choice(std::size_t rows, std::size_t columns, const Options& options = {}) {
    const Kokkos::View<double**, Right, Exec> x("x", rows, columns), y("y", rows, columns);
    return plan_softmax(Exec{}, x, y, options).describe();
  }

  static ::testing::AssertionResult chosen(const std::string& text,
                                           std::initializer_list<std::string> parts) {
    for (const std::string& part : parts)
      if (text.find(part) == std::string::npos)
        return ::testing::AssertionFailure() << "no \"" << part << "\" in: " << text;
    return ::testing::AssertionSuccess();
  }
};

TEST_F(TuningOverride, TakesTheFirstLineThatServes) {
  EXPECT_TRUE(chosen(choice(10, 304), {"online{", "access=guarded_vectors",
                                       "override.table:6: columns 300-400, rows 10-*"}));
  EXPECT_TRUE(chosen(choice(25, 304), {"online{", "override.table:6"}));
  // an odd number of columns, which guarded vectors of 2 can't serve
  EXPECT_TRUE(chosen(choice(25, 305), {"fused_scratch{", "access=scalar", "override.table:7"}));
}

TEST_F(TuningOverride, ElseTheRule) {
  EXPECT_TRUE(chosen(choice(9, 304), {"host{", "(rule)"}));
  EXPECT_TRUE(chosen(choice(10, 305), {"host{", "(rule)"}));
  EXPECT_TRUE(chosen(choice(10, 402), {"host{", "(rule)"}));
  EXPECT_TRUE(chosen(choice(10, 304, {.reproducible = true}), {"host{", "(rule)"}));
  EXPECT_TRUE(chosen(choice(304, 10, {.axis = 0}), {"host{", "(rule)"}));
}

TEST_F(TuningOverride, ForcedAlgorithmTakesItsOwnLines) {
  EXPECT_TRUE(chosen(choice(25, 304, {.algorithm = Algorithm::host}), {"host{", "(rule)"}));
  EXPECT_TRUE(chosen(choice(25, 304, {.algorithm = Algorithm::fused_scratch}),
                     {"fused_scratch{", "override.table:7"}));
}

TEST_F(TuningOverride, ResultsAreRight) {
  for (const Function function : all_functions)
    for (const std::size_t columns : {13, 304, 305}) {
      const auto& sample = normal_sample<double>(25, columns);
      EXPECT_TRUE((check_matrix<Config<Exec, double>>({.function = function}, sample.rows,
                                                      sample.expected)));
    }
}

#endif

void expect_every_call_throws(std::initializer_list<std::string> parts) {
  const Kokkos::View<double**, Right, Exec> x("x", 3, 5), y("y", 3, 5);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(throws_with(parts, [&] { softmax(Exec{}, x, y); }));
    EXPECT_TRUE(throws_with(parts, [&] { plan_log_softmax(Exec{}, x, y); }));
  }
}

class TuningBad : public WithTuningFile {
 protected:
  TuningBad() : WithTuningFile("bad.table") {}
};

TEST_F(TuningBad, EveryCallThrows) {
  expect_every_call_throws({"KOKKOSSOFTMAX_TUNING", "bad.table:2: ", "onlin", "online"});
}

class TuningMissing : public WithTuningFile {
 protected:
  TuningMissing() : WithTuningFile("missing.table") {}
};

TEST_F(TuningMissing, EveryCallThrows) {
  expect_every_call_throws({"KOKKOSSOFTMAX_TUNING", "missing.table", "can't be read"});
}

}  // namespace
}  // namespace KokkosSoftmax::Test
