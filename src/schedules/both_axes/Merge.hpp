// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_MERGE_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_BOTH_AXES_MERGE_HPP

/// \file
/// The kernel that merges the states of a row's panels, and those of a column's parts, in an order
/// that depends on their numbers alone. It writes the results.

#include <impl/device/numerics/KokkosSoftmax_CompensatedSum.hpp>
#include <schedules/both_axes/Plan.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// Who merges the states of a line (a row, or a column).
enum class MergedBy {
  lane,     ///< each lane has a line
  threads,  ///< a lane of each thread of a team: lanes of a thread have neighbouring lines
  team      ///< all lanes of a team
};

/// The lines along an axis, and how teams work on them.
struct BothAxesLines {
  std::int64_t count;
  std::int64_t teams;
  MergedBy by;

  /// \param states  of a line, at most
  BothAxesLines(std::int64_t count_, std::int64_t states, int lanes_of_vector, int lanes_of_team)
      : count(count_) {
    constexpr std::int64_t few = 4, many = 512;
    by = states <= few ? MergedBy::lane : states <= many ? MergedBy::threads : MergedBy::team;
    const int lines_of_team = by == MergedBy::lane      ? lanes_of_team
                              : by == MergedBy::threads ? lanes_of_vector
                                                        : 1;
    teams = divide_up(count, lines_of_team);
  }
};

template <class Exec, class V, class Shape_>
struct BothAxesMergeKernel {
  using Shape = Shape_;
  using X = typename V::X;
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = Shape::lanes;
  static constexpr int lanes_of_team = Shape::threads * lanes;

  BothAxesProblem<X> problem;
  BothAxesPlan plan;
  BothAxesStates<T> states;
  std::int64_t panel_columns;
  BothAxesLines rows;
  BothAxesLines columns;

  BothAxesMergeKernel(const BothAxesProblem<X>& problem_, const BothAxesPlan& plan_,
                      const BothAxesStates<T>& states_, std::int64_t panel_columns_)
      : problem(problem_),
        plan(plan_),
        states(states_),
        panel_columns(panel_columns_),
        rows(plan_.rows, plan_.panels, lanes, lanes_of_team),
        columns(plan_.columns, plan_.most_parts, lanes, lanes_of_team) {}

  std::int64_t teams() const { return rows.teams + columns.teams; }
  static std::size_t scratch_bytes() { return lanes_of_team * sizeof(double) + alignof(double); }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const bool is_row = member.league_rank() < rows.teams;
    const BothAxesLines& lines = is_row ? rows : columns;
    const std::int64_t team = is_row ? member.league_rank() : member.league_rank() - rows.teams;
    const Assignment assigned(member, lines.by, team);
    const States of_line = assigned.line >= lines.count ? States{nullptr, 0, 0}
                           : is_row                     ? states_of_row(assigned.line)
                                                        : states_of_column(assigned.line);
    const double lse = merged(member, of_line, assigned);
    if (assigned.line >= lines.count || assigned.first != 0) return;
    if (is_row)
      problem.of_rows[assigned.line * problem.of_rows_stride] = static_cast<T>(lse);
    else
      problem.of_columns[assigned.line * problem.of_columns_stride] = static_cast<T>(lse);
  }

 private:
  /// What a lane works on: states first, first + step, ... of a line.
  struct Assignment {
    MergedBy by;
    int thread;
    int lane;
    std::int64_t line;
    int first;
    int step;
    double* numbers;  // in scratch memory, one per lane of the team

    KOKKOS_FORCEINLINE_FUNCTION Assignment(const Member& member, MergedBy by_, std::int64_t team)
        : by(by_), thread(member.team_rank()), lane(lane_number<lanes>(member)) {
      const int number = thread * lanes + lane;
      const bool is_lane = by == MergedBy::lane, is_team = by == MergedBy::team;
      line = is_lane ? team * lanes_of_team + number : is_team ? team : team * lanes + lane;
      first = is_lane ? 0 : is_team ? number : thread;
      step = is_lane ? 1 : is_team ? lanes_of_team : Shape::threads;
      numbers = static_cast<double*>(member.team_scratch(0).get_shmem_aligned(
          lanes_of_team * sizeof(double), alignof(double)));
    }
  };

  struct States {
    const BinaryState<T>* first;
    std::int64_t stride;
    std::int64_t count;
  };

  KOKKOS_FORCEINLINE_FUNCTION States states_of_row(std::int64_t row) const {
    return {states.of_rows + row, plan.rows, plan.panels};
  }
  KOKKOS_FORCEINLINE_FUNCTION States states_of_column(std::int64_t column) const {
    return {states.of_columns + column, plan.columns,
            plan.parts(column / panel_columns / plan.across)};
  }

  /// The log-sum-exp of a line. The first pass finds the reference, so that no sum is multiplied
  /// more than once.
  KOKKOS_FORCEINLINE_FUNCTION double merged(const Member& member, const States& line,
                                            const Assignment& assigned) const {
    double max = -Kokkos::Experimental::infinity_v<double>;
    for (std::int64_t k = assigned.first; k < line.count; k += assigned.step)
      max = larger(max, static_cast<double>(line.first[k * line.stride].exponent));
    max = over_line<MaxEntry<double>>(member, max, assigned,
                                      [](double a, double b) { return larger(a, b); });
    CompensatedSum<double> sum;
    for (std::int64_t k = assigned.first; k < line.count; k += assigned.step) {
      const BinaryState<T> state = line.first[k * line.stride];
      const double below = static_cast<double>(state.exponent) - max;
      const auto term = static_cast<double>(state.sum);
      sum.add(state.exponent == max ? term : term * Kokkos::exp2(below));
    }
    const double all = over_line<Kokkos::Sum<double>>(member, sum.value(), assigned,
                                                      [](double a, double b) { return a + b; });
    return BinaryState<T>::log_of(max) + Kokkos::log(all);
  }

  /// Combines the values of all lanes that work on a line, in the order of their numbers.
  template <class Reducer, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION double over_line(const Member& member, double value,
                                               const Assignment& assigned,
                                               const Combine& combine) const {
    if (assigned.by == MergedBy::lane) return value;
    const bool is_team = assigned.by == MergedBy::team;
    if (is_team) value = combine_over_lanes<lanes, Reducer>(member, value, combine);
    member.team_barrier();  // the numbers of the last call have been read
    assigned.numbers[assigned.thread * lanes + assigned.lane] = value;
    member.team_barrier();
    value = assigned.numbers[assigned.lane];
    for (int t = 1; t < Shape::threads; ++t)
      value = combine(value, assigned.numbers[t * lanes + assigned.lane]);
    return value;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
