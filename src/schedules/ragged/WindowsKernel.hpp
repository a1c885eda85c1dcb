// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_WINDOWSKERNEL_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_RAGGED_WINDOWSKERNEL_HPP

/// \file
/// The kernel that finds the windows (RaggedWindows) of ragged rows, and lists their rows.

#include <row/RaggedWork.hpp>
#include <schedules/ragged/Shape.hpp>
#include <team/TeamOfRow.hpp>

namespace KokkosSoftmax::Impl {

/// Finds the windows, and lists their rows. Each lane has one window of a vector.
template <class Exec, class Sizes>
class RaggedWindowsKernel {
 public:
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  static constexpr int windows_per_team = Sizes::threads * Sizes::lanes;

  std::int64_t first_team = 0;  // of this launch

  /// `windows`: the number of those of vectors
  RaggedWindowsKernel(const RowOffsets& offset, std::int64_t rows, std::int64_t windows,
                      const RaggedLists& lists)
      : m_offset(offset),
        m_lists(lists),
        m_windows(windows),
        m_of_vectors(offset, rows, Sizes::vector_window),
        m_of_teams(offset, rows, Sizes::window) {}

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    constexpr int lanes = Sizes::lanes;
    const int lane = lane_number<lanes>(member);
    const std::int64_t first_window =
        (first_team + member.league_rank()) * windows_per_team + member.team_rank() * lanes;
    const std::int64_t w = first_window + lane;
    const auto range =
        m_of_vectors.template rows_of<lanes>(first_window, first_window + lanes, lane);
    const std::int64_t first = m_of_vectors.first_row(w, range.first, range.end);
    std::int64_t end = Intrinsics::value_of_lane(first, lane + 1 < lanes ? lane + 1 : lane);
    if (lane + 1 == lanes) end = range.end;
    if (w % Sizes::vector_windows == 0 && w < m_windows) list_continued_part(w, first - 1);
    // Only the last row of a window can be too long for a vector.
    if (end > first && m_of_teams.length(end - 1) > Sizes::longest_of_vector) list_row(--end);
    const bool has_rows = end > first;
    RowsOfVector rows{first, 0, end, 0};
    if (has_rows) {
      rows.first_entry = m_offset(first);
      rows.end_entry = m_offset(end);
    }
    m_lists.add(rows, has_rows, lane);
  }

  static std::size_t scratch_bytes() { return 0; }

 private:
  /// Lists a row that is too long for a vector, or its part in the window in which it begins.
  KOKKOS_FORCEINLINE_FUNCTION void list_row(std::int64_t r) const {
    if (m_of_teams.length(r) <= Sizes::longest_of_team)
      m_lists.add(RowPart{r, m_offset(r), m_offset(r + 1)});
    else
      m_lists.add_long_row(m_of_teams, r);
  }

  /// Lists the part of row r in the window of a team that begins with window w of a vector. Row r
  /// is the last one that begins before.
  KOKKOS_FORCEINLINE_FUNCTION void list_continued_part(std::int64_t w, std::int64_t r) const {
    if (r < 0 || m_of_teams.length(r) <= Sizes::longest_of_team) return;
    const std::int64_t window = w / Sizes::vector_windows;
    const RowPart part = m_of_teams.continued_part(window, r);
    if (part.begin < part.end) m_lists.add(LongRowPart{part, window, m_of_teams.window_of(r)});
  }

  RowOffsets m_offset;
  RaggedLists m_lists;
  std::int64_t m_windows;
  RaggedWindows m_of_vectors;
  RaggedWindows m_of_teams;
};

}  // namespace KokkosSoftmax::Impl

#endif
