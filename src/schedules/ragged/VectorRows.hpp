// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_VECTORROWS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_VECTORROWS_HPP

/// \file
/// The short rows of a vector's window. Their entries are moved to scratch memory first, and the
/// results back at the end, so that memory is accessed in whole chunks whatever the lengths of the
/// rows are.

#include <op/RaggedOps.hpp>
#include <row/StagedEntries.hpp>
#include <schedules/ragged/FlatBatch.hpp>

namespace KokkosSoftmax::Impl {

/// The windows of one vector. All lanes of the vector call compute() together.
template <class Exec, class Op, class Shape>
class VectorRows {
 public:
  using T = typename Op::T;
  using Arguments = typename Op::Arguments;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int lanes = Shape::lanes;

  KOKKOS_FORCEINLINE_FUNCTION VectorRows(const Member& member, const Arguments& arguments, int lane)
      : m_arguments(arguments),
        m_lane(lane),
        m_scratch(Words(member.team_scratch(0), words).data() +
                  member.team_rank() * words_of_vector) {}

  /// Computes the short rows of a window, as many at one time as fit into scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION void compute(const RowsOfVector& rows) const {
    RowsOfVector batch{rows.first_row, rows.first_entry, rows.first_row, rows.first_entry};
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    while (batch.end_row < rows.end_row) {
      batch.first_row = batch.end_row;
      batch.first_entry = batch.end_entry;
      set_end(batch, rows);
      compute_batch(batch);
    }
  }

  static std::size_t scratch_bytes() { return Words::shmem_size(words); }

 private:
  using Batch = FlatBatch<lanes, Shape::run>;
  using Words = Kokkos::View<double*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// What a vector has in scratch memory.
  struct Layout {
    T entries[Op::inputs][FlatPlaces::count(lanes, Shape::run)];
    typename Op::OfRow of_row[Shape::most_rows_of_vector + 1];  // the first one is that of no row
    std::uint32_t heads[lanes];
    std::uint16_t rows[Shape::most_rows_of_vector];
  };
  static constexpr int words_of_vector =
      static_cast<int>((sizeof(Layout) + sizeof(double) - 1) / sizeof(double));
  static constexpr int words = Shape::OfVectors::threads * words_of_vector;

  KOKKOS_FORCEINLINE_FUNCTION Layout& scratch() const {
    return *reinterpret_cast<Layout*>(m_scratch);
  }

  /// Ends a batch of rows: all that are left, except the last one if they don't fit. (All others
  /// have fewer entries than a window has positions, and so at most as many as there are slots, see
  /// slots_of().) There are only so many records of rows.
  KOKKOS_FORCEINLINE_FUNCTION void set_end(RowsOfVector& batch, const RowsOfVector& rows) const {
    batch.end_row = rows.end_row;
    batch.end_entry = rows.end_entry;
    const bool is_one_row = batch.end_row == batch.first_row + 1;
    if (!is_one_row && range_of(batch).end_slot() > Batch::capacity) --batch.end_row;
    const std::int64_t most = batch.first_row + Shape::most_rows_of_vector;
    if (batch.end_row > most) batch.end_row = most;
    if (batch.end_row == rows.end_row) return;
    const LowerOffsets offset(m_arguments.problem.offset, batch.first_row);
    const std::uint32_t count =
        offset(static_cast<int>(batch.end_row - batch.first_row)) - offset(0);
    batch.end_entry = batch.first_entry + count;
  }

  KOKKOS_FORCEINLINE_FUNCTION void compute_batch(const RowsOfVector& rows) const {
    const auto& problem = m_arguments.problem;
    Layout& s = scratch();
    const StagedRange range = slots_of(rows);
    const FlatPlaces places = Batch::places(range.end_slot());
    stage_in<lanes>(problem.x, range, s.entries[0], places, m_lane,
                    [&](T x) { return Op::stage(m_arguments, x); });
    if constexpr (Op::inputs == 2)
      stage_in<lanes>(problem.second, range, s.entries[1], places, m_lane, [](T x) { return x; });
    const Batch batch(problem.offset, rows, places, range.first_slot(), range.end_slot(),
                      {s.heads, s.rows}, m_lane);
    if constexpr (!Op::writes_entries) Op::write_empty_rows(m_arguments, rows, m_lane, lanes);
    const int first = places.of(m_lane << places.log_run);
    Op::compute_run(m_arguments, batch, rows,
                    FlatRun<T, typename Op::OfRow, FlatPlaces>{
                        s.entries[0] + first, s.entries[Op::inputs - 1] + first, s.of_row + 1,
                        s.entries[0], places, range.first_slot()});
    Intrinsics::vector_barrier();
    if constexpr (Op::writes_entries) {
      stage_out<lanes>(s.entries[0], range, places, problem.y, m_lane);
      Intrinsics::vector_barrier();
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION StagedRange range_of(const RowsOfVector& rows) const {
    return StagedRange::of(m_arguments.problem.x, rows.first_entry, rows.end_entry);
  }

  /// The slots of a batch. A row that fills its window may have too few slots behind those that its
  /// first chunk has before it. Then the first slot is that of its first entry.
  KOKKOS_FORCEINLINE_FUNCTION StagedRange slots_of(const RowsOfVector& rows) const {
    StagedRange range = range_of(rows);
    if (range.end_slot() > Batch::capacity) range.base = range.begin;
    return range;
  }

  const Arguments& m_arguments;
  int m_lane;
  double* m_scratch;
};

}  // namespace KokkosSoftmax::Impl

#endif
