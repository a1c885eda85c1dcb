// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which team writes an entry if y is written in whole sectors.

#include <gtest/gtest.h>

#include <array>
#include <impl/KokkosSoftmax_RowProblem.hpp>
#include <map>
#include <row/SectorPanel.hpp>
#include <utility>
#include <vector>

namespace KokkosSoftmax::Test {
namespace {

/// `runs` times `neighbours` rows of a matrix whose columns are `column_stride` entries apart. y
/// begins `offset` entries after a sector.
template <class Y>
class SectorPanel : public ::testing::Test {
 protected:
  using Problem = KokkosSoftmax::Impl::RowProblem<Y, Y>;
  using Panel = KokkosSoftmax::Impl::SectorPanel<Y>;
  using Panels = KokkosSoftmax::Impl::SectorPanels<Y>;
  static constexpr int columns = 11;
  static constexpr int rows_of_team = 3 * Panels::sector;

  alignas(32) std::array<Y, 8192> x{}, y{};

  Problem problem(std::int64_t runs, std::int64_t neighbours, std::int64_t column_stride,
                  std::int64_t offset) {
    const std::int64_t run_stride = columns * column_stride;
    Problem p = {.x = x.data(),
                 .y = y.data() + offset,
                 .rows = runs * neighbours,
                 .columns = columns,
                 .x_column_stride = column_stride,
                 .y_column_stride = column_stride,
                 .outer_rank = runs == 1 ? 1 : 2};
    p.outer[0] = {runs, run_stride, run_stride};
    p.outer[p.outer_rank - 1] = {neighbours, 1, 1};
    return p;
  }

  /// The teams that write each entry (row after row), and those that write each row's numbers.
  struct Teams {
    std::vector<std::vector<int>> of_entry, of_row;
  };
  static Teams teams_of(const Problem& p) {
    const Panels panels(p, rows_of_team);
    Teams teams{std::vector<std::vector<int>>(static_cast<std::size_t>(p.rows * columns)),
                std::vector<std::vector<int>>(static_cast<std::size_t>(p.rows))};
    for (int team = 0; team < panels.teams(); ++team) {
      const Panel panel(panels, team, rows_of_team);
      EXPECT_LE(panel.rows(), rows_of_team);
      for (int index = 0; index < panel.rows(); ++index) {
        const std::int64_t r = panel.first_row() + index;
        EXPECT_LT(r, p.rows);
        if (panel.has_row(index)) teams.of_row[static_cast<std::size_t>(r)].push_back(team);
        for (int c = 0; c < columns; ++c) {
          const auto written = panel.written(entry(p, r, c), index);
          if (written.begin <= index && index < written.end)
            teams.of_entry[static_cast<std::size_t>(r * columns + c)].push_back(team);
        }
      }
    }
    return teams;
  }

  static Y* entry(const Problem& p, std::int64_t r, int c) {
    const std::int64_t neighbours = p.outer[p.outer_rank - 1].extent;
    const std::int64_t run = r / neighbours;
    return p.y + run * p.outer[0].y_stride * (p.outer_rank - 1) + (r - run * neighbours) +
           c * p.y_column_stride;
  }
};
using EntryTypes = ::testing::Types<float, double, short>;
TYPED_TEST_SUITE(SectorPanel, EntryTypes);

TYPED_TEST(SectorPanel, EachEntryAndEachRowHasOneTeam) {
  for (const auto& [runs, neighbours] :
       {std::pair{1, 200}, {1, 5}, {7, 13}, {40, 3}, {3, 64}, {2, 48}, {2, 49}, {1, 12}})
    for (const int gap : {0, 1, 4})
      for (const int offset : {0, 1, 3, 7})
        for (const bool in_place : {false, true}) {
          auto p = TestFixture::problem(runs, neighbours, neighbours + gap, offset);
          ASSERT_TRUE(TestFixture::Panels::serves(p));
          if (in_place) p.x = p.y;
          const auto teams = TestFixture::teams_of(p);
          for (const auto& of_one : teams.of_entry) ASSERT_EQ(of_one.size(), 1u);
          for (const auto& of_one : teams.of_row) ASSERT_EQ(of_one.size(), 1u);
        }
}

TYPED_TEST(SectorPanel, SectorsOfARunAreWrittenByOneTeam) {
  const auto p = TestFixture::problem(2, 150, 151, 1);
  const auto teams = TestFixture::teams_of(p);
  std::map<std::array<std::int64_t, 3>, int> team_of;  // of a run, a column and a sector
  for (std::int64_t r = 0; r < p.rows; ++r)
    for (int c = 0; c < TestFixture::columns; ++c) {
      const std::int64_t sector =
          (TestFixture::entry(p, r, c) - this->y.data()) / TestFixture::Panels::sector;
      const int team = teams.of_entry[static_cast<std::size_t>(r * TestFixture::columns + c)].at(0);
      const auto known = team_of.insert({{r / 150, c, sector}, team}).first;
      EXPECT_EQ(known->second, team) << "row " << r << ", column " << c;
    }
}

TYPED_TEST(SectorPanel, TeamsDontOverlapInPlace) {
  auto p = TestFixture::problem(1, 100, 101, 0);
  const int sector = 32 / static_cast<int>(sizeof(TypeParam));
  EXPECT_EQ((typename TestFixture::Panels(p, 128)).distance(), 128 - sector);
  p.x = p.y;
  EXPECT_EQ((typename TestFixture::Panels(p, 128)).distance(), 128);
}

TYPED_TEST(SectorPanel, ServesRowsThatAreNeighboursInBothArrays) {
  auto p = TestFixture::problem(3, 100, 101, 0);
  p.outer[1].y_stride = 2;
  EXPECT_FALSE(TestFixture::Panels::serves(p));
  p.outer[1] = {100, 2, 1};
  EXPECT_FALSE(TestFixture::Panels::serves(p));
}

}  // namespace
}  // namespace KokkosSoftmax::Test
