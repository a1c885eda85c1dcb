// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the entries of a call are divided among the teams of one pass of `two_pass_column`.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <schedules/two_pass/Plan.hpp>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::PassArray;
using KokkosSoftmax::Impl::PassLimits;
using KokkosSoftmax::Impl::PassPart;
using KokkosSoftmax::Impl::PassPlan;

/// `runs` times `run` rows of a matrix whose columns are `stride` entries apart, from an address
/// that is `offset` entries after a cache line.
struct Matrix {
  std::int64_t runs, run, columns, stride, offset;
};

template <class T>
class PassPlans : public ::testing::Test {
 protected:
  static constexpr int entry_bytes = sizeof(T);

  static PassPlan plan(const Matrix& m, const PassLimits& limits) {
    const PassArray array(reinterpret_cast<const T*>(address(m, 0, 0)), m.stride);
    return PassPlan(array, m.runs * m.run, m.run, m.columns, limits);
  }

  /// The part of each team. Only addresses are computed.
  static std::vector<PassPart> parts(const Matrix& m, const PassPlan& plan) {
    std::vector<PassPart> all;
    for (int team = 0; team < plan.teams(); ++team)
      all.push_back(plan.part_of_team(team, m.stride, [&](std::int64_t r) {
        return reinterpret_cast<const T*>(address(m, r, 0));
      }));
    return all;
  }

  static std::uintptr_t address(const Matrix& m, std::int64_t row, std::int64_t column) {
    constexpr std::uintptr_t base = 1 << 20;
    const std::int64_t run_stride = m.columns * m.stride;
    const std::int64_t entry =
        m.offset + row / m.run * run_stride + row % m.run + column * m.stride;
    return base + static_cast<std::uintptr_t>(entry) * entry_bytes;
  }

  /// Each entry belongs to one team, and each part of a row to one number.
  static void expect_once(const Matrix& m, const PassPlan& plan) {
    const auto rows = static_cast<std::size_t>(m.runs * m.run);
    const auto columns = static_cast<std::size_t>(m.columns);
    std::vector<int> teams_of_entry(rows * columns);
    std::vector<int> parts_of_row(rows * static_cast<std::size_t>(plan.parts()));
    for (const PassPart& part : parts(m, plan)) {
      EXPECT_LT(part.number, plan.parts());
      for (int index = part.begin(); part.is_row(index); ++index) {
        const auto row = static_cast<std::size_t>(part.first_row() + index);
        ASSERT_LT(row, rows);
        ++parts_of_row[row * static_cast<std::size_t>(plan.parts()) +
                       static_cast<std::size_t>(part.number)];
        for (std::int64_t c = 0; c < part.columns; ++c)
          ++teams_of_entry.at(row * columns +
                              static_cast<std::size_t>(part.first_column + c * part.step));
      }
    }
    EXPECT_EQ(teams_of_entry, std::vector<int>(teams_of_entry.size(), 1));
    EXPECT_EQ(parts_of_row, std::vector<int>(parts_of_row.size(), 1));
  }

  /// The rows of a team begin at a sector in each of its columns, except at the begin of a run.
  static void expect_sectors(const Matrix& m, const PassPlan& plan) {
    for (const PassPart& part : parts(m, plan)) {
      if (!part.has_rows() || part.begin() != 0) continue;
      for (std::int64_t c = 0; c < part.columns; ++c) {
        const auto place = address(m, part.first_row(), part.first_column + c * part.step);
        EXPECT_EQ(place % PassPlan::sector_bytes, 0u);
      }
    }
  }
};
using EntryTypes = ::testing::Types<std::uint16_t, float, double>;
TYPED_TEST_SUITE(PassPlans, EntryTypes);

constexpr std::array limits_of_plans{
    PassLimits{.panel_rows = 64, .tile_columns = 4, .columns_of_part = 8, .teams = 1},
    PassLimits{.panel_rows = 64,
               .tile_columns = 4,
               .columns_of_phase = 16,
               .columns_of_part = 8,
               .teams = 1000},
    PassLimits{.panel_rows = 128, .tile_columns = 96, .columns_of_phase = 1000, .teams = 100000}};

TYPED_TEST(PassPlans, EachEntryInOnePart) {
  for (const PassLimits& limits : limits_of_plans)
    for (const std::int64_t runs : {1, 3})
      for (const std::int64_t run : {2, 31, 32, 64, 65, 200})
        for (const std::int64_t columns : {1, 7, 64, 333})
          for (const std::int64_t gap : {0, 3})
            for (const std::int64_t offset : {0, 1, 5}) {
              const Matrix m{runs, run, columns, run + gap, offset};
              SCOPED_TRACE(::testing::Message() << runs << " x " << run << " rows of " << columns
                                                << " columns, gap " << gap << ", at " << offset);
              const PassPlan plan = TestFixture::plan(m, limits);
              TestFixture::expect_once(m, plan);
              TestFixture::expect_sectors(m, plan);
            }
}

// Columns at cache lines have one phase, and the number of parts follows from the teams.
TYPED_TEST(PassPlans, AsManyPartsAsTeamsNeed) {
  const Matrix m{1, 128, 4096, 128, 0};
  PassLimits limits{.panel_rows = 64, .tile_columns = 8, .columns_of_part = 64};
  limits.teams = 1;
  EXPECT_EQ(TestFixture::plan(m, limits).parts(), 1);
  limits.teams = 20;
  EXPECT_GE(TestFixture::plan(m, limits).teams(), limits.teams);
  EXPECT_LT(TestFixture::plan(m, limits).parts(), 16);
  limits.teams = 1 << 20;
  EXPECT_EQ(TestFixture::plan(m, limits).parts(), 4096 / 64);
}

// If panels and phases alone are more teams, each has one part.
TYPED_TEST(PassPlans, NoMoreTeamsThanAtMost) {
  for (const std::int64_t rows : {64, 128, 400}) {
    const Matrix m{1, rows, 100000, rows, 0};
    PassLimits limits{.panel_rows = 64, .tile_columns = 8, .are_teams_at_most = true};
    const std::int64_t fewest = TestFixture::plan(m, limits).teams();
    for (const std::int64_t most : {7, 20, 100, 528}) {
      limits.teams = most;
      const std::int64_t teams = TestFixture::plan(m, limits).teams();
      EXPECT_LE(teams, std::max(most, fewest));
      EXPECT_GT(3 * teams, most);
    }
  }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
