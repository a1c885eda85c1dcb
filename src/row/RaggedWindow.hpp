// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_RAGGEDWINDOW_HPP
#define KOKKOSSOFTMAX_SRC_ROW_RAGGEDWINDOW_HPP

/// \file
/// How ragged rows are divided among teams and their vectors. Imagine a list of all rows, in which
/// each row has one position for its beginning, followed by one for each of its entries. (So empty
/// rows take a position, too. The idea is that of the merge path of Merrill and Garland, SC16.) A
/// *window* is a fixed number of neighbouring positions. A team works on a window: on all rows that
/// begin in it, from their first to their last entry. Only *long* rows, which have more entries
/// than the registers of a team hold, are divided: the team works on the part of the row that is in
/// its window. Windows are divided in the same way among the vectors of a team.

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_Core.hpp>
#include <impl/KokkosSoftmax_RaggedProblem.hpp>
#include <impl/device/backend/KokkosSoftmax_Intrinsics.hpp>

namespace KokkosSoftmax::Impl {

/// The part of a row from entry `begin` to entry `end` of all entries. A window has no more than
/// one part of a row that begins in it, and one of a row that began before.
struct RowPart {
  std::int64_t row;
  std::int64_t begin;
  std::int64_t end;
};

/// The rows of a problem at their positions, in windows of `size` positions.
class RaggedWindows {
 public:
  KOKKOS_FORCEINLINE_FUNCTION RaggedWindows(const RowOffsets& offset, std::int64_t rows,
                                            std::int64_t size)
      : m_offset(offset), m_rows(rows), m_size(size) {}

  /// The number of windows of rows with up to `entries` entries in all.
  static constexpr std::int64_t count(std::int64_t rows, std::int64_t entries, std::int64_t size) {
    return (rows + entries + size - 1) / size;
  }

  /// The position of the beginning of a row.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t position(std::int64_t r) const {
    return m_offset(r) - m_offset(0) + r;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t window_of(std::int64_t r) const {
    return position(r) / m_size;
  }
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t length(std::int64_t r) const {
    return m_offset(r + 1) - m_offset(r);
  }
  /// The number of windows that have entries of row r and in which it doesn't begin.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t continuations(std::int64_t r) const {
    const std::int64_t first = position(r);
    return (first + length(r)) / m_size - first / m_size;
  }

  /// The part in window w of row r, which began in an earlier window. It is empty if the row ended
  /// there, too.
  KOKKOS_FORCEINLINE_FUNCTION RowPart continued_part(std::int64_t w, std::int64_t r) const {
    const std::int64_t end = m_offset(r + 1);
    const std::int64_t begin = m_offset(r) + (w * m_size - position(r) - 1);
    return {r, begin < end ? begin : end, begin + m_size < end ? begin + m_size : end};
  }
  /// The part in window w of row r, which begins in w and ends in a later window.
  KOKKOS_FORCEINLINE_FUNCTION RowPart begun_part(std::int64_t w, std::int64_t r) const {
    const std::int64_t begin = m_offset(r);
    return {r, begin, begin + ((w + 1) * m_size - position(r) - 1)};
  }

  /// The first row that begins in window w or later, if it is one of the rows `low` to `high`.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t first_row(std::int64_t w, std::int64_t low,
                                                     std::int64_t high) const {
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (position(middle) < w * m_size)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  /// The rows that begin in windows [first, end) or, in place of an end that doesn't exist, at the
  /// end of all rows. The lanes of a vector search among all rows together: each compares with one
  /// row per step. They search for both ends at the same time, so that loads overlap.
  struct Range {
    std::int64_t first;
    std::int64_t end;
  };
  template <int lanes>
  KOKKOS_FORCEINLINE_FUNCTION Range rows_of(std::int64_t first, std::int64_t end, int lane) const {
    Search of_first{0, m_rows}, of_end{0, m_rows};
    while (of_first.is_open() || of_end.is_open()) {
      const std::int64_t probe = of_first.template probe<lanes>(lane);
      const std::int64_t probe_of_end = of_end.template probe<lanes>(lane);
      const bool is_before = probe < of_first.high && position(probe) < first * m_size;
      const bool is_before_end =
          probe_of_end < of_end.high && position(probe_of_end) < end * m_size;
      of_first.template narrow<lanes>(is_before);
      of_end.template narrow<lanes>(is_before_end);
    }
    return {of_first.low, of_end.low};
  }

 private:
  /// The rows `low` to `high`, one of which is searched for.
  struct Search {
    std::int64_t low;
    std::int64_t high;

    KOKKOS_FORCEINLINE_FUNCTION bool is_open() const { return low < high; }
    template <int lanes>
    KOKKOS_FORCEINLINE_FUNCTION std::int64_t step() const {
      return (high - low) / (lanes + 1) + 1;
    }
    template <int lanes>
    KOKKOS_FORCEINLINE_FUNCTION std::int64_t probe(int lane) const {
      return low + (lane + 1) * step<lanes>() - 1;
    }
    template <int lanes>
    KOKKOS_FORCEINLINE_FUNCTION void narrow(bool probe_is_before) {
      const int before =
          Kokkos::Experimental::popcount_builtin(Intrinsics::ballot(probe_is_before));
      const std::int64_t distance = step<lanes>(), end = low + (before + 1) * distance - 1;
      low += before * distance;
      high = end < high ? end : high;
    }
  };

  RowOffsets m_offset;
  std::int64_t m_rows;
  std::int64_t m_size;
};

}  // namespace KokkosSoftmax::Impl

#endif
