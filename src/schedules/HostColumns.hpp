// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTCOLUMNS_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_HOSTCOLUMNS_HPP

/// \file
/// The host schedule for rows that are strided in x.

#include <algorithm>
#include <backend/DivideUp.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/team/KokkosSoftmax_OnlineSum.hpp>
#include <op/FinishRow.hpp>
#include <op/SecondRead.hpp>
#include <row/HostSpan.hpp>
#include <row/RowArgs.hpp>
#include <string>
#include <utility>

namespace KokkosSoftmax::Impl {

/// One thread works on a block of neighbouring rows. It transposes pieces of the block into a
/// buffer that stays in the cache. So memory is read across the rows, which lie side by side, and
/// the computation runs along each row in the buffer.
template <class Op, class Source>
struct HostColumnsKernel {
  using V = typename Source::Types;
  using T = typename V::Compute;
  using Span = HostSpan<T, T, HostValues<Source>>;                     // of a row in the buffer
  static constexpr int block_rows = 64 / static_cast<int>(sizeof(T));  // they fill a cache line
  static constexpr std::int64_t piece_columns = Span::max_size;  // as a HostRow, for the same bits

  ArgumentsOf<Source> arguments;

  void operator()(std::int64_t block) const {
    with_output<Op>(arguments.function,
                    [&]<class Output>(std::type_identity<Output>) { compute<Output>(block); });
  }

 private:
  template <class Output>
  void compute(std::int64_t block) const {
    T buffer[block_rows][piece_columns];
    RowPointers<V> row[block_rows];
    const std::int64_t columns = arguments.problem.columns;
    const std::int64_t first_row = block * block_rows;
    const int rows =
        static_cast<int>(std::min<std::int64_t>(block_rows, arguments.problem.rows - first_row));
    for (int r = 0; r < rows; ++r) row[r] = arguments.row(first_row + r);

    OnlineSum<typename Output::Exp, typename Op::State> sum[block_rows];
    for (std::int64_t c = 0; c < columns; c += piece_columns) {
      const std::int64_t size = load(buffer, row, rows, c);
      for (int r = 0; r < rows; ++r) {
        const Span entries(buffer[r], size, values_of(first_row + r), c);
        sum[r].add(entries);
      }
    }
    if constexpr (!Op::writes_entries) {
      for (int r = 0; r < rows; ++r) {
        auto state = sum[r].state();
        second_read_of_host_row<Source>(arguments, first_row + r, state);
        finish_row<Op>(arguments, state, row[r].y);
      }
    } else {
      for (int r = 0; r < rows; ++r) finish_beside<Op>(arguments, first_row + r, sum[r].state());
      // Backwards: the last piece is still in the buffer, and the pieces before it may be in a
      // cache.
      const std::int64_t last = (columns - 1) / piece_columns * piece_columns;
      for (std::int64_t c = last; c >= 0; c -= piece_columns) {
        const std::int64_t size = c == last ? columns - last : load(buffer, row, rows, c);
        for (int r = 0; r < rows; ++r) {
          const EntryOutput<Op, Output> output(sum[r].state(), arguments.empty_rows);
          Span(buffer[r], size, values_of(first_row + r), c).transform_into(buffer[r], 1, output);
        }
        store(buffer, row, rows, c, size);
      }
      if constexpr (knows_rows<Source>)
        for (int r = 0; r < rows; ++r)
          if (has_nan_results(sum[r].state()))
            finish_masked_on_host<Op, Source>(arguments, {arguments, first_row + r}, row[r].y, 0,
                                              columns);
    }
  }

  HostValues<Source> values_of(std::int64_t r) const {
    return on_host(Source(arguments), SourceRow<Source>(arguments, r));
  }

  std::int64_t load(T (&buffer)[block_rows][piece_columns], const RowPointers<V>* row, int rows,
                    std::int64_t first) const {
    const std::int64_t size = std::min(piece_columns, arguments.problem.columns - first);
    for (std::int64_t c = 0; c < size; ++c)
      for (int r = 0; r < rows; ++r)
        buffer[r][c] = static_cast<T>(row[r].x[(first + c) * arguments.problem.x_column_stride]);
    return size;
  }

  void store(const T (&buffer)[block_rows][piece_columns], const RowPointers<V>* row, int rows,
             std::int64_t first, std::int64_t size) const {
    for (std::int64_t c = 0; c < size; ++c)
      for (int r = 0; r < rows; ++r)
        row[r].y[(first + c) * arguments.problem.y_column_stride] =
            static_cast<typename V::Y>(buffer[r][c]);
  }
};

template <class Exec, class Op, class Source>
void host_columns(const Exec& exec, const std::string& label,
                  const ArgumentsOf<Source>& arguments) {
  using Kernel = HostColumnsKernel<Op, Source>;
  const std::int64_t blocks = divide_up(arguments.problem.rows, Kernel::block_rows);
  Kokkos::parallel_for(label,
                       Kokkos::RangePolicy<Exec, Kokkos::IndexType<std::int64_t>>(exec, 0, blocks),
                       Kernel{arguments});
}

}  // namespace KokkosSoftmax::Impl

#endif
