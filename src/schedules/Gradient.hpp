// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_GRADIENT_HPP

#include <row/Chunk.hpp>
#include <row/GradientArgs.hpp>
#include <row/Row.hpp>

namespace KokkosSoftmax::Impl {

/// The entries of a problem in the order in which they lie in memory: columns are the fastest axis
/// if rows are contiguous, and otherwise neighbouring rows are.
template <class Problem>
class EntryOrder {
 public:
  /// An entry. `neighbour` is the number of its row among those that lie side by side.
  struct Entry {
    std::int64_t row;
    std::int64_t column;
    std::int64_t neighbour;
  };

  KOKKOS_FORCEINLINE_FUNCTION EntryOrder(const Problem& problem, bool columns_are_fastest)
      : m_problem(problem), m_columns_are_fastest(columns_are_fastest) {}

  KOKKOS_FORCEINLINE_FUNCTION Entry at(std::int64_t number) const {
    if (m_columns_are_fastest) {
      const std::int64_t row = quotient(number, m_problem.columns);
      return {row, number - row * m_problem.columns, 0};
    }
    const std::int64_t line = quotient(number, neighbours());
    const std::int64_t neighbour = number - line * neighbours();
    const std::int64_t group = quotient(line, m_problem.columns);
    return {group * neighbours() + neighbour, line - group * m_problem.columns, neighbour};
  }

  KOKKOS_FORCEINLINE_FUNCTION void step(Entry& entry) const {
    if (m_columns_are_fastest) {
      if (++entry.column < m_problem.columns) return;
      entry.column = 0;
      ++entry.row;
      return;
    }
    ++entry.row;
    if (++entry.neighbour < neighbours()) return;
    entry.neighbour = 0;
    if (++entry.column < m_problem.columns)
      entry.row -= neighbours();
    else
      entry.column = 0;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION std::int64_t neighbours() const {
    return m_problem.outer[m_problem.outer_rank - 1].extent;
  }
  /// A division of 32-bit numbers takes a third of the instructions.
  KOKKOS_FORCEINLINE_FUNCTION static std::int64_t quotient(std::int64_t a, std::int64_t b) {
    constexpr std::int64_t most = 0xffffffff;
    return a <= most && b <= most ? static_cast<std::uint32_t>(a) / static_cast<std::uint32_t>(b)
                                  : a / b;
  }

  const Problem& m_problem;
  bool m_columns_are_fastest;
};

/// Computes `items` chunks of `width` entries, which lie side by side in x and in dx, per iteration
/// of a range.
template <class Source, int width>
struct GradientKernel {
  using V = typename Source::Types;
  using X = typename V::X;
  using T = typename V::Compute;
  using Arguments = GradientArgs<ArgumentsOf<Source>>;
  using Order = EntryOrder<typename Arguments::Problem::RowProblem>;
  using Entry = typename Order::Entry;
  static constexpr int items = 4;

  Arguments arguments;
  bool columns_are_fastest;
  std::int64_t iterations;

  KOKKOS_INLINE_FUNCTION void operator()(std::int64_t iteration) const {
    const Order order(arguments.problem, columns_are_fastest);
    const std::int64_t entries = arguments.problem.rows * arguments.problem.columns;
    Entry first[items];
    RawChunk<X, width> chunk[items];
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::int64_t number = (iteration + i * iterations) * width;
      if (number + width > entries) continue;
      first[i] = order.at(number);
      chunk[i] = *reinterpret_cast<const RawChunk<X, width>*>(x_of(first[i]));
    }
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int i = 0; i < items; ++i) {
      const std::int64_t number = (iteration + i * iterations) * width;
      if (number + width <= entries)
        compute_chunk(order, first[i], chunk[i]);
      else if (number < entries)
        compute_rest(order, number, entries);
    }
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION const X* x_of(const Entry& entry) const {
    return arguments.row(entry.row).x + entry.column * arguments.problem.x_column_stride;
  }
  KOKKOS_FORCEINLINE_FUNCTION X* dx_of(const Entry& entry) const {
    return arguments.row(entry.row).y + entry.column * arguments.problem.y_column_stride;
  }

  /// What belongs to a row.
  struct OfRow {
    GradientRow<T> row;
    [[no_unique_address]] SourceRow<Source> source_row;

    KOKKOS_FORCEINLINE_FUNCTION OfRow(const Arguments& arguments, std::int64_t r)
        : row(arguments, r), source_row(arguments, r) {}
    KOKKOS_FORCEINLINE_FUNCTION X dx(const Source& source, T x, std::int64_t column) const {
      return static_cast<X>(row(value_of(source, source_row, x, column), column));
    }
  };

  KOKKOS_FORCEINLINE_FUNCTION void compute_chunk(const Order& order, const Entry& first,
                                                 const RawChunk<X, width>& chunk) const {
    const Source source(arguments);
    T x[width];
    widen<X, width>(chunk, x);
    Chunk<X, width> out;
    Entry entry = first;
    OfRow of_row(arguments, entry.row);
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < width; ++k) {
      out.entry[k] = of_row.dx(source, x[k], entry.column);
      if (k + 1 == width) break;
      const std::int64_t row = entry.row;
      order.step(entry);
      if (entry.row != row) of_row = OfRow(arguments, entry.row);
    }
    store_whole(reinterpret_cast<Chunk<X, width>*>(dx_of(first)), out);
  }

  /// The last entries, fewer than a chunk.
  KOKKOS_FORCEINLINE_FUNCTION void compute_rest(const Order& order, std::int64_t number,
                                                std::int64_t end) const {
    const Source source(arguments);
    for (; number < end; ++number) {
      const Entry entry = order.at(number);
      *dx_of(entry) =
          OfRow(arguments, entry.row).dx(source, static_cast<T>(*x_of(entry)), entry.column);
    }
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
