// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_KERNELS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_KERNELS_HPP

/// \file
/// The kernels for ragged rows that are in lists (RaggedLists). One computes the short rows, the
/// next one the others. Long rows are reduced in parts, whose states another kernel merges, and
/// read again to write their results.

#include <row/RaggedArgs.hpp>
#include <schedules/ragged/Shape.hpp>
#include <schedules/ragged/TeamRows.hpp>
#include <schedules/ragged/VectorRows.hpp>
#include <team/TeamOfRow.hpp>

namespace KokkosSoftmax::Impl {

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
///
/// \tparam Finish  see op/RaggedOps.hpp
template <class Exec, class T, class State, class Finish, int threads, int lanes>
class RaggedMergeKernel {
 public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Team = TeamOfRow<Exec, T, threads, lanes>;

  static constexpr int teams_per_resident_team = 1;

  RaggedMergeKernel(const RaggedWork<State>& work, const Finish& finish)
      : m_work(work), m_finish(finish) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const Team team(member, member.team_rank() * lanes + lane_number<lanes>(member));
    for (std::int64_t i = member.league_rank(); i < m_work.count->long_rows;
         i += member.league_size()) {
      const LongRow row = m_work.long_rows[i];
      const State state = merge_parts<State>(team, row.last - row.first + 1, [&](std::int64_t w) {
        return w == 0 ? m_work.of_begun[row.first] : m_work.of_continued[row.first + w];
      });
      if (team.number() == 0) {
        m_work.of_row[row.first] = state;
        m_finish(row.row, state);
      }
      team.barrier();
    }
  }

  static std::size_t scratch_bytes() { return Team::scratch_bytes(); }

 private:
  RaggedWork<State> m_work;
  Finish m_finish;
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
