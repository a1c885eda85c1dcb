// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_VECTORROWS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_VECTORROWS_HPP

/// \file
/// The short rows of a vector's window. Their entries are dealt out to the lanes in whole chunks,
/// whatever the lengths of the rows are.

#include <op/RaggedOps.hpp>
#include <row/DealtEntries.hpp>
#include <schedules/ragged/DividedElement.hpp>
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

  /// Computes the short rows of the elements first, first + step, first + 2 step, ... of the list
  /// of windows. The next element is loaded during the computation.
  KOKKOS_FORCEINLINE_FUNCTION void compute(int first, int step) const {
    Layout& s = scratch();
    const auto& work = m_arguments.work;
    const auto count = static_cast<int>(work.count->vectors);
    if (first >= count) return;
    if (m_lane == 0) s.place = {first, count};
    Window window;
    window.load(work.vectors[first], m_lane);
    window.store(s.next_window, m_lane);
    Intrinsics::vector_barrier();
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    while (s.place.element < s.place.count) {
      window.load(s.next_window, m_lane);
      window.store(s.window, m_lane);
      Intrinsics::vector_barrier();
      compute_window(step);
      if (m_lane == 0) s.place.element += step;
      Intrinsics::vector_barrier();
    }
  }

  static std::size_t scratch_bytes() { return Words::shmem_size(words); }

 private:
  using Slots = typename Shape::Slots;
  using Batch = FlatBatch<Slots>;
  static_assert(Shape::most_rows_of_vector <= Batch::most_rows);
  using Window = DividedElement<RowsOfVector, lanes>;
  using Words = Kokkos::View<double*, typename Exec::scratch_memory_space,
                             Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  /// What a vector has in scratch memory.
  struct Layout {
    typename Op::OfRow of_row[Shape::most_rows_of_vector + 2];  // those of no rows first and last
    // These are here because registers are scarce.
    struct {
      int element;
      int count;
    } place;  // in the list of windows
    RowsOfVector window;
    RowsOfVector next_window;
    RowsOfVector batch;
    std::uint32_t heads[lanes];
    std::uint16_t rows[Shape::most_rows_of_vector];
  };
  static constexpr int words_of_vector =
      static_cast<int>((sizeof(Layout) + sizeof(double) - 1) / sizeof(double));
  static constexpr int words = Shape::OfVectors::threads * words_of_vector;

  KOKKOS_FORCEINLINE_FUNCTION Layout& scratch() const {
    return *reinterpret_cast<Layout*>(m_scratch);
  }

  /// Computes the short rows of the window, as many at one time as fit into scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION void compute_window(int step) const {
    Layout& s = scratch();
    RowsOfVector batch{0, 0, s.window.first_row, s.window.first_entry};
    bool is_last = false;
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    do {
      batch.first_row = batch.end_row;
      batch.first_entry = batch.end_entry;
      set_end(batch, s.window);
      if (m_lane == 0) s.batch = batch;
      compute_batch(batch, step);
      batch = s.batch;
      is_last = batch.end_row == s.window.end_row;
      Intrinsics::vector_barrier();
    } while (!is_last);
  }

  /// Ends a batch of rows: all that are left, except the last one if they don't fit. (All others
  /// have fewer entries than a window has positions, and so at most as many as there are slots, see
  /// slots_of().) There are only so many records of rows.
  KOKKOS_FORCEINLINE_FUNCTION void set_end(RowsOfVector& batch, const RowsOfVector& rows) const {
    batch.end_row = rows.end_row;
    batch.end_entry = rows.end_entry;
    const bool is_one_row = batch.end_row == batch.first_row + 1;
    if (!is_one_row && range_of(batch).end_slot > Slots::capacity) --batch.end_row;
    const std::int64_t most = batch.first_row + Shape::most_rows_of_vector;
    if (batch.end_row > most) batch.end_row = most;
    if (batch.end_row == rows.end_row) return;
    const LowerOffsets offset(m_arguments.problem.offset, batch.first_row);
    const std::uint32_t count =
        offset(static_cast<int>(batch.end_row - batch.first_row)) - offset(0);
    batch.end_entry = batch.first_entry + count;
  }

  /// Also loads the next element of the list, while it waits for the entries.
  KOKKOS_FORCEINLINE_FUNCTION void compute_batch(const RowsOfVector& rows, int step) const {
    Layout& s = scratch();
    int lane = m_lane;
    Intrinsics::make_opaque_each_time(lane);
    Window next;
    const int element = s.place.element + step;
    if (element < s.place.count) next.load(m_arguments.work.vectors[element], lane);
    T entries[Op::inputs][Slots::count];
    const Batch batch = loaded_batch(rows, entries, lane);
    next.store(s.next_window, lane);
    if constexpr (!Op::writes_entries) Op::write_empty_rows(m_arguments, rows, lane, lanes);
    Op::compute(m_arguments, batch, rows, entries, s.of_row + 1);
    Intrinsics::vector_barrier();
    if constexpr (Op::writes_entries)
      store_dealt<Slots>(entries[0], slots_of(s.batch), m_arguments.problem.y, lane);
  }

  /// Loads the entries, and finds their rows meanwhile.
  KOKKOS_FORCEINLINE_FUNCTION Batch loaded_batch(const RowsOfVector& rows,
                                                 T (&entries)[Op::inputs][Slots::count],
                                                 int lane) const {
    using Entries = DealtEntries<Slots, typename Op::Types::X>;
    const auto& problem = m_arguments.problem;
    const SlotRange range = slots_of(rows);
    const auto batch = [&] {
      const typename Batch::Scratch s{scratch().heads, scratch().rows};
      return Batch(problem.offset, rows, range.first_slot, range.end_slot, s, lane);
    };
    const Entries first(problem.x, range, lane, Op::padding(m_arguments));
    if constexpr (Op::inputs == 2) {
      const Entries second(problem.second, range, lane, {});
      const Batch made = batch();
      first.widen(entries[0]);
      second.widen(entries[1]);
      return made;
    } else {
      const Batch made = batch();
      first.widen(entries[0]);
      return made;
    }
  }

  KOKKOS_FORCEINLINE_FUNCTION SlotRange range_of(const RowsOfVector& rows) const {
    return SlotRange(m_arguments.problem.x, rows.first_entry,
                     static_cast<int>(rows.end_entry - rows.first_entry));
  }

  /// The slots of a batch. A row that fills its window may have too few slots behind those that its
  /// first chunk has before it. Then the first slot is that of its first entry.
  KOKKOS_FORCEINLINE_FUNCTION SlotRange slots_of(const RowsOfVector& rows) const {
    SlotRange range = range_of(rows);
    if (range.end_slot > Slots::capacity) range.move_to_front();
    return range;
  }

  const Arguments& m_arguments;
  int m_lane;
  double* m_scratch;
};

}  // namespace KokkosSoftmax::Impl

#endif
