// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_HOST_PANELLINES_HPP
#define KOKKOSSOFTMAX_SRC_HOST_PANELLINES_HPP

/// \file
/// The output of panels (groups of neighbouring rows, see Panels.hpp) whose columns don't begin at
/// cache lines of y. It is written in whole lines, so that it can be streamed. The first line of a
/// column also has the last rows of the panel before.

#include <host/Operations.hpp>
#include <host/RowWriter.hpp>

namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA {

/// Writes the results of one panel after another. The argument `kept` of the functions points to
/// what is kept of a column: one number per row of the panel. The numbers of the last `rows_before`
/// rows of the panel before lie in front of them.
///
/// \tparam vectors  of a panel
template <class Op, class L, int vectors, class Y>
class PanelLines {
  using T = typename L::T;
  using V = typename L::V;
  using Output = typename Op::template Output<L>;
  using Parameters = typename Output::Parameters;
  static constexpr std::int64_t rows = vectors * L::width;
  static constexpr std::int64_t line = 64 / static_cast<std::int64_t>(sizeof(Y));
  static constexpr int vectors_of_line = static_cast<int>(line / L::width);
  static constexpr int parameters = sizeof(Parameters) / sizeof(V);
  static_assert(line % L::width == 0 && rows >= line);

 public:
  static constexpr std::int64_t rows_before = line;

  /// Begins the output of the next panel, given the parameters of its vectors.
  void begin_panel(const Parameters (&output)[vectors]) {
    for (int i = 0; i < parameters; ++i) {
      T* const p = m_parameters[i];
      for (std::int64_t j = 0; j < line; j += L::width) L::store(p + j, L::load(p + rows + j));
      for (int k = 0; k < vectors; ++k) L::store(p + line + k * L::width, output[k][i]);
    }
    m_is_first = m_panels++ == 0;
  }

  /// Writes a column, the last vector first. What is kept of a vector is read no more when write()
  /// has written it, and may be replaced.
  class Column {
   public:
    /// \param y     the place of the first row
    /// \param kept  as above
    KOKKOSSOFTMAX_HOST_FUNCTION Column(const PanelLines& lines, Y* y, T* kept)
        : m_lines(lines), m_y(y), m_kept(kept), m_before(rows_of_others(y)) {
      for (int j = 0; j < vectors_of_line; ++j)
        m_end[j] = L::load(kept + rows - line + j * L::width);
      if constexpr (moves_results) m_next = m_lines.result(kept, (vectors - 1) * L::width);
      if (lines.m_is_first) lines.write_some(y, kept, 0, line - m_before);
    }
    /// Writes vector k of the column, counted from the begin of the line of the first row.
    KOKKOSSOFTMAX_HOST_FUNCTION void write(int k) {
      V v;
      if constexpr (moves_results) {
        // results of whole vectors of rows, which are then put in the places of lines
        const V last = m_lines.result(m_kept, (k - 1) * L::width);
        v = PartOfTwo<V>::of(last, m_next, static_cast<int>(L::width - m_before));
        m_next = last;
      } else {
        v = m_lines.result(m_kept, k * L::width - m_before);
      }
      if (!m_lines.m_is_first || k >= vectors_of_line)
        L::stream_to(m_y - m_before + k * L::width, v);
    }
    /// Puts the last rows of the column in front of the same column of the next panel.
    KOKKOSSOFTMAX_HOST_FUNCTION void keep_end() const {
      for (int j = 0; j < vectors_of_line; ++j) L::store(m_kept - line + j * L::width, m_end[j]);
    }

   private:
    static constexpr bool moves_results = PartOfTwo<V>::is_instruction;

    const PanelLines& m_lines;
    Y* m_y;
    T* m_kept;
    std::int64_t m_before;
    V m_end[vectors_of_line];
    V m_next;
  };

  /// Writes the rows of a column that share their line with the next panel.
  KOKKOSSOFTMAX_HOST_FUNCTION void write_end(Y* y, const T* kept) const {
    write_some(y, kept, rows - rows_of_others(y), rows);
  }

  /// Puts numbers in front of a column of the first panel.
  KOKKOSSOFTMAX_HOST_FUNCTION static void begin(T* kept) {
    for (std::int64_t j = -line; j < 0; j += L::width) L::store(kept + j, V{});
  }

 private:
  /// The number of rows of the panel before that share a line with the first row.
  KOKKOSSOFTMAX_HOST_FUNCTION static std::int64_t rows_of_others(const Y* y) {
    return static_cast<std::int64_t>((reinterpret_cast<std::uintptr_t>(y) & 63) / sizeof(Y));
  }

  /// The results from row j of the panel on, which may be negative.
  KOKKOSSOFTMAX_HOST_FUNCTION V result(const T* kept, std::int64_t j) const {
    Parameters p;
    for (int i = 0; i < parameters; ++i) p[i] = L::load(m_parameters[i] + line + j);
    return Output(p)(L::load(kept + j));
  }

  /// Writes rows [first, last), at most those of a line.
  KOKKOSSOFTMAX_HOST_FUNCTION void write_some(Y* y, const T* kept, std::int64_t first,
                                              std::int64_t last) const {
    for (; first < last; first += L::width) {
      const std::int64_t count = smaller(last - first, L::width);
      FirstElements<T, L::width>(static_cast<int>(count)).store(y + first, result(kept, first));
    }
  }

  std::int64_t m_panels = 0;
  bool m_is_first = true;
  // of the last rows of the panel before and of all rows, with space for loads of whole vectors
  alignas(64) T m_parameters[parameters][line + rows + L::width]{};
};

}  // namespace KokkosSoftmax::Impl::KOKKOSSOFTMAX_HOST_ISA

#endif
