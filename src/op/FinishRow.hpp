// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP
#define KOKKOSSOFTMAX_SRC_OP_FINISHROW_HPP

/// \file
/// How the output of a row is written once its state is known.

#include <KokkosSoftmax_Options.hpp>
#include <Kokkos_Core.hpp>
#include <impl/device/op/KokkosSoftmax_RowOp.hpp>
#include <impl/device/row/KokkosSoftmax_KernelScale.hpp>
#include <row/Chunk.hpp>
#include <row/RowArgs.hpp>
#include <type_traits>

namespace KokkosSoftmax::Impl {

/// Writes the sign of a sum, which has in its array the place that `y` has in that of the results.
template <class Arguments, class Number, class T>
KOKKOS_FORCEINLINE_FUNCTION void write_sign(const Arguments& arguments, const Number* y, T sign) {
  const auto distance =
      reinterpret_cast<const char*>(y) - reinterpret_cast<const char*>(arguments.problem.y);
  *reinterpret_cast<Number*>(static_cast<char*>(arguments.sign) + distance) =
      static_cast<Number>(sign);
}

/// Writes the number of a row to `y`, and the sign if the output has one and the call asks for it.
/// Otherwise the logarithm of a negative sum is NaN.
template <class Arguments, class Output, class Number>
KOKKOS_FORCEINLINE_FUNCTION void write_number(const Arguments& arguments, const Output& output,
                                              Number* y) {
  auto value = output.value;
  if constexpr (requires { output.sign; }) {
    if (arguments.sign != nullptr)
      write_sign(arguments, y, output.sign);
    else if (output.sign < 0)
      value = Kokkos::Experimental::quiet_NaN_v<decltype(value)>;
  } else {
    value = written_lse(value, arguments.scale_is_zero);
  }
  *y = static_cast<Number>(value);
}

/// Writes the one number that an operation gives per row. This is the only place where it is
/// written. Call it in one thread per row.
template <RowOp Op, class Arguments, class Output>
KOKKOS_FORCEINLINE_FUNCTION void finish_row_with(const Arguments& arguments, const Output& output,
                                                 typename Op::Types::Y* y) {
  using Y = typename Op::Types::Y;
  using RowValue = typename RowArgs<typename Op::Types>::Problem::RowValue;
  if constexpr (!std::is_same_v<Y, RowValue>)
    if (arguments.problem.y_holds_row_values)
      return write_number(arguments, output, reinterpret_cast<RowValue*>(y));
  write_number(arguments, output, y);
}
/// The same, given what the row was reduced to.
template <RowOp Op, class Arguments>
KOKKOS_FORCEINLINE_FUNCTION void finish_row(const Arguments& arguments,
                                            const typename Op::State& state,
                                            typename Op::Types::Y* y) {
  finish_row_with<Op>(arguments, OnlyOutput<Op>(state, arguments.empty_rows), y);
}

/// The maximum of a row, given the largest entry that isn't NaN and a sum that is NaN if an entry
/// is NaN. The sum may also be NaN if an entry is +inf: the states of rows can't tell these apart.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T max_or_nan(T max, T sum) {
  const bool is_max = sum == sum || max == Kokkos::Experimental::infinity_v<T>;
  return is_max ? max : Kokkos::Experimental::quiet_NaN_v<T>;
}

/// Writes the numbers of neighbouring rows, in one store if they lie side by side at an aligned
/// address.
template <class T, int rows>
KOKKOS_FORCEINLINE_FUNCTION void store_beside(T* to, [[maybe_unused]] std::int64_t stride,
                                              const Chunk<T, rows>& numbers) {
  if constexpr (rows > 1)
    if (stride != 1 || reinterpret_cast<std::uintptr_t>(to) % alignof(Chunk<T, rows>) != 0) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k) to[k * stride] = numbers.entry[k];
      return;
    }
  *reinterpret_cast<Chunk<T, rows>*>(to) = numbers;
}

/// Writes what a call asks for per row beside the entries of y: the log-sum-exp and the maximum,
/// for row r and the rows after it. Call it in one thread per row, after the entries are written:
/// no registers hold entries then, and the addresses take some. Operations that write no entries,
/// and those without a maximum, have nothing beside y.
template <RowOp Op, RowState State, int rows>
KOKKOS_FORCEINLINE_FUNCTION void finish_beside_rows(const RowArgs<typename Op::Types>& arguments,
                                                    std::int64_t r,
                                                    [[maybe_unused]] const State (&state)[rows]) {
  if constexpr (Op::writes_entries && StateTraits<State>::has_reference) {
    if (!arguments.writes_beside) return;
    Chunk<typename Op::Types::Compute, rows> numbers;
    if (arguments.problem.lse != nullptr) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k)
        numbers.entry[k] = written_lse(lse_beside(state[k]), arguments.scale_is_zero);
      store_beside(arguments.lse(r), arguments.problem.lse_stride, numbers);
    }
    if (arguments.problem.max != nullptr) {
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int k = 0; k < rows; ++k)
        numbers.entry[k] = written_value(max_or_nan(state[k].max, state[k].sum), arguments);
      store_beside(arguments.max(r), arguments.problem.max_stride, numbers);
    }
  }
}

/// The same for one row.
template <RowOp Op, RowState State>
KOKKOS_FORCEINLINE_FUNCTION void finish_beside(const RowArgs<typename Op::Types>& arguments,
                                               std::int64_t r, const State& state) {
  const State states[1] = {state};
  finish_beside_rows<Op>(arguments, r, states);
}

/// The map from what a schedule has kept of an entry to the entry of the output. `factor...` is
/// what the kept exponentials are multiplied by to be relative to the reference of the state, if
/// they aren't.
template <RowOp Op, RowState State, class... Factor>
KOKKOS_FORCEINLINE_FUNCTION auto output_map(const RowArgs<typename Op::Types>& arguments,
                                            const State& state, Factor... factor) {
  if constexpr (Op::Outputs::size == 1)
    return OnlyOutput<Op>(state, factor..., arguments.empty_rows);
  else
    return with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      return Output(state, factor..., arguments.empty_rows).affine();
    });
}

/// Whether the results of a row are NaN because of its entries: if one of them is NaN or +inf. The
/// state has a maximum and a sum.
template <class State>
KOKKOS_FORCEINLINE_FUNCTION bool has_nan_results(const State& state) {
  return !(state.sum == state.sum &&
           state.max < Kokkos::Experimental::infinity_v<decltype(state.max)>);
}

/// Whether entries of a tile can be masked.
template <class Tile>
inline constexpr bool masks_entries = requires {
  requires knows_rows<typename Tile::Source> || masks_columns<typename Tile::Source>;
};

/// In a row that has a NaN or +inf, all results are NaN, except those of masked entries. Writes the
/// latter in the places of a tile, after the others. Such rows are rare, so that a tile needn't
/// keep which entries are masked.
template <RowOp Op, class Tile, class Arguments, RowState State>
KOKKOS_FORCEINLINE_FUNCTION void finish_masked([[maybe_unused]] const Arguments& arguments,
                                               [[maybe_unused]] const typename Tile::Row& row,
                                               [[maybe_unused]] std::int64_t first,
                                               [[maybe_unused]] int thread_id,
                                               [[maybe_unused]] const State& state) {
  if constexpr (Op::writes_entries && masks_entries<Tile>) {
    if (!has_nan_results(state)) return;
    Tile::store_masked(arguments, row, first, thread_id, masked_result<Op>(arguments.function));
  }
}

/// The same on a host, for columns [first, last) of a row that starts at y.
template <RowOp Op, class Source, class Y>
void finish_masked_on_host(const ArgumentsOf<Source>& arguments, const SourceRow<Source>& row, Y* y,
                           std::int64_t first, std::int64_t last) {
  const Source source(arguments);
  for (std::int64_t c = first; c < last; ++c)
    if (source.is_masked(row, c))
      y[c * arguments.problem.y_column_stride] = masked_result<Op>(arguments.function);
}

/// Stores the output of the entries that a tile has kept, in the places from which `load` with the
/// same arguments has read. `factor...`: see output_map(). If the kernel has several outputs, the
/// results are computed before the stores: with stores in each branch, nvcc would compute all
/// addresses before the branches and spill them.
template <RowOp Op, class Tile, class Arguments, RowState State, class... Factor>
KOKKOS_FORCEINLINE_FUNCTION void store_output(Tile& tile, const Arguments& arguments,
                                              const typename Tile::Row& row, std::int64_t first,
                                              int thread_id, const State& state, Factor... factor) {
  if constexpr (Op::Outputs::size == 1) {
    tile.store(row, first, thread_id, output_map<Op>(arguments, state, factor...));
  } else {
    with_output<Op>(arguments.function, [&]<class Output>(std::type_identity<Output>) {
      tile.transform(Output(state, factor..., arguments.empty_rows));
    });
    tile.store(row, first, thread_id, [](typename Tile::T v) { return v; });
  }
  finish_masked<Op, Tile>(arguments, row, first, thread_id, state);
}

/// Writes the output of a row whose tile is still in registers: the tile's entries, or the row's
/// one number, in the thread for which `first` is true. `factor...`: see output_map().
template <RowOp Op, class Tile, class Arguments, RowState State, class... Factor>
KOKKOS_FORCEINLINE_FUNCTION void finish_tile(const Arguments& arguments, Tile& tile,
                                             const typename Tile::Row& row, int thread_id,
                                             [[maybe_unused]] bool first, const State& state,
                                             Factor... factor) {
  if constexpr (Op::writes_entries) {
    store_output<Op>(tile, arguments, row, 0, thread_id, state, factor...);
  } else if (first) {
    finish_row<Op>(arguments, state, row.y);
  }
}

}  // namespace KokkosSoftmax::Impl

#endif
