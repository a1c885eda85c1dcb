// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_FLATBATCH_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_FLATBATCH_HPP

/// \file
/// Short rows as a vector of lanes computes them: the entries of all rows are one list, whose
/// pieces are dealt out to the lanes (DealtSlots), whatever rows they belong to. So the work per
/// entry is the same for rows of any lengths. A lane walks along its pieces, and begins anew at the
/// first entry of each row (a *head*). At the last entry of a row (a *tail*), it stores the row's
/// result. A row that is divided among pieces is put together by a scan over the lanes.

#include <Kokkos_BitManipulation.hpp>
#include <impl/device/backend/KokkosSoftmax_Unroll.hpp>
#include <op/SharedReference.hpp>
#include <row/DealtEntries.hpp>
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

/// The rows in the pieces of a vector's lanes. Rows without entries have no numbers here; the
/// others are numbered in their order. The slots before the first row belong to row -1, and those
/// after the last row to one more. These two are no rows. Arrays have places for them, whose
/// content isn't used.
template <class Slots_>
class FlatBatch {
 public:
  using Slots = Slots_;
  static constexpr int lanes = Slots::lanes;
  static constexpr int piece = Slots::piece;
  static_assert(Slots::count <= 32, "there is a bit per slot");
  static constexpr int most_rows = 254;  ///< rows are counted in bytes, see count_heads_before()

  /// The scratch memory: a word per lane, and the number in the batch of each numbered row.
  struct Scratch {
    std::uint32_t* heads;
    std::uint16_t* row;
  };

  /// Finds the rows of `rows`, whose entries are in slots first_slot to end_slot.
  KOKKOS_FORCEINLINE_FUNCTION FlatBatch(const RowOffsets& row_offset, const RowsOfVector& rows,
                                        int first_slot, int end_slot, const Scratch& scratch,
                                        int lane)
      : m_scratch(scratch), m_lane(lane), m_end_slot(end_slot) {
    const LowerOffsets offset(row_offset, rows.first_row);
    const auto count = static_cast<int>(rows.end_row - rows.first_row);
    const std::uint32_t base = static_cast<std::uint32_t>(rows.first_entry) - first_slot;
    scratch.heads[lane] = 0;
    Intrinsics::vector_barrier();
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int first = 0; first < count; first += lanes) number_rows(offset, base, first, count);
    if (lane == 0 && end_slot < Slots::capacity) add_head(end_slot);
    Intrinsics::vector_barrier();
    m_heads = scratch.heads[lane];
    find_ends();
    count_heads_before();
  }

  /// The number in the batch, with rows without entries, of row r.
  KOKKOS_FORCEINLINE_FUNCTION int number(int r) const { return m_scratch.row[r]; }

  /// Calls f(r) for all numbered rows. Each lane has some of them.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_row(const F& f) const {
    KOKKOSSOFTMAX_IMPL_NO_UNROLL
    for (int r = m_lane; r < m_rows; r += lanes) f(r);
  }

  /// The shared reference of the values of all lanes.
  template <class T>
  KOKKOS_FORCEINLINE_FUNCTION SharedReference<T> shared_reference(
      const T (&value)[Slots::count]) const {
    ValueRange<T> range;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int j = 0; j < Slots::count; ++j) range.add(value[j]);
    if constexpr (lanes > 1 && Intrinsics::has_shuffles)
      for (int distance = lanes / 2; distance > 0; distance /= 2)
        range.add(range.of([&](T v) { return Intrinsics::shuffle_xor(v, distance); }));
    return SharedReference<T>(range);
  }

  /// Calls f(j) for the lane's slots in order, and enter(row) before the first slot of each row in
  /// each piece, for the row's element of of_row. The numbers j are constants. All lanes call it
  /// together.
  template <class OfRow, class Enter, class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_slot(OfRow* of_row, const Enter& enter,
                                                 const F& f) const {
    for_each_piece([&](int p, int before) {
      OfRow* row = of_row + before;
      enter(*row);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = p * piece; j < (p + 1) * piece; ++j) {
        if (is_head(j)) enter(*++row);
        f(j);
      }
    });
  }

  /// Reduces all rows: of_row[r].sum gets the sum (or the maximum) of row r. `neutral` is that of
  /// no entries, add(part, j) adds slot j to that of a part of its row, and combine(a, b) joins two
  /// parts. enter(row) is called before, as by for_each_slot().
  template <class T, class OfRow, class Enter, class Add, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION void reduce(T neutral, OfRow* of_row, const Enter& enter,
                                          const Add& add, const Combine& combine) const {
    T carry = neutral;  // that of the row which earlier pieces of all lanes leave open
    for_each_piece([&](int p, int before) {
      OfRow* row = of_row + before;
      T open = neutral;
      enter(*row);
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int j = p * piece; j < (p + 1) * piece; ++j) {
        if (is_head(j)) {
          if (j > p * piece) row->sum = open;
          enter(*++row);
          open = neutral;
        }
        open = add(open, j);
      }
      if (row_ends_with(p)) row->sum = open;
      const T part = join_lanes(p, open, carry, combine);
      const bool has_end = (m_heads & of_piece(p)) != 0 || row_ends_with(p);
      if (!is_head(p * piece) && has_end) of_row[before].sum = combine(part, of_row[before].sum);
    });
  }

 private:
  /// The bits of piece p.
  KOKKOS_FORCEINLINE_FUNCTION static constexpr std::uint32_t of_piece(int p) {
    return ((std::uint32_t(1) << piece) - 1) << p * piece;
  }
  KOKKOS_FORCEINLINE_FUNCTION bool is_head(int j) const { return (m_heads >> j & 1) != 0; }
  /// Whether a row ends with the last slot of piece p.
  KOKKOS_FORCEINLINE_FUNCTION bool row_ends_with(int p) const {
    return (m_ends >> p * piece & 1) != 0;
  }

  /// Calls f(p, r) for the lane's pieces, where r is the row of the slot before the piece.
  template <class F>
  KOKKOS_FORCEINLINE_FUNCTION void for_each_piece(const F& f) const {
    int row = -1;
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int p = 0; p < Slots::pieces; ++p) {
      if (p * Slots::of_round >= m_end_slot) break;
      const int word = p / 4, shift = p % 4 * 8;
      f(p, row + static_cast<int>(m_heads_before[word] >> shift & 0xff));
      row += static_cast<int>(m_heads_of_all[word] >> shift & 0xff);
    }
  }

  /// Joins the part of a row that each lane has left open in piece p with those of the lanes
  /// before. Returns the part before the lane's piece. `carry` becomes that of the next pieces.
  template <class T, class Combine>
  KOKKOS_FORCEINLINE_FUNCTION T join_lanes(int p, T open, T& carry, const Combine& combine) const {
    const bool has_head = (m_heads & of_piece(p)) != 0;
    if constexpr (lanes == 1) {
      const T before = carry;
      carry = has_head ? open : combine(before, open);
      return before;
    } else {
      const std::uint32_t up_to_this_lane = (std::uint32_t(2) << m_lane) - 1;
      const std::uint32_t with_head = Intrinsics::ballot(has_head) & up_to_this_lane;
      const int first_lane =
          with_head == 0 ? 0 : 31 - Kokkos::Experimental::countl_zero_builtin(with_head);
      const int lanes_before = m_lane - first_lane;  // that have a part of the open row
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int distance = 1; distance < lanes; distance *= 2) {
        const T other = Intrinsics::value_of_lane_before(open, distance);
        if (lanes_before >= distance) open = combine(other, open);
      }
      if (with_head == 0) open = combine(carry, open);
      const T before = Intrinsics::value_of_lane_before(open, 1);
      const T of_first_lane = carry;
      carry = Intrinsics::value_of_lane(open, lanes - 1);
      return m_lane == 0 ? of_first_lane : before;
    }
  }

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
      add_head(begin);
    }
    m_rows += Kokkos::Experimental::popcount_builtin(those);
  }

  KOKKOS_FORCEINLINE_FUNCTION void add_head(int slot) const {
    Kokkos::atomic_or(&m_scratch.heads[Slots::lane_of(slot)], std::uint32_t(1)
                                                                  << Slots::number_of(slot));
  }

  /// The slot after a piece is in the next lane. After that of the last lane, it is in the next
  /// piece of the first one.
  KOKKOS_FORCEINLINE_FUNCTION void find_ends() {
    constexpr std::uint32_t first_slots = [] {
      std::uint32_t bits = 0;
      for (int p = 0; p < Slots::pieces; ++p) bits |= std::uint32_t(1) << p * piece;
      return bits;
    }();
    const bool is_last_lane = m_lane + 1 == lanes;
    m_ends = m_scratch.heads[is_last_lane ? 0 : m_lane + 1];
    if (is_last_lane) {
      m_ends = Slots::count > piece ? m_ends >> piece : 0;
      if (m_end_slot == Slots::capacity) m_ends |= std::uint32_t(1) << (Slots::count - piece);
    }
    m_ends &= first_slots;
  }

  /// For each piece of the lane, the number of heads in those of the lanes before, and in those of
  /// all lanes: a byte per piece.
  KOKKOS_FORCEINLINE_FUNCTION void count_heads_before() {
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int word = 0; word < words; ++word) {
      std::uint32_t own = 0;
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < 4; ++i) {
        const int p = word * 4 + i;
        if (p < Slots::pieces)
          own |= static_cast<std::uint32_t>(
                     Kokkos::Experimental::popcount_builtin(m_heads & of_piece(p)))
                 << i * 8;
      }
      std::uint32_t sum = own;
      if constexpr (lanes > 1) {
        KOKKOSSOFTMAX_IMPL_UNROLL
        for (int distance = 1; distance < lanes; distance *= 2) {
          const std::uint32_t other = Intrinsics::value_of_lane_before(sum, distance);
          if (m_lane >= distance) sum += other;
        }
      }
      m_heads_before[word] = sum - own;
      m_heads_of_all[word] = Intrinsics::value_of_lane(sum, lanes - 1);
    }
  }

  static constexpr int words = (Slots::pieces + 3) / 4;

  Scratch m_scratch;
  int m_lane;
  int m_end_slot;
  int m_rows = 0;  // those that have entries
  std::uint32_t m_heads;
  std::uint32_t m_ends;  // the first bit of each piece that a row ends with
  std::uint32_t m_heads_before[words];
  std::uint32_t m_heads_of_all[words];
};

}  // namespace KokkosSoftmax::Impl

#endif
