// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests the text of tuning tables: reading the printed text gives the same schedule, and each kind
// of error is reported.

#include <gtest/gtest.h>

#include <algorithm>
#include <backend/Architecture.hpp>
#include <cstdio>
#include <dispatch/Compiled.hpp>
#include <dispatch/Tuning.hpp>
#include <fstream>
#include <set>
#include <sstream>
#include <support/Throws.hpp>

namespace KokkosSoftmax::Test {
namespace {

using namespace KokkosSoftmax::Impl;

template <class Value>
std::string printed(const Value& value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

constexpr const char* schedule_text =
    "fused_registers{team_size=4, vector_length=32, items=8, width=4, min_teams=7, "
    "rows_per_thread=1, access=guarded_vectors}";

std::string line_text(const std::string& ranges) {
  return "softmax float " + ranges + " " + schedule_text;
}

/// Succeeds if a table whose second line is `line` is refused with a message that contains its
/// name, the line number and `parts`.
::testing::AssertionResult refused(const std::string& line,
                                   std::initializer_list<std::string> parts) {
  std::istringstream table("# a comment\n" + line + "\n");
  const auto parse = [&] { parse_tuning_table(table, "my.table"); };
  if (const auto result = throws_with({"my.table:2: "}, parse); !result) return result;
  return throws_with(parts, [&] {
    std::istringstream again("# a comment\n" + line + "\n");
    parse_tuning_table(again, "my.table");
  });
}

TEST(Tuning, CompiledSchedulesComeBackFromTheirText) {
  for (const Compiled& part : compiled())
    for (const Schedule& schedule : part.schedules()) {
      EXPECT_EQ(parse_schedule(printed(schedule)), schedule) << printed(schedule);
    }
}

// A table can be shipped with builds whose Kokkos has no half types.
TEST(Tuning, TypesAreKnownWhetherTheyAreCompiledOrNot) {
  for (const char* types : {"float", "double", "half", "bhalf", "half_float", "bhalf_float"})
    EXPECT_EQ(parse_tuning_line(std::string("softmax ") + types + " * * " + schedule_text).types,
              types);
  for (const Compiled& part : compiled())
    EXPECT_NO_THROW(
        parse_tuning_line(std::string("softmax ") + part.types + " * * " + schedule_text))
        << part.types;
}

TEST(Tuning, CompiledSchedulesDiffer) {
  for (const Compiled& part : compiled()) {
    std::set<std::string> texts;
    for (const Schedule& schedule : part.schedules())
      EXPECT_TRUE(texts.insert(printed(schedule)).second) << printed(schedule) << " twice";
  }
}

TEST(Tuning, LinesComeBackFromTheirText) {
  for (const char* ranges : {"* *", "17 1", "1-2 0-0", "5-* *", "1025-2048 64-*"}) {
    const TuningLine line = parse_tuning_line(line_text(ranges));
    const TuningLine again = parse_tuning_line(printed(line));
    EXPECT_EQ(printed(line), printed(again));
    EXPECT_EQ(again.columns, line.columns);
    EXPECT_EQ(again.rows, line.rows);
    EXPECT_EQ(again.schedule, parse_schedule(schedule_text));
  }
}

TEST(Tuning, Ranges) {
  const TuningLine line = parse_tuning_line(line_text("1025-2048 64-*"));
  EXPECT_TRUE(line.applies(64, 1025, any_architecture));
  EXPECT_TRUE(line.applies(std::int64_t(1) << 40, 2048, "sm_90"));
  EXPECT_FALSE(line.applies(63, 1025, "sm_90"));
  EXPECT_FALSE(line.applies(64, 1024, "sm_90"));
  EXPECT_FALSE(line.applies(64, 2049, "sm_90"));
}

TEST(Tuning, LinesForAnArchitectureApplyToNoOther) {
  const char* const all[] = {"sm_80", "sm_90", "gfx90a", "gfx90c", "gfx942"};
  for (const char* of_line : all) {
    TuningLine line = parse_tuning_line(line_text("* *"));
    line.architecture = of_line;
    for (const char* of_device : all)
      EXPECT_EQ(line.applies(1, 1, of_device), std::string_view(of_line) == of_device)
          << of_line << " " << of_device;
    EXPECT_FALSE(line.applies(1, 1, architecture(Kokkos::DefaultHostExecutionSpace())));
  }
}

TEST(Tuning, NamesOfArchitectures) {
  EXPECT_EQ(cuda_architecture(9, 0), "sm_90");
  EXPECT_EQ(cuda_architecture(12, 1), "sm_121");
  EXPECT_EQ(hip_architecture("gfx90a:sramecc+:xnack-"), "gfx90a");
  EXPECT_EQ(hip_architecture("gfx1100"), "gfx1100");
}

TEST(Tuning, CommentsAndEmptyLines) {
  std::istringstream table("# comment\n\n" + line_text("* *") + " # why\n   \n" + line_text("7 *") +
                           "\n");
  const auto lines = parse_tuning_table(table, "my.table", "sm_90");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].number, 3);
  EXPECT_EQ(lines[1].number, 5);
  EXPECT_EQ(lines[1].table, "my.table");
  EXPECT_EQ(lines[1].architecture, "sm_90");
}

TEST(Tuning, BadLines) {
  EXPECT_TRUE(refused("softmaxx float * * online{}", {"softmaxx", "operation", "log_softmax"}));
  EXPECT_TRUE(refused("softmax quad * * online{}", {"quad", "type", "float, double"}));
  EXPECT_TRUE(refused(std::string("logsumexp half_float * * ") + schedule_text,
                      {"half_float", "logsumexp", "write \"half\""}));
  EXPECT_TRUE(refused("softmax float 8-7 * online{}", {"8-7", "columns", "empty", "N-M"}));
  EXPECT_TRUE(refused("softmax float * 9-1 online{}", {"9-1", "rows", "empty", "N-M"}));
  EXPECT_TRUE(refused("softmax float x * online{}", {"\"x\"", "columns", "N-M"}));
  EXPECT_TRUE(refused("softmax float *-5 * online{}", {"*-5", "columns", "N-M"}));
  EXPECT_TRUE(refused("softmax float 1- * online{}", {"\"1-\"", "columns", "N-M"}));
  EXPECT_TRUE(refused("softmax float *", {"rows", "missing", "N-M"}));
  EXPECT_TRUE(refused("softmax float 99999999999999999999 * online{}", {"range of columns"}));
  EXPECT_TRUE(refused("softmax float * *", {"algorithm", "online"}));
  EXPECT_TRUE(refused("softmax float * * onlin{}", {"onlin", "algorithm", "online"}));
  EXPECT_TRUE(refused("softmax float * * online", {"online", "braces", "--list"}));
  EXPECT_TRUE(refused("softmax float * * online{items=8", {"online", "braces", "--list"}));
  EXPECT_TRUE(refused("softmax float * * online{itms=8}", {"itms", "items"}));
  EXPECT_TRUE(refused("softmax float * * online{items=few}", {"few", "number"}));
  EXPECT_TRUE(refused("softmax float * * online{items}", {"number"}));
  EXPECT_TRUE(refused("softmax float * * online{access=full}", {"full", "guarded"}));
}

class TuningFile : public ::testing::Test {
 protected:
  const std::string path = ::testing::TempDir() + "kokkossoftmax_test.table";
  void write(const std::string& text) const { std::ofstream(path) << text; }
  void TearDown() override { std::remove(path.c_str()); }
};

TEST_F(TuningFile, OfCompiledSchedules) {
  std::string text;
  int count = 0;
  for (const Compiled& part : compiled())
    for (const Schedule& schedule : part.schedules()) {
      text += std::string(to_string(part.operation)) + " " + part.types + " * * " +
              printed(schedule) + "\n";
      ++count;
    }
  write(text);
  EXPECT_EQ(static_cast<int>(read_tuning_file(path).size()), count);
}

TEST_F(TuningFile, ScheduleThatIsNotCompiled) {
  write("# comment\nsoftmax float * * online{team_size=3, items=77}\n");
  EXPECT_TRUE(throws_with({path + ":2: ", "items=77", "not compiled", "softmax of float", "--list"},
                          [&] { read_tuning_file(path); }));
}

TEST_F(TuningFile, Missing) {
  EXPECT_TRUE(throws_with({path, "can't be read", "No such file", "give the path"},
                          [&] { read_tuning_file(path); }));
}

TEST_F(TuningFile, Directory) {
  EXPECT_TRUE(throws_with({::testing::TempDir(), "can't be read", "directory", "give the path"},
                          [] { read_tuning_file(::testing::TempDir()); }));
}

// A file that can be opened, but reading it fails.
TEST_F(TuningFile, ReadError) {
  const char* const unreadable = "/proc/self/mem";
  if (!std::ifstream(unreadable)) GTEST_SKIP() << "there is no " << unreadable;
  EXPECT_TRUE(throws_with({unreadable, "can't be read", "give the path"},
                          [&] { read_tuning_file(unreadable); }));
}

// The schedules of these tables are perhaps not compiled in this build, for example without a GPU
// backend.
TEST(Tuning, ShippedTables) {
  for (const ShippedTable& shipped : shipped_tables()) {
    std::istringstream text(shipped.text);
    EXPECT_NO_THROW(parse_tuning_table(text, shipped.name, shipped.architecture));
    EXPECT_NE(shipped.architecture, any_architecture);
  }
}

// A call skips lines whose schedule isn't compiled. So without this test, a change of a shape would
// silently disable the lines that name it.
TEST(Tuning, ShippedTablesNameCompiledSchedules) {
  const auto has_space = [](const char* space) {
    return std::any_of(compiled().begin(), compiled().end(),
                       [&](const Compiled& part) { return part.space == std::string(space); });
  };
  if (!has_space("Cuda")) GTEST_SKIP() << "only builds for CUDA have these schedules";
  for (const ShippedTable& shipped : shipped_tables()) {
    std::istringstream text(shipped.text);
    for (const TuningLine& line : parse_tuning_table(text, shipped.name, shipped.architecture))
      for (const Compiled& part : compiled()) {
        if (part.space != std::string("Cuda") || part.operation != line.operation ||
            part.types != line.types)
          continue;
        const std::vector<Schedule> schedules = part.schedules();
        EXPECT_NE(std::find(schedules.begin(), schedules.end(), line.schedule), schedules.end())
            << line.table << ":" << line.number << ": " << line;
      }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
