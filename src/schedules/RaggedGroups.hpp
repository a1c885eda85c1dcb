// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGEDGROUPS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGEDGROUPS_HPP

/// \file
/// Which ragged rows the vector kernels of a host compute together: neighbours of one length, which
/// lie in memory as a matrix does, and short rows of similar lengths, which are copied to a matrix
/// and padded. The calls of kernels for one row would take longer than the rows.

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <row/RaggedArgs.hpp>
#include <schedules/HostBuffers.hpp>
#include <type_traits>
#include <utility>

namespace KokkosSoftmax::Impl {

/// Neighbouring rows with the same number of entries.
struct RowsOfOneLength {
  std::int64_t first;
  std::int64_t count;
  std::int64_t begin;  // the first entry
  std::int64_t columns;
};

/// Kernels for short rows compute several of them together, which takes too long for fewer.
inline constexpr std::int64_t fewest_rows_together = 4;

/// Short rows in any order, which are padded to the same number of columns. They have at least
/// columns - block entries, and at least `block`.
struct PaddedRows {
  static constexpr int most = 64;
  static constexpr std::int64_t longest = 64;  // copies of longer ones take too long

  std::int64_t columns = 0;
  std::int64_t block = 0;
  int count = 0;
  std::array<std::int64_t, most> row{};

  void add(std::int64_t r) { row[static_cast<std::size_t>(count++)] = r; }
  bool is_full() const { return count == most; }
};

/// Lists of short rows by their lengths. A list that is full is computed.
class ShortRowLists {
 public:
  ShortRowLists() {
    std::int64_t before = 0;
    for (std::size_t i = 0; i < lists; before = columns_of_list[i++]) {
      m_list[i].columns = columns_of_list[i];
      m_list[i].block = std::max<std::int64_t>(1, std::min(columns_of_list[i] - before, before));
    }
  }

  /// Adds a row. f(PaddedRows) computes rows.
  template <class F>
  void add(std::int64_t r, std::int64_t columns, const F& f) {
    PaddedRows& list = m_list[list_of_columns[static_cast<std::size_t>(columns)]];
    list.add(r);
    if (!list.is_full()) return;
    f(list);
    list.count = 0;
  }

  /// Computes what is left.
  template <class F>
  void finish(const F& f) {
    for (PaddedRows& list : m_list)
      if (list.count > 0) f(list);
  }

 private:
  static constexpr std::array<std::int64_t, 9> columns_of_list = {
      2, 4, 8, 12, 16, 24, 32, 48, PaddedRows::longest};
  static constexpr std::size_t lists = columns_of_list.size();
  static constexpr auto list_of_columns = [] {
    std::array<std::uint8_t, PaddedRows::longest + 1> list{};
    for (std::size_t columns = 0, i = 0; columns < list.size(); ++columns) {
      if (static_cast<std::int64_t>(columns) > columns_of_list[i]) ++i;
      list[columns] = static_cast<std::uint8_t>(i);
    }
    return list;
  }();

  std::array<PaddedRows, lists> m_list;
};

/// Divides rows [first, end) into groups. Calls together(RowsOfOneLength) with at most `most` rows,
/// padded(PaddedRows), and prefetch(entry) for entries that are used soon, a cache line of them at
/// one time.
template <std::int64_t line, class Together, class Padded, class Prefetch>
void for_each_group(const RowOffsets& offset, std::int64_t first, std::int64_t end,
                    std::int64_t most, const Together& together, const Padded& padded,
                    const Prefetch& prefetch) {
  constexpr std::int64_t ahead = 32 * line;
  const std::int64_t last_entry_of_all = first < end ? offset(end) : 0;
  std::int64_t prefetched = 0;
  ShortRowLists lists;
  while (first < end) {
    const std::int64_t begin = offset(first), columns = offset(first + 1) - begin;
    std::int64_t last = first + 1, last_entry = begin + columns;
    while (last < end && last - first < most && offset(last + 1) - last_entry == columns) {
      ++last;
      last_entry += columns;
    }
    if (last - first >= fewest_rows_together || columns > PaddedRows::longest || columns == 0) {
      together(RowsOfOneLength{first, last - first, begin, columns});
    } else {
      const std::int64_t until = std::min(begin + ahead, last_entry_of_all);
      for (prefetched = std::max(prefetched, begin); prefetched < until; prefetched += line)
        prefetch(prefetched);
      for (std::int64_t r = first; r < last; ++r) lists.add(r, columns, padded);
    }
    first = last;
  }
  lists.finish(padded);
}

/// Fetches the cache line of an entry that is read or written soon.
template <class T>
void prefetch_read([[maybe_unused]] const T* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p, 0);
#endif
}
template <class T>
void prefetch_write([[maybe_unused]] T* p) {
#if defined(__GNUC__)
  __builtin_prefetch(p, 1);
#endif
}

/// The matrix of a thread for padded rows with entries of type X. A thread can have several, with
/// different numbers.
///
/// Rows are copied in blocks. The last block ends with the row, and begins within the block before.
/// So no branch depends on the number of entries, which the processor would guess wrong.
template <class X, int number>
class PaddedMatrix {
 public:
  X* data() const { return m_data; }

  /// Copies rows from a vector of all entries.
  void read(const RowOffsets& offset, const PaddedRows& rows, const X* from, X padding) const {
    with_block(rows, [&]<std::int64_t block>(std::integral_constant<std::int64_t, block>) {
      X padded[block];
      std::fill_n(padded, block, padding);
      for_each_row(offset, rows, [&](X* row, std::int64_t begin, std::int64_t columns) {
        copy_row<block>(from + begin, row, columns, rows.columns);
        copy_block<block>(padded, row + columns);  // also to the next row, which is copied later
      });
    });
  }
  /// Copies rows to a vector of all entries, without what was padded.
  void write(const RowOffsets& offset, const PaddedRows& rows, X* to) const {
    with_block(rows, [&]<std::int64_t block>(std::integral_constant<std::int64_t, block>) {
      for_each_row(offset, rows, [&](const X* row, std::int64_t begin, std::int64_t columns) {
        copy_row<block>(row, to + begin, columns, rows.columns);
      });
    });
  }

 private:
  template <std::int64_t block>
  static void copy_row(const X* from, X* to, std::int64_t columns, std::int64_t padded) {
    for (std::int64_t c = 0; c < padded - block; c += block) copy_block<block>(from + c, to + c);
    copy_block<block>(from + columns - block, to + columns - block);
  }
  template <std::int64_t block>
  static void copy_block(const X* from, X* to) {
    std::memcpy(static_cast<void*>(to), static_cast<const void*>(from), block * sizeof(X));
  }

  /// Calls f(row of the matrix, first entry, number of entries).
  template <class F>
  void for_each_row(const RowOffsets& offset, const PaddedRows& rows, const F& f) const {
    for (int k = 0; k < rows.count; ++k) {
      const std::int64_t r = rows.row[static_cast<std::size_t>(k)], begin = offset(r);
      f(m_data + k * rows.columns, begin, offset(r + 1) - begin);
    }
  }

  /// Calls f with the size of blocks as a constant.
  template <class F>
  static void with_block(const PaddedRows& rows, const F& f) {
    const auto call = [&]<std::int64_t... block>(std::integer_sequence<std::int64_t, block...>) {
      static_cast<void>(
          ((rows.block == block && (f(std::integral_constant<std::int64_t, block>{}), true)) ||
           ...));
    };
    call(std::integer_sequence<std::int64_t, 1, 2, 4, 8, 16>{});
  }

  static X* of_thread() {
    constexpr std::int64_t behind = 16;  // a block
    thread_local const HostBuffer<X, 64> buffer(PaddedRows::most * PaddedRows::longest + behind);
    return buffer.data();
  }

  X* m_data = of_thread();
};

}  // namespace KokkosSoftmax::Impl

#endif
