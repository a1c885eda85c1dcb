// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests how the lanes of a team are assigned to the rows of a panel (neighbouring strided rows that
// a team works on at one time).

#include <gtest/gtest.h>

#include <schedules/split/Panel.hpp>

namespace KokkosSoftmax::Test {
namespace {

using KokkosSoftmax::Impl::make_panel;
using KokkosSoftmax::Impl::Panel;

Panel panel_of_floats(std::int64_t neighbours, bool contiguous) {
  return make_panel({.neighbours = neighbours,
                     .contiguous = contiguous,
                     .entry_bytes = 4,
                     .most_rows = 256,
                     .slots = 2048,
                     .max_teams = 132});
}

TEST(Panel, TakesContiguousRowsInWholeLines) {
  for (const std::int64_t neighbours : {2, 3, 5, 31, 64, 100}) {
    const Panel panel = panel_of_floats(neighbours, true);
    EXPECT_EQ(panel.rows, neighbours);
    EXPECT_EQ(panel.rows * panel.lanes_per_row * 4 % 128, 0) << neighbours;
  }
}

TEST(Panel, HasAllSharersWhereLinesWouldCostTooMany) {
  for (const std::int64_t neighbours : {33, 129}) {
    const Panel panel = panel_of_floats(neighbours, true);
    EXPECT_EQ(panel.rows, neighbours);
    EXPECT_EQ(panel.lanes_per_row, 2048 / neighbours);
  }
  EXPECT_EQ(panel_of_floats(3, false).lanes_per_row, 2048 / 3);
  EXPECT_EQ(panel_of_floats(300, true).lanes_per_row, 2048 / 152);  // 152 of 300 rows: not one run
}

TEST(Panel, DividesManyNeighboursAlike) {
  EXPECT_EQ(panel_of_floats(1024, true).rows, 128);
  EXPECT_EQ(panel_of_floats(1000, true).rows, 256);  // four panels of whole sectors (8 floats)
  EXPECT_EQ(panel_of_floats(300, true).rows, 152);
}

// There are about as many panels as teams. Smaller panels leave fewer teams idle.
TEST(Panel, OccupiesTheDevice) {
  for (const std::int64_t neighbours : {11521, 17001, 20001, 33793, 34001, 100001}) {
    const int rows = panel_of_floats(neighbours, false).rows;
    const std::int64_t panels = (neighbours + rows - 1) / rows;
    EXPECT_GT(KokkosSoftmax::Impl::occupied_by(panels, 132), 0.85) << neighbours << ": " << rows;
  }
}

TEST(Panel, FitsTheTeam) {
  for (const int most_rows : {1, 128, 256})
    for (const std::int64_t entry_bytes : {2, 4, 8})
      for (std::int64_t neighbours = 1; neighbours < 3000; ++neighbours)
        for (const bool contiguous : {false, true}) {
          const int slots = 2 * most_rows;
          const Panel panel =
              make_panel({neighbours, contiguous, entry_bytes, most_rows, slots, 132});
          ASSERT_GE(panel.rows, 1) << neighbours;
          ASSERT_LE(panel.rows, most_rows) << neighbours;
          ASSERT_GE(panel.lanes_per_row, 1) << neighbours;
          ASSERT_LE(panel.lanes_per_row * panel.rows, slots) << neighbours;
        }
}

}  // namespace
}  // namespace KokkosSoftmax::Test
