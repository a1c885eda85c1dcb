// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_FLATBATCH_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_FLATBATCH_HPP

/// \file
/// Short rows as a vector of lanes computes them: the entries of all rows are one list, of which
/// each lane has a run of neighbouring entries, whatever rows they belong to. So the work per entry
/// is the same for rows of any lengths. A lane walks along its run, and begins anew at the first
/// entry of each row (a *head*). At the last entry of a row (a *tail*), it stores the row's result.
/// A row that is divided among lanes is put together by a scan over the lanes.

#include <Kokkos_BitManipulation.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <row/RaggedWork.hpp>
#include <team/Lanes.hpp>

namespace KokkosSoftmax::Impl {

/// The lower 32 bits of the offsets of rows from a first one on. They are enough for short rows,
/// and the code is the same for offsets of both types.
class LowerOffsets {
 public:
  KOKKOS_FORCEINLINE_FUNCTION LowerOffsets(const RowOffsets& offset, std::int64_t first_row)
      : m_offset(offset), m_first_row(first_row) {}

  KOKKOS_FORCEINLINE_FUNCTION std::uint32_t operator()(int i) const {
    KOKKOS_IF_ON_DEVICE(({
      const int log_bytes = m_offset.have_64_bits ? 3 : 2;
      const char* const first =
          static_cast<const char*>(m_offset.data) + (m_first_row << log_bytes);
      return *reinterpret_cast<const std::uint32_t*>(first + (i << log_bytes));
    }))
    KOKKOS_IF_ON_HOST((return static_cast<std::uint32_t>(m_offset(m_first_row + i));))
  }

 private:
  const RowOffsets& m_offset;
  std::int64_t m_first_row;
};

/// Where the slots of runs of 2^log_run slots are in scratch memory. There is a gap after each run,
/// so that lanes which access the same slot of their runs access different banks.
struct FlatPlaces {
  int log_run;

  KOKKOS_FORCEINLINE_FUNCTION int of(int slot) const { return slot + (slot >> log_run); }
  /// The number of places for `lanes` runs of the largest size.
  static constexpr int count(int lanes, int run) { return lanes * (run + 1); }
};

/// The rows in the runs of a vector's lanes. Rows without entries have no numbers here; the others
/// are numbered in their order. The slots before the first head belong to row -1, which is no row.
template <int lanes, int longest_run_>
class FlatBatch {
 public:
  static constexpr int longest_run = longest_run_;
  static constexpr int shortest_run = 8;
  static constexpr int capacity = lanes * longest_run;
  static_assert(longest_run <= 32, "there is a bit per slot");

  /// The scratch memory: a word per lane, and the number in the batch of each numbered row.
  struct Scratch {
    std::uint32_t* heads;
    std::uint16_t* row;
  };

  /// The runs of a batch of rows: short ones if it has few entries.
  KOKKOS_FORCEINLINE_FUNCTION static FlatPlaces places(int slots) {
    int run = shortest_run, log_run = 3;
    while (run < longest_run && lanes * run < slots) {
      run *= 2;
      ++log_run;
    }
    return {log_run};
  }

  /// Finds the rows of `rows`, whose entries are in slots first_slot to end_slot.
  KOKKOS_FORCEINLINE_FUNCTION FlatBatch(const RowOffsets& row_offset, const RowsOfVector& rows,
                                        const FlatPlaces& places, int first_slot, int end_slot,
                                        const Scratch& scratch, int lane)
      : m_scratch(scratch), m_lane(lane), m_log_run(places.log_run) {
    const LowerOffsets offset(row_offset, rows.first_row);
    const auto count = static_cast<int>(rows.end_row - rows.first_row);
    const std::uint32_t base = static_cast<std::uint32_t>(rows.first_entry) - first_slot;
    scratch.heads[lane] = 0;
    Intrinsics::vector_barrier();
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int first = 0; first < count; first += lanes) number_rows(offset, base, first, count);
    Intrinsics::vector_barrier();
    find_run(first_slot, end_slot);
  }

  /// The number in the batch, with rows without entries, of row r.
  KOKKOS_FORCEINLINE_FUNCTION int number(int r) const { return m_scratch.row[r]; }
  /// The row that the first slot of the run belongs to.
  KOKKOS_FORCEINLINE_FUNCTION int first_row() const { return m_first_row; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_head(int j) const { return (m_heads >> j & 1) != 0; }
  KOKKOS_FORCEINLINE_FUNCTION bool is_tail(int j) const { return (m_tails >> j & 1) != 0; }
  KOKKOS_FORCEINLINE_FUNCTION bool has_entry(int j) const { return (m_entries >> j & 1) != 0; }

  /// Calls f(j) for the slots of the run. The numbers are constants.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot(const F& f) const {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < longest_run; ++j) {
      if (j >= shortest_run && (j & (j - 1)) == 0 && j >> m_log_run != 0) break;
      f(j);
    }
  }
  /// The same, except that next() is called before f(j) if slot j > 0 is a head.
  template <class Next, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot_in_rows(const Next& next, const F& f) const {
    for_each_slot([&](int j) {
      if (j > 0 && is_head(j)) next();
      f(j);
    });
  }

  /// Combines the sums (or maxima) of rows that are divided among lanes. `open`: that of the slots
  /// since the last head of the run. of_row[r].sum has what the lane with the row's tail has found.
  template <class T, class OfRow, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION void join_lanes([[maybe_unused]] T open,
                                              [[maybe_unused]] OfRow* of_row,
                                              [[maybe_unused]] const Combine& combine) const {
    if constexpr (lanes > 1) {
      std::uint32_t has_head = m_heads != 0 ? 1 : 0;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int distance = 1; distance < lanes; distance *= 2) {
        const int from = m_lane >= distance ? m_lane - distance : m_lane;
        const T before = Intrinsics::value_of_lane(open, from);
        const std::uint32_t head_before = Intrinsics::value_of_lane(has_head, from);
        if (m_lane >= distance && has_head == 0) {
          open = combine(before, open);
          has_head = head_before;
        }
      }
      const T before = Intrinsics::value_of_lane(open, m_lane > 0 ? m_lane - 1 : 0);
      if (m_lane > 0 && !is_head(0) && m_tails != 0)
        of_row[m_first_row].sum = combine(before, of_row[m_first_row].sum);
    }
  }

  /// Calls f(r) for all numbered rows. Each lane has some of them.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_row(const F& f) const {
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int r = m_lane; r < m_rows; r += lanes) f(r);
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void number_rows(const LowerOffsets& offset, std::uint32_t base,
                                               int first, int count) {
    const int i = first + m_lane;
    bool has_entries = false;
    int begin = 0;
    if (i < count) {
      const std::uint32_t from = offset(i);
      has_entries = offset(i + 1) != from;
      begin = static_cast<int>(from - base);
    }
    const std::uint32_t those = Intrinsics::ballot(has_entries);
    if (has_entries) {
      const std::uint32_t before = those & ((std::uint32_t(1) << m_lane) - 1);
      m_scratch.row[m_rows + Kokkos::Experimental::popcount_builtin(before)] =
          static_cast<std::uint16_t>(i);
      Kokkos::atomic_or(&m_scratch.heads[begin >> m_log_run],
                        std::uint32_t(1) << (begin & ((1 << m_log_run) - 1)));
    }
    m_rows += Kokkos::Experimental::popcount_builtin(those);
  }

  /// The lowest `count` bits; none if it is negative.
  KOKKOS_FORCEINLINE_FUNCTION static std::uint32_t low_bits(int count) {
    return count <= 0 ? 0 : count >= 32 ? ~std::uint32_t(0) : (std::uint32_t(1) << count) - 1;
  }

  KOKKOS_FORCEINLINE_FUNCTION void find_run(int first_slot, int end_slot) {
    const int run = 1 << m_log_run;
    const int left = end_slot - m_lane * run;
    m_entries = low_bits(left < run ? left : run) & ~low_bits(first_slot - m_lane * run);
    m_heads = m_scratch.heads[m_lane];
    const std::uint32_t next =
        m_lane + 1 < lanes ? m_scratch.heads[m_lane + 1] & 1 : std::uint32_t(0);
    m_tails = m_heads >> 1 | next << (run - 1);
    if (left > 0 && left <= run) m_tails |= std::uint32_t(1) << (left - 1);
    int before = 0;
    if constexpr (lanes > 1) {
      int sum = Kokkos::Experimental::popcount_builtin(m_heads);
      const int own = sum;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int distance = 1; distance < lanes; distance *= 2) {
        const int other =
            Intrinsics::value_of_lane(sum, m_lane >= distance ? m_lane - distance : m_lane);
        if (m_lane >= distance) sum += other;
      }
      before = sum - own;
    }
    m_first_row = is_head(0) ? before : before - 1;
  }

  Scratch m_scratch;
  int m_lane;
  int m_log_run;
  int m_rows = 0;  // those that have entries
  int m_first_row;
  std::uint32_t m_entries;
  std::uint32_t m_heads;
  std::uint32_t m_tails;
};

}  // namespace KokkosSoftmax::Impl

#endif
