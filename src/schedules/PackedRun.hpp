// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDRUN_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKEDRUN_HPP

/// \file
/// Short rows that are stored back to back, in scratch memory: what the kernels PackedKernel,
/// PackedPairsKernel and PackedGradientKernel have in common.

#include <cstdint>
#include <row/Chunk.hpp>
#include <row/RowArgs.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// A run of short rows that are stored back to back. A team moves it to level-0 scratch memory and
/// back in aligned chunks, whatever the length of a row is.
///
/// \tparam width      the entries of a chunk
/// \tparam lanes      of the team
/// \tparam in_flight  the loads that a lane makes before it waits for the first one
/// \tparam in_words   whether chunks of half types are moved as words of two entries
template <class Exec, class V, int width, int lanes, int in_flight, bool in_words>
class PackedRun {
  using X = typename V::X;
  static_assert(std::is_same_v<typename V::Y, X>, "results take the place of entries");
  using RowChunk = Chunk<X, width>;
  using MovedEntry = std::conditional_t<in_words, std::uint32_t, X>;
  using MovedChunk = Intrinsics::Moved<std::conditional_t<in_words, RawChunk<X, width>, RowChunk>,
                                       MovedEntry, in_words ? width / 2 : width>;
  using Buffer = Kokkos::View<RowChunk*, typename Exec::scratch_memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

 public:
  /// `most_rows`: the rows of a run, a multiple of `width`, so that it begins at an aligned
  /// address.
  static std::size_t scratch_bytes(int most_rows, std::int64_t columns) {
    return Buffer::shmem_size(static_cast<std::size_t>(most_rows * columns / width));
  }

  template <class Member>
  KOKKOS_FORCEINLINE_FUNCTION PackedRun(const Member& member, const RowArgs<V>& arguments,
                                        int most_rows)
      : m_columns(static_cast<int>(arguments.problem.columns)),
        m_first(arguments.first_row + static_cast<std::int64_t>(member.league_rank()) * most_rows) {
    const std::int64_t left = arguments.problem.rows - m_first;
    m_rows = static_cast<int>(left < most_rows ? left : most_rows);
    const Buffer buffer(member.team_scratch(0), most_rows * m_columns / width);
    m_scratch = buffer.data()->entry;
  }

  KOKKOS_FORCEINLINE_FUNCTION int columns() const { return m_columns; }
  KOKKOS_FORCEINLINE_FUNCTION int rows() const { return m_rows; }
  /// Row r of the run in scratch memory.
  KOKKOS_FORCEINLINE_FUNCTION X* row(int r) const { return m_scratch + r * m_columns; }
  /// The number of row r in the problem.
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t number(int r) const { return m_first + r; }

  KOKKOS_FORCEINLINE_FUNCTION void load(const RowArgs<V>& arguments, int thread_id) const {
    move(arguments.problem.x + m_first * m_columns, m_scratch, m_rows * m_columns, thread_id);
  }
  KOKKOS_FORCEINLINE_FUNCTION void store(const RowArgs<V>& arguments, int thread_id) const {
    move(m_scratch, arguments.problem.y + m_first * m_columns, m_rows * m_columns, thread_id);
  }

 private:
  /// All lanes move whole chunks, `in_flight` at one time. The entries after the last whole chunk,
  /// which only the last team can have, are moved one by one.
  KOKKOS_FORCEINLINE_FUNCTION static void move(const X* from, X* to, int entries, int thread_id) {
    const auto* source = reinterpret_cast<const MovedChunk*>(from);
    auto* target = reinterpret_cast<MovedChunk*>(to);
    const int chunks = entries / width;
    for (int first = thread_id; first < chunks; first += in_flight * lanes) {
      MovedChunk chunk[in_flight];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < in_flight; ++i)
        if (first + i * lanes < chunks) chunk[i] = source[first + i * lanes];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < in_flight; ++i)
        if (first + i * lanes < chunks) target[first + i * lanes] = chunk[i];
    }
    for (int j = chunks * width + thread_id; j < entries; j += lanes) to[j] = from[j];
  }

  X* m_scratch;
  int m_columns;
  int m_rows;
  std::int64_t m_first;
};

/// Row r of a run in words of `width` entries, one or two. If a word has two and the length of the
/// row is odd, one entry is by itself (*single*): the first one if the row begins in the middle of
/// a word, otherwise the last one.
template <class X, int width>
struct WordsOfRow {
  static_assert(width == 1 || width == 2);
  using Word = RawChunk<X, width>;

  KOKKOS_FORCEINLINE_FUNCTION WordsOfRow(X* row, int r, int columns)
      : has_single(columns % width != 0),
        lead(has_single ? r % 2 : 0),
        single(row + (lead != 0 ? 0 : columns - 1)),
        word(reinterpret_cast<Word*>(row + lead)) {}

  bool has_single;
  int lead;    // the number of entries before the first word
  X* single;   // if there is one
  Word* word;  // columns / width of them
};

}  // namespace KokkosSoftmax::Impl

#endif
