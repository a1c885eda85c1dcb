// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_LAUNCH_LAUNCHCONTEXT_HPP
#define KOKKOSSOFTMAX_SRC_LAUNCH_LAUNCHCONTEXT_HPP

#include <backend/Hardware.hpp>
#include <backend/Schedule.hpp>
#include <impl/KokkosSoftmax_RowInputs.hpp>
#include <row/RowArgs.hpp>
#include <row/RowsInChunks.hpp>
#include <row/SectorPanel.hpp>
#include <row/Tile.hpp>

namespace KokkosSoftmax::Impl {

/// One call: the execution space instance, the problem and the options, and what the schedules need
/// to know about them. `Arguments` are those of the kernels, see ArgumentsOf.
template <class Exec, class V, class Arguments = RowArgs<V>>
class LaunchContext {
 public:
  using X = typename V::X;
  using Y = typename V::Y;
  using Problem = RowProblem<X, Y>;  // without what the arguments add to it

  const Exec& exec;
  const Options& options;
  const Arguments arguments;

  LaunchContext(const Exec& exec_, const typename Arguments::Problem& problem,
                const Options& options_)
      : exec(exec_),
        options(options_),
        arguments(problem, options_),
        m_x_offsets(x_offsets(problem) | second_offsets(problem)),
        m_y_offsets(y_offsets(problem)) {}

  const Problem& problem() const { return arguments.problem; }

  bool x_contiguous() const { return problem().x_column_stride == 1 || problem().columns <= 1; }

  /// Whether rows are strided in x and neighbouring rows lie side by side.
  bool rows_are_neighbours() const {
    const OuterAxis& fastest = problem().outer[problem().outer_rank - 1];
    return !x_contiguous() && fastest.extent > 1 && fastest.x_stride < problem().x_column_stride;
  }

  /// Whether the column stride is a whole number of cache lines, so that neighbouring rows begin at
  /// a cache line in each column if they do in the first one.
  bool columns_are_lines() const {
    return problem().x_column_stride * static_cast<std::int64_t>(sizeof(X)) % cache_line == 0;
  }
  /// Whether teams of strided rows share sectors of y in AccessMode::scalar, and there are so many
  /// neighbours that they fill the teams in AccessMode::whole_sectors (measured on an H200).
  bool shares_sectors() const {
    constexpr int fewest = 1024;
    using Panels = SectorPanels<Y>;
    return !columns_are_sectors() && neighbours() >= fewest && has_runs() &&
           !Panels::is_in_place(problem());
  }
  /// Whether the neighbours fill whole sectors of y in each column.
  bool columns_are_sectors() const {
    constexpr int sector = SectorPanels<Y>::sector;
    return is_multiple(static_cast<std::uint64_t>(neighbours()), sector) && y_in_chunks(sector);
  }
  /// Whether all columns of x begin at sectors, and the neighbours fill them.
  bool columns_of_x_are_sectors() const {
    constexpr int sector = SectorPanels<X>::sector;
    return is_multiple(static_cast<std::uint64_t>(neighbours()), sector) && x_in_chunks(sector);
  }
  /// Whether the neighbouring rows lie side by side in x, and in y if it has their entries, without
  /// gaps.
  bool has_runs() const {
    return has_numbers() ? problem().outer[problem().outer_rank - 1].x_stride == 1
                         : SectorPanels<Y>::serves(problem());
  }
  /// The number of rows that lie side by side.
  std::int64_t neighbours() const { return problem().outer[problem().outer_rank - 1].extent; }

  /// Whether each row of x starts at a cache line and is whole lines.
  bool rows_are_lines() const {
    return x_contiguous() && is_multiple(m_x_offsets, static_cast<int>(cache_line / sizeof(X)));
  }

  bool access_serves(const Schedule& s) const {
    if (options.reproducible) return s.access == AccessMode::scalar;
    switch (s.access) {
      case AccessMode::full_tile:
        return problem().columns == register_capacity(s) && aligned(s.width);
      case AccessMode::guarded_vectors:
        return aligned(s.width);
      case AccessMode::peeled_vectors:
        return x_contiguous();
      case AccessMode::dense_rows:
        return packed(s.width);
      case AccessMode::dense_pairs:
        return packed(widest<X>);
      case AccessMode::vectors_across_rows:
        return rows_in_chunks(s.width) && inputs_in_chunks(s.width);
      case AccessMode::phase_vectors:
      case AccessMode::whole_sectors:
        return has_runs();
      case AccessMode::scalar:
        return true;
    }
    return false;
  }

 private:
  bool one_value_per_row() const { return problem().y_column_stride == 0; }
  /// Whether y has one number per row. The stride of a single column doesn't tell.
  bool has_numbers() const {
    return problem().y_holds_row_values || (one_value_per_row() && problem().columns > 1);
  }

  /// Whether every row of x and y starts at an address where a chunk of `width` entries can start,
  /// and has a multiple of `width` entries.
  bool aligned(int width) const {
    return is_multiple(m_x_offsets, width) && is_multiple(m_y_offsets, chunk_alignment<Y>(width)) &&
           x_contiguous() && (one_value_per_row() || problem().y_column_stride == 1);
  }

  /// Whether all of the offsets, which are combined by bitwise or, are multiples of `width`, a
  /// power of two.
  static bool is_multiple(std::uint64_t offsets, int width) {
    return (offsets & static_cast<std::uint64_t>(width - 1)) == 0;
  }

  /// Whether the rows are stored back to back in x and in y, from an address that is a multiple of
  /// `width` entries.
  bool packed(int width) const {
    const OuterAxis& axis = problem().outer[0];
    const auto one_run = [&](const auto* p, std::int64_t row_stride, std::int64_t column_stride) {
      return is_multiple(position(p), width) && (column_stride == 1 || problem().columns == 1) &&
             (row_stride == problem().columns || problem().rows == 1);
    };
    return problem().outer_rank == 1 &&
           one_run(problem().x, axis.x_stride, problem().x_column_stride) &&
           (one_value_per_row() || one_run(problem().y, axis.y_stride, problem().y_column_stride));
  }

  /// Whether rows lie side by side in x and in y, in chunks of `width` rows that are aligned in
  /// each column.
  bool rows_in_chunks(int width) const {
    return is_multiple(static_cast<std::uint64_t>(neighbours()), width) && x_in_chunks(width) &&
           (one_value_per_row() || y_in_chunks(width));
  }
  bool inputs_in_chunks([[maybe_unused]] int width) const {
    if constexpr (requires { arguments.inputs_in_chunks(width); })
      return arguments.inputs_in_chunks(width);
    else
      return true;
  }
  bool x_in_chunks(int width) const {
    return in_chunks(problem().x, &OuterAxis::x_stride, problem().x_column_stride, width);
  }
  bool y_in_chunks(int width) const {
    return in_chunks(problem().y, &OuterAxis::y_stride, problem().y_column_stride, width);
  }
  template <class T>
  bool in_chunks(const T* p, std::int64_t OuterAxis::*stride, std::int64_t column_stride,
                 int width) const {
    return are_rows_in_chunks(
        p, sizeof(T), column_stride, problem().outer_rank,
        [&](int d) { return problem().outer[d].*stride; }, width);
  }

  template <class T>
  static std::uint64_t position(const T* p) {
    return reinterpret_cast<std::uintptr_t>(p) / sizeof(T);
  }

  /// All distances in entries that must be multiples of a width, combined in one word by bitwise
  /// or: only the low bits matter.
  static std::uint64_t x_offsets(const Problem& problem) {
    std::uint64_t all = static_cast<std::uint64_t>(problem.columns) | position(problem.x);
    for (int d = 0; d < problem.outer_rank; ++d)
      all |= static_cast<std::uint64_t>(problem.outer[d].x_stride);
    return all;
  }
  /// The same for the second input, which has entries of type X. A column stride other than 1 is
  /// not aligned.
  static std::uint64_t second_offsets(const Problem&) { return 0; }
  static std::uint64_t second_offsets(const BackwardProblem<X>& problem) {
    std::uint64_t all = position(static_cast<const X*>(problem.dy.data));
    for (int d = 0; d < problem.outer_rank; ++d)
      all |= static_cast<std::uint64_t>(problem.dy.outer_stride[d]);
    return problem.dy.column_stride == 1 || problem.columns <= 1 ? all : all | 1;
  }
  static std::uint64_t y_offsets(const Problem& problem) {
    if (problem.y_column_stride == 0) return 0;
    std::uint64_t all = position(problem.y);
    for (int d = 0; d < problem.outer_rank; ++d)
      all |= static_cast<std::uint64_t>(problem.outer[d].y_stride);
    return all;
  }

  std::uint64_t m_x_offsets;
  std::uint64_t m_y_offsets;
};

/// The LaunchContext of a kernel.
template <class Exec, class Kernel>
using ContextOf =
    LaunchContext<Exec, typename decltype(Kernel::arguments)::Types, decltype(Kernel::arguments)>;

}  // namespace KokkosSoftmax::Impl

#endif
