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

/// The lines (rows, or columns) along an axis, and how teams work on them: `group` lanes on a line.
struct BothAxesLines {
  std::int64_t count;
  std::int64_t teams;
  int group;

  /// \param states  of a line, at most
  BothAxesLines(std::int64_t count_, std::int64_t states, int lanes_of_team, int lanes_of_vector)
      : count(count_), group(1) {
    constexpr std::int64_t few = 8, many = 512;
    if (states > few) group = lanes_of_vector;
    if (states > many) group = lanes_of_team;
    teams = divide_up(count, lanes_of_team / group);
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
        rows(plan_.rows, plan_.panels, lanes_of_team, lanes),
        columns(plan_.columns, plan_.most_parts, lanes_of_team, lanes) {}

  std::int64_t teams() const { return rows.teams + columns.teams; }
  static std::size_t scratch_bytes() { return Shape::threads * sizeof(double) + alignof(double); }

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int number = member.team_rank() * lanes + lane_number<lanes>(member);
    auto* const of_threads = static_cast<double*>(
        member.team_scratch(0).get_shmem_aligned(Shape::threads * sizeof(double), alignof(double)));
    const bool is_row = member.league_rank() < rows.teams;
    const BothAxesLines& lines = is_row ? rows : columns;
    const std::int64_t team = is_row ? member.league_rank() : member.league_rank() - rows.teams;
    const std::int64_t line =
        team * (lanes_of_team / lines.group) + (lines.group == 1 ? number : number / lines.group);
    const States of_line = line >= lines.count ? States{nullptr, 0, 0}
                           : is_row            ? states_of_row(line)
                                               : states_of_column(line);
    const double lse =
        merged(member, of_line, lines.group, number % lines.group, number, of_threads);
    if (line >= lines.count || number % lines.group != 0) return;
    const auto& to = is_row ? problem.row_lse : problem.column_lse;
    to.data[line * to.stride] = static_cast<T>(lse);
  }

 private:
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
  KOKKOS_FORCEINLINE_FUNCTION double merged(const Member& member, const States& line, int group,
                                            int first, int number, double* of_threads) const {
    double max = -Kokkos::Experimental::infinity_v<double>;
    for (std::int64_t k = first; k < line.count; k += group)
      max = larger(max, static_cast<double>(line.first[k * line.stride].exponent));
    max = over_group<MaxEntry<double>>(member, max, group, number, of_threads,
                                       [](double a, double b) { return larger(a, b); });
    CompensatedSum<double> sum;
    for (std::int64_t k = first; k < line.count; k += group) {
      const BinaryState<T> state = line.first[k * line.stride];
      const double below = static_cast<double>(state.exponent) - max;
      const auto term = static_cast<double>(state.sum);
      sum.add(state.exponent == max ? term : term * Kokkos::exp2(below));
    }
    const double all = over_group<Kokkos::Sum<double>>(
        member, sum.value(), group, number, of_threads, [](double a, double b) { return a + b; });
    constexpr double ln2 = 0.69314718055994531;
    return max * ln2 + Kokkos::log(all);
  }

  template <class Reducer, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION double over_group(const Member& member, double value, int group,
                                                int number, double* of_threads,
                                                const Combine& combine) const {
    if (group == 1) return value;
    value = combine_over_lanes<lanes, Reducer>(member, value, combine);
    if (group == lanes) return value;
    member.team_barrier();
    if (number % lanes == 0) of_threads[number / lanes] = value;
    member.team_barrier();
    value = of_threads[0];
    for (int t = 1; t < Shape::threads; ++t) value = combine(value, of_threads[t]);
    return value;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
