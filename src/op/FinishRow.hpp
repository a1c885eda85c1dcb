// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP
#define KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP

/// \file
/// How the output of a row is written once its state is known.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <op/RowOp.hpp>
#include <row/RowArgs.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Writes the one number that an operation gives per row. This is the only place where it is
/// written. Call it in one thread per row.
template <class V, class Output>
KOKKOS_FORCEINLINE_FUNCTION void finish_row([[maybe_unused]] const RowArgs<V>& arguments,
                                            const Output& output, typename V::Y* y) {
  using RowValue = typename RowArgs<V>::Problem::RowValue;
  if constexpr (!std::is_same_v<typename V::Y, RowValue>)
    if (arguments.problem.y_holds_row_values) {
      *reinterpret_cast<RowValue*>(y) = static_cast<RowValue>(output.value);
      return;
    }
  *y = static_cast<typename V::Y>(output.value);
}

/// The maximum of a row, given the largest entry that isn't NaN and a sum that is NaN if an entry
/// is NaN. The sum may also be NaN if an entry is +inf: the states of rows can't tell these apart.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T max_or_nan(T max, T sum) {
  const bool is_max = sum == sum || max == Kokkos::Experimental::infinity_v<T>;
  return is_max ? max : Kokkos::Experimental::quiet_NaN_v<T>;
}

/// Writes what a call asks for per row beside the entries of y: the log-sum-exp and the maximum.
/// Call it in one thread per row, after the entries are written: no registers hold entries then,
/// and the addresses take some. Operations that write no entries, and those without a maximum, have
/// nothing beside y.
template <RowOp Op, class V>
KOKKOS_FORCEINLINE_FUNCTION void finish_beside(const RowArgs<V>& arguments, std::int64_t r,
                                               [[maybe_unused]] const typename Op::State& state) {
  if constexpr (Op::writes_entries && StateTraits<typename Op::State>::has_reference) {
    if (!arguments.writes_beside) return;
    if (arguments.problem.lse != nullptr) {
      constexpr auto infinity = Kokkos::Experimental::infinity_v<typename V::Compute>;
      const auto lse = state.value();
      // NaN for a row with +inf, as in y: not all operations can tell it from a row that has NaN
      // too
      *arguments.lse(r) = lse == infinity ? lse - lse : lse;
    }
    if (arguments.problem.max != nullptr)
      *arguments.max(r) = written_value(max_or_nan(state.max, state.sum), arguments.scale_is_zero);
  }
}

/// Writes the output of a row whose tile is still in registers: the tile's entries, or the row's
/// one number, in the thread for which `first` is true.
template <RowOp Op, class Tile>
KOKKOS_FORCEINLINE_FUNCTION void finish_tile(const RowArgs<typename Op::Types>& arguments,
                                             const Tile& tile, const typename Tile::Row& row,
                                             int thread_id, [[maybe_unused]] bool first,
                                             const typename Op::Output& output) {
  if constexpr (Op::writes_entries)
    tile.store(row, 0, thread_id, output);
  else if (first)
    finish_row(arguments, output, row.y);
}

}  // namespace KokkosSoftmax::Impl

#endif
