// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_CLUSTERKERNEL_HPP

#include <backend/DivideUp.hpp>
#include <op/FillMasked.hpp>
#include <schedules/cluster/AsyncSegment.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/ClusterMerge.hpp>
#include <schedules/cluster/ClusterPlan.hpp>
#include <schedules/cluster/KeptColumns.hpp>
#include <schedules/cluster/TileSegment.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Holds a row in the registers and the shared memory of the teams of a cluster. Each team holds
/// its segment and sends its state to all other teams. For CUDA only.
template <class Exec, class Op, class Source, class Shape>
struct ClusterKernel;

#if defined(KOKKOS_ENABLE_CUDA)
template <class Exec, class Op, class Source, class Shape>
struct ClusterKernel {
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Share = std::conditional_t<has_row<Source>, TileSegment<Exec, Op, Source, Shape>,
                                   AsyncSegment<Exec, Op, Source, Shape>>;
  using Row = typename Share::Row;
  using State = typename Op::State;
  static constexpr int team_lanes = Shape::threads * Shape::lanes;
  static constexpr int min_teams = Shape::min_teams;  // per multiprocessor
  static constexpr double comfortable_part = Share::comfortable_part;
  static constexpr double roomy_part = Share::roomy_part;
  static constexpr int rows_per_team = 1;
  /// Whether the teams can keep what rows share, see keep_columns(). Small tiles gain nothing. With
  /// results of another type, the kernel would spill registers.
  static constexpr bool can_keep_columns =
      stages_biases<Source> && Shape::items * Shape::width > 16 && !output_is_wider<V>;
  using Merge = ClusterMerge<Exec, State, Shape, can_keep_columns ? 2 : 1>;
  static constexpr int max_teams = Merge::max_teams;

  ArgumentsOf<Source> arguments;
  int chunks_per_team;
  bool keeps_columns = false;

  KOKKOS_FORCEINLINE_FUNCTION void operator()(const ClusterMember& member) const {
    const int lane = lane_number<Shape::lanes>(member);
    const int thread_id = member.team_rank() * Shape::lanes + lane;
    const Merge teams(member, lane);
    if constexpr (can_keep_columns)
      if (keeps_columns)
        return ColumnsKept(arguments, member, chunks_per_team, thread_id)
            .work(teams, share(member));
    work_on_row(member, teams, thread_id, arguments.row_of_team(member));
  }

  /// Each cluster works on many rows, and its teams keep what the rows share in scratch memory, see
  /// KeptColumns. The arguments must say that rows share their columns.
  void keep_columns() { keeps_columns = true; }

  std::size_t scratch_bytes() const {
    if constexpr (can_keep_columns)
      if (keeps_columns) return place_of_share + ColumnsKept::scratch_bytes();
    if constexpr (has_row<Source>)
      return place_of_share + Share::scratch_bytes(arguments);
    else
      return place_of_share + Share::scratch_bytes(chunks_per_team);
  }
  /// The largest number of chunks of a segment, if the team has `scratch` bytes of scratch memory.
  static std::int64_t most_chunks(int scratch) {
    return Share::most_chunks(static_cast<std::size_t>(scratch) - place_of_share);
  }

  static ClusterProblem problem(std::int64_t columns) {
    const std::int64_t chunks = divide_up(columns, Shape::width);
    return {.row_chunks = chunks > 0 ? chunks : 1, .chunk_bytes = chunk_bytes};
  }

 private:
  using ColumnsKept = KeptColumns<Exec, Op, V, Shape>;
  static constexpr int chunk_bytes = Shape::width * static_cast<int>(sizeof(typename V::X));
  static constexpr std::size_t place_of_share = Merge::scratch_bytes;

  KOKKOS_FORCEINLINE_FUNCTION static char* share(const ClusterMember& member) {
    return member.scratch() + place_of_share;
  }

  KOKKOS_FORCEINLINE_FUNCTION void work_on_row(const ClusterMember& member, const Merge& teams,
                                               int thread_id, std::int64_t r) const {
    Row row(arguments, r);
    const int chunks = chunks_of_team(member, row);
    const std::int64_t begin = std::int64_t(member.rank_in_cluster()) * chunks;
    row.end_at(begin + chunks);
    Share segment(share(member), chunks_per_team);
    const State all = teams.merge(0, segment.load(arguments, row, begin, thread_id));
    segment.store(arguments, row, begin, thread_id, all);
    if constexpr (limits_rows<Source>)
      fill_masked<Op>(arguments, row, all, member.rank_in_cluster() * team_lanes + thread_id,
                      member.cluster_size() * team_lanes);
    if (member.rank_in_cluster() == 0 && thread_id == 0) finish_beside<Op>(arguments, r, all);
  }

  /// The number of chunks of a segment. Rows of different numbers of columns are divided anew,
  /// so that all teams of the cluster have work.
  KOKKOS_FORCEINLINE_FUNCTION int chunks_of_team([[maybe_unused]] const ClusterMember& member,
                                                 [[maybe_unused]] const Row& row) const {
    if constexpr (limits_rows<Source>) {
      constexpr int line = static_cast<int>(cache_line) / chunk_bytes;
      const int teams = member.cluster_size();
      const int chunks = row.chunks > 0 ? static_cast<int>(row.chunks) : 1;
      return divide_up(divide_up(chunks, line), teams) * line;
    } else {
      return chunks_per_team;
    }
  }
};
#endif

}  // namespace KokkosSoftmax::Impl

#endif
