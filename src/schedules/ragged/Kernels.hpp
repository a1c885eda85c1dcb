// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_KERNELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_KERNELS_HPP

/// \file
/// The kernels of ragged rows. The first one finds the windows (RaggedWindows) and lists their
/// rows (RaggedWork). The next ones compute the short rows, then the others.
/// Long rows are reduced in parts, whose states another kernel merges, and read again to write
/// their results.

#include <row/RaggedArgs.hpp>
#include <schedules/ragged/Shape.hpp>
#include <schedules/ragged/TeamRows.hpp>
#include <schedules/ragged/VectorRows.hpp>
#include <team/TeamOfRow.hpp>

namespace KokkosSoftmax::Impl {

/// Finds the windows, and lists their rows. Each lane has one window of a vector.
template <class Exec, class Op, class Shape>
class RaggedWindowsKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int windows_per_team = Shape::OfVectors::threads * Shape::lanes;

  std::int64_t first_team = 0;  // of this launch

  /// `windows`: the number of those of vectors
  RaggedWindowsKernel(const Arguments& arguments, std::int64_t windows)
      : m_arguments(arguments),
        m_windows(windows),
        m_of_vectors(arguments.problem.offset, arguments.problem.rows, Shape::vector_window),
        m_of_teams(arguments.problem.offset, arguments.problem.rows, Shape::window) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Shape::lanes;
    const int lane = lane_number<lanes>(member);
    const std::int64_t first_window =
        (first_team + member.league_rank()) * windows_per_team + member.team_rank() * lanes;
    const std::int64_t w = first_window + lane;
    const auto range =
        m_of_vectors.template rows_of<lanes>(first_window, first_window + lanes, lane);
    const std::int64_t first = m_of_vectors.first_row(w, range.first, range.end);
    std::int64_t end = Intrinsics::value_of_lane(first, lane + 1 < lanes ? lane + 1 : lane);
    if (lane + 1 == lanes) end = range.end;
    if (w % Shape::vector_windows == 0 && w < m_windows) list_continued_part(w, first - 1);
    // Only the last row of a window can be too long for a vector.
    if (end > first && m_of_teams.length(end - 1) > Shape::longest_of_vector) list_row(--end);
    const auto& offset = m_arguments.problem.offset;
    const bool has_rows = end > first;
    RowsOfVector rows{first, 0, end, 0};
    if (has_rows) {
      rows.first_entry = offset(first);
      rows.end_entry = offset(end);
    }
    m_arguments.work.add(rows, has_rows, lane);
  }

  static std::size_t scratch_bytes() { return 0; }

 private:
  /// Lists a row that is too long for a vector, or its part in the window in which it begins.
  KOKKOS_FORCEINLINE_FUNCTION void list_row(std::int64_t r) const {
    const auto& work = m_arguments.work;
    const auto& offset = m_arguments.problem.offset;
    if (m_of_teams.length(r) <= Shape::longest_of_team) {
      work.add(RowPart{r, offset(r), offset(r + 1)});
    } else {
      const std::int64_t window = m_of_teams.window_of(r);
      work.add(LongRow{r, window, window + m_of_teams.continuations(r)});
      work.add(LongRowPart{m_of_teams.begun_part(window, r), window, window});
    }
  }

  /// Lists the part of row r in the window of a team that begins with window w of a vector. Row r
  /// is the last one that begins before.
  KOKKOS_FORCEINLINE_FUNCTION void list_continued_part(std::int64_t w, std::int64_t r) const {
    if (r < 0 || m_of_teams.length(r) <= Shape::longest_of_team) return;
    const std::int64_t window = w / Shape::vector_windows;
    const RowPart part = m_of_teams.continued_part(window, r);
    if (part.begin < part.end)
      m_arguments.work.add(LongRowPart{part, window, m_of_teams.window_of(r)});
  }

  Arguments m_arguments;
  std::int64_t m_windows;
  RaggedWindows m_of_vectors;
  RaggedWindows m_of_teams;
};

/// Computes the short rows. Each vector works by itself.
template <class Exec, class Op, class Shape>
class RaggedVectorsKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  static constexpr int teams_per_resident_team = 4;

  explicit RaggedVectorsKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int vectors = Shape::OfVectors::threads;
    const VectorRows<Exec, Op, Shape> vector(member, m_arguments,
                                             lane_number<Shape::lanes>(member));
    const int first = member.league_rank() * vectors + member.team_rank();
    vector.compute(first, member.league_size() * vectors);
  }

  static std::size_t scratch_bytes() { return VectorRows<Exec, Op, Shape>::scratch_bytes(); }

 private:
  Arguments m_arguments;
};

/// Computes the rows of the list, and reduces the parts of long rows.
template <class Exec, class Op, class Shape>
class RaggedTeamsKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  static constexpr int teams_per_resident_team = 1;

  explicit RaggedTeamsKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const TeamRows<Exec, Op, Shape> team(member, m_arguments, lane_number<Shape::lanes>(member));
    const auto& work = m_arguments.work;
    team.for_each(
        work.count->rows, [&](std::int64_t i) -> const RowPart& { return work.rows[i]; },
        [&](const RowPart& row) { team.compute(row); });
    team.for_each(
        work.count->parts, [&](std::int64_t i) -> const LongRowPart& { return work.parts[i]; },
        [&](const LongRowPart& part) { team.reduce(part.part, work.state_of(part)); });
  }

  static std::size_t scratch_bytes() { return TeamRows<Exec, Op, Shape>::scratch_bytes(); }

 private:
  Arguments m_arguments;
};

/// Merges the states of the parts of each long row, always in the same order.
template <class Exec, class Op, class Shape>
class RaggedMergeKernel {
 public:
  using State = typename Op::State;
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Team = TeamOfRow<Exec, typename Op::T, Shape::OfTeams::threads, Shape::lanes>;

  static constexpr int teams_per_resident_team = 1;

  explicit RaggedMergeKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Team team(member, member.team_rank() * Shape::lanes + lane_number<Shape::lanes>(member));
    const auto& work = m_arguments.work;
    for (std::int64_t i = member.league_rank(); i < work.count->long_rows;
         i += member.league_size()) {
      const LongRow row = work.long_rows[i];
      const State state = merge_parts<State>(team, row.last - row.first + 1, [&](std::int64_t w) {
        return w == 0 ? work.of_begun[row.first] : work.of_continued[row.first + w];
      });
      if (team.number() == 0) {
        work.of_row[row.first] = state;
        Op::finish(m_arguments, row.row, state);
      }
      team.barrier();
    }
  }

  static std::size_t scratch_bytes() { return Team::scratch_bytes(); }

 private:
  Arguments m_arguments;
};

/// Writes the results of the parts of long rows. The last parts of the list come first: the cache
/// still has their entries.
template <class Exec, class Op, class Shape>
class RaggedWriteKernel {
 public:
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;

  static constexpr int teams_per_resident_team = 1;

  explicit RaggedWriteKernel(const Arguments& arguments) : m_arguments(arguments) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const TeamRows<Exec, Op, Shape> team(member, m_arguments, lane_number<Shape::lanes>(member));
    const auto& work = m_arguments.work;
    const std::int64_t count = work.count->parts;
    team.for_each(
        count, [&](std::int64_t i) -> const LongRowPart& { return work.parts[count - 1 - i]; },
        [&](const LongRowPart& part) { team.write(part.part, work.of_row[part.first_window]); });
  }

  static std::size_t scratch_bytes() { return TeamRows<Exec, Op, Shape>::scratch_bytes(); }

 private:
  Arguments m_arguments;
};

}  // namespace KokkosSoftmax::Impl

#endif
