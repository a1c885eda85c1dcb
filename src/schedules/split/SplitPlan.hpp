// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLITPLAN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_SPLIT_SPLITPLAN_HPP

#include <cstdint>
#include <schedules/split/Panel.hpp>

namespace KokkosSoftmax::Impl {

/// How a launch is divided. Group g consists of the teams [g * teams_per_row, (g + 1) *
/// teams_per_row) of the league. It works on the rows g, g + groups, ... first and then on rows
/// that it claims.
struct SplitPlan {
  int groups = 1;
  int teams_per_row = 1;
  Panel panel;                       // what a team works on at one time
  std::int64_t chunks_per_team = 0;  // of a row, if the group is complete
  std::uint32_t rows = 1;
  std::uint32_t poll_limit = 0;  // polls after which a group is closed
};

}  // namespace KokkosSoftmax::Impl

#endif
