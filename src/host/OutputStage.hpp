// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_OUTPUTSTAGE_HPP
#define KOKKOSSOFTMAX_SRC_HOST_OUTPUTSTAGE_HPP

#include <host/Jobs.hpp>
#include <host/Vector.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Where short rows are written: to y, or to a buffer in the first-level cache that is streamed to
/// y in whole cache lines. For the buffer the rows of y must lie back to back.
///
/// \tparam capacity  the number of elements of a group of rows
template <class Y, int capacity>
class OutputStage {
 public:
  template <class Job>
  KOKKOSSOFTMAX_HOST_FUNCTION explicit OutputStage(const Job& job)
      : m_y(job.y),
        m_stride(job.y_stride),
        m_columns(job.columns),
        m_streams(job.streams && job.y_stride == job.columns) {
    if (!m_streams) return;
    m_skip = static_cast<int>((reinterpret_cast<std::uintptr_t>(m_y) & 63) / sizeof(Y));
    m_y -= m_skip;
    m_filled = m_skip;
  }

  /// Where row r is written, the next row each time.
  KOKKOSSOFTMAX_HOST_FUNCTION Y* row(std::int64_t r) {
    return m_streams ? m_buffer + m_filled : m_y + r * m_stride;
  }
  /// Whether up to a vector behind the row may be overwritten.
  KOKKOSSOFTMAX_HOST_FUNCTION bool has_space_behind_rows() const { return m_streams; }
  KOKKOSSOFTMAX_HOST_FUNCTION void end_row() { m_filled += static_cast<int>(m_columns); }

  /// Makes space for the next group of rows.
  KOKKOSSOFTMAX_HOST_FUNCTION void begin_group() {
    if (!m_streams) return;
    while (stream_line()) {
    }
    move_rest_to_begin();
  }

  /// Streams a cache line of earlier groups, so that this overlaps with the computation of the next
  /// one. Returns whether there was one.
  KOKKOSSOFTMAX_HOST_FUNCTION bool stream_line() {
    if (!m_streams || m_streamed + line > m_filled) return false;
    if (m_skip == 0) {
      move_line(m_buffer + m_streamed, m_y + m_streamed,
                [](float* p, Line::V v) KOKKOSSOFTMAX_HOST_LAMBDA { Line::stream_to(p, v); });
    } else {
      for (int i = m_skip; i < line; ++i) m_y[i] = m_buffer[i];
      m_skip = 0;
    }
    m_streamed += line;
    return true;
  }

  /// Writes what is left.
  void end() {
    begin_group();
    if (m_streams)
      for (int i = m_skip; i < m_filled; ++i) m_y[i] = m_buffer[i];
  }

 private:
  static constexpr int line = 64 / static_cast<int>(sizeof(Y));

  /// Moves the bytes of a cache line, whatever the type.
  using Line = Lanes<float, widest<float>>;
  template <class Store>
  KOKKOSSOFTMAX_HOST_FUNCTION static void move_line(const Y* from, Y* to, const Store& store) {
    for (int k = 0; k < 16; k += Line::width)
      store(reinterpret_cast<float*>(to) + k, Line::load(reinterpret_cast<const float*>(from) + k));
  }

  KOKKOSSOFTMAX_HOST_FUNCTION void move_rest_to_begin() {
    m_y += m_streamed;
    m_filled -= m_streamed;
    move_line(m_buffer + m_streamed, m_buffer,
              [](float* p, Line::V v) KOKKOSSOFTMAX_HOST_LAMBDA { Line::store(p, v); });
    m_streamed = 0;
  }

  Y* m_y;  // where the buffer begins in y, at a cache line
  std::int64_t m_stride;
  std::int64_t m_columns;
  bool m_streams;
  int m_skip = 0;  // the number of elements at the buffer's begin that aren't ours
  int m_filled = 0;
  int m_streamed = 0;
  alignas(64) Y m_buffer[capacity + 2 * line];
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
