// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_ROW_RAGGEDWORK_HPP
#define KOKKOSSOFTMAX_SRC_ROW_RAGGEDWORK_HPP

/// \file
/// What the kernels of a launch leave for each other: lists of the rows that vectors and teams have
/// to compute, and the states of parts of long rows.

#include <Kokkos_Core.hpp>
#include <cstddef>
#include <row/RaggedWindow.hpp>

namespace KokkosSoftmax::Impl {

/// The short rows of a vector's window.
struct RowsOfVector {
  std::int64_t first_row;
  std::int64_t first_entry;
  std::int64_t end_row;
  std::int64_t end_entry;
};

/// A long row, which begins in window `first` of a team and ends in window `last`.
struct LongRow {
  std::int64_t row;
  std::int64_t first;
  std::int64_t last;
};

/// The part of a long row in a window.
struct LongRowPart {
  RowPart part;
  std::int64_t window;
  std::int64_t first_window;  // that of the row

  KOKKOS_FORCEINLINE_FUNCTION bool is_begun() const { return window == first_window; }
};

/// The work of vectors and teams, in lists. The order of the lists differs from launch to launch.
/// The results don't: each element is computed by itself, and states are found by the number of a
/// window.
struct RaggedLists {
  struct Counts {
    std::int64_t vectors;
    std::int64_t rows;
    std::int64_t long_rows;
    std::int64_t parts;
  };

  Counts* count;
  RowsOfVector* vectors;
  RowPart* rows;  // those that are too long for a vector and not long
  LongRow* long_rows;
  LongRowPart* parts;

  /// Adds the rows of some lanes of a vector. All lanes call it.
  KOKKOS_FORCEINLINE_FUNCTION void add(const RowsOfVector& rows_of_lane, bool has_rows,
                                       int lane) const {
    const std::uint32_t those = Intrinsics::ballot(has_rows);
    std::int64_t first = 0;
    if (lane == 0)
      first = Kokkos::atomic_fetch_add(&count->vectors,
                                       std::int64_t(Kokkos::Experimental::popcount_builtin(those)));
    first = Intrinsics::value_of_lane(first, 0);
    const std::uint32_t before = those & ((std::uint32_t(1) << lane) - 1);
    if (has_rows) vectors[first + Kokkos::Experimental::popcount_builtin(before)] = rows_of_lane;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const RowPart& row) const {
    rows[Kokkos::atomic_fetch_add(&count->rows, std::int64_t(1))] = row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const LongRow& row) const {
    long_rows[Kokkos::atomic_fetch_add(&count->long_rows, std::int64_t(1))] = row;
  }
  KOKKOS_FORCEINLINE_FUNCTION void add(const LongRowPart& part) const {
    parts[Kokkos::atomic_fetch_add(&count->parts, std::int64_t(1))] = part;
  }
  /// Adds a long row, and its part in the window of a team in which it begins.
  KOKKOS_FORCEINLINE_FUNCTION void add_long_row(const RaggedWindows& of_teams,
                                                std::int64_t r) const {
    const std::int64_t window = of_teams.window_of(r);
    add(LongRow{r, window, window + of_teams.continuations(r)});
    add(LongRowPart{of_teams.begun_part(window, r), window, window});
  }
};

/// The lists, and the states of parts of long rows.
template <class State>
struct RaggedWork : RaggedLists {
  // Per window of a team:
  State* of_begun;      // the state of the part of the row that begins there
  State* of_continued;  // the state of the part of a row that began before
  State* of_row;        // the state of the whole row that begins there

  /// The bytes of the arrays, and the object for memory of so many bytes.
  static RaggedWork in(void* memory, std::int64_t vector_windows, std::int64_t windows,
                       std::size_t& bytes) {
    bytes = 0;
    const auto take = [&]<class T>(T*& array, std::int64_t size) {
      array = reinterpret_cast<T*>(static_cast<char*>(memory) + bytes);
      bytes += (static_cast<std::size_t>(size) * sizeof(T) + 15) / 16 * 16;
    };
    RaggedWork work{};
    take(work.count, 1);
    take(work.vectors, vector_windows);
    take(work.rows, vector_windows);
    take(work.long_rows, windows);
    take(work.parts, 2 * windows);
    take(work.of_begun, windows);
    take(work.of_continued, windows);
    take(work.of_row, windows);
    return work;
  }

  KOKKOS_FORCEINLINE_FUNCTION State* state_of(const LongRowPart& part) const {
    return (part.is_begun() ? of_begun : of_continued) + part.window;
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
