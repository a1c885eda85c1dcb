// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_KEPTCOLUMNS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_CLUSTER_KEPTCOLUMNS_HPP

#include <op/FinishRow.hpp>
#include <row/SharedInputsSource.hpp>
#include <schedules/cluster/ClusterMember.hpp>
#include <schedules/cluster/PrefetchedColumns.hpp>
#include <schedules/cluster/TileSegment.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
namespace KokkosSoftmax::Impl {

/// The work of a team of a cluster that works on many rows of a SharedInputsSource. The team has
/// the same columns of each of them. What the rows share stays in scratch memory, and the next row
/// is read while the cluster works on a row.
template <class Exec, class Op, class V, class Shape>
class KeptColumns {
  using Source = SharedInputsSource<V>;
  using Inputs = PrefetchedColumns<Source, TeamTile<Source, Shape>>;
  using Segment = TileSegment<Exec, Op, Source, Shape, Inputs>;
  using Row = typename Segment::Row;
  using State = typename Op::State;

 public:
  static constexpr std::size_t scratch_bytes() { return Inputs::scratch_bytes(); }

  KOKKOS_FORCEINLINE_FUNCTION KeptColumns(const GeneralArgs<V>& arguments,
                                          const ClusterMember& member, int chunks_per_team,
                                          int thread_id)
      : m_arguments(arguments),
        m_member(member),
        m_begin(std::int64_t(member.rank_in_cluster()) * chunks_per_team),
        m_chunks(chunks_per_team),
        m_thread_id(thread_id) {}

  /// Works on all rows of the cluster. `teams` merges the states of a row, see ClusterMerge.
  /// `scratch` is the team's memory, from a multiple of 16 bytes on.
  template <class Merge>
  KOKKOS_FORCEINLINE_FUNCTION void work(const Merge& teams, char* scratch) const {
    Segment segment(scratch, m_chunks);
    Inputs& inputs = segment.inputs();
    std::int64_t r = m_arguments.row_of_team(m_member);
    prefetch(inputs, r);
    inputs.image().fill(m_arguments, m_begin, m_thread_id);
    m_member.team_barrier();
    for (int turn = 0; r < m_arguments.problem.rows; r += m_member.league_size(), ++turn) {
      const Row row = part_of_row(r);
      const State mine = segment.load(m_arguments, row, m_begin, m_thread_id,
                                      [&] { prefetch(inputs, r + m_member.league_size()); });
      const State all = teams.merge(turn, mine);
      segment.store(m_arguments, row, m_begin, m_thread_id, all);
      if (m_member.rank_in_cluster() == 0 && m_thread_id == 0)
        finish_beside<Op>(m_arguments, r, all);
    }
  }

 private:
  /// Row r up to the last column of the team.
  KOKKOS_FORCEINLINE_FUNCTION Row part_of_row(std::int64_t r) const {
    Row row(m_arguments, r);
    row.end_at(m_begin + m_chunks);
    return row;
  }

  KOKKOS_FORCEINLINE_FUNCTION void prefetch(Inputs& inputs, std::int64_t r) const {
    if (r < m_arguments.problem.rows)
      inputs.prefetch(m_arguments, part_of_row(r), m_begin, m_thread_id);
  }

  const GeneralArgs<V>& m_arguments;
  const ClusterMember& m_member;
  std::int64_t m_begin;  // the number of the team's first chunk
  int m_chunks;
  int m_thread_id;
};

}  // namespace KokkosSoftmax::Impl
#endif

#endif
