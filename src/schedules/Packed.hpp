// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP
#define KOKKOSSOFTMAX_SRC_SCHEDULES_PACKED_HPP

#include <Epilogue.hpp>
#include <Tile.hpp>

namespace KokkosSoftmax::Impl {

/// Short rows that lie one behind the other: a team moves a run of rows through level-0 scratch in
/// aligned chunks, whatever the rows' length, and between the two moves each lane works on a row of
/// its own there. Lanes whose rows have an odd length meet in no bank of the scratch memory.
template <class Exec, class V, Operation operation, class Shape>
struct PackedKernel {
  using T = typename V::Compute;
  using Member = typename Kokkos::TeamPolicy<Exec>::member_type;
  using Output = Epilogue<operation, V>;
  using Exp = typename Output::Exp;
  using Run = Chunk<T, Shape::width>;
  using Buffer = Kokkos::View<Run*, typename Exec::scratch_memory_space,
                              Kokkos::MemoryTraits<Kokkos::Unmanaged>>;
  static constexpr int lanes = Shape::threads * Shape::lanes;  // of the team
  static constexpr int rows_per_team = lanes * Shape::rows_per_thread;
  static_assert(rows_per_team % Shape::width == 0, "a run must begin at an aligned address");
  static_assert(std::is_same_v<typename V::X, T> && std::is_same_v<typename V::Y, T>,
                "rows are worked on in the place of their entries");

  KernelArguments<V> arguments;

  KOKKOS_INLINE_FUNCTION void operator()(const Member& member) const {
    const int rank = member.team_rank() * Shape::lanes + lane_number<Shape::lanes>(member);
    const int columns = static_cast<int>(arguments.problem.columns);
    const std::int64_t first =
        arguments.first_row + static_cast<std::int64_t>(member.league_rank()) * rows_per_team;
    const std::int64_t left = arguments.problem.rows - first;
    const int rows = static_cast<int>(left < rows_per_team ? left : rows_per_team);
    const Buffer buffer(member.team_scratch(0), rows_per_team * columns / Shape::width);
    T* const scratch = buffer.data()->entry;

    move(arguments.problem.x + first * columns, scratch, rows * columns, rank);
    member.team_barrier();
    KOKKOSSOFTMAX_IMPL_UNROLL
    for (int k = 0; k < Shape::rows_per_thread; ++k) {
      const int r = rank + k * lanes;
      if (r >= rows) continue;
      T* const row = scratch + r * columns;
      const LogSumExpState<T> state = reduce(row, columns);
      const Output output(state, arguments.empty_rows);
      if constexpr (Output::one_value_a_row)
        arguments.problem.y[(first + r) * arguments.problem.outer[0].y_stride] = output.value;
      else
        for (int j = 0; j < columns; ++j)
          row[j] = output(Output::keeps_weights ? row[j] : arguments.load(row[j]));
    }
    if constexpr (!Output::one_value_a_row) {
      member.team_barrier();
      move(scratch, arguments.problem.y + first * columns, rows * columns, rank);
    }
  }

  static std::size_t scratch_bytes(std::int64_t columns) {
    return Buffer::shmem_size(static_cast<std::size_t>(rows_per_team * columns / Shape::width));
  }

 private:
  /// A row in scratch by one lane.
  KOKKOS_FORCEINLINE_FUNCTION LogSumExpState<T> reduce(T* row, int columns) const {
    T max = -Kokkos::Experimental::infinity_v<T>;
    for (int j = 0; j < columns; ++j) max = larger(max, arguments.load(row[j]));
    LogSumExpState<T> state{Exp::reference(max), T(0)};
    const Exp exp(state.max);
    for (int j = 0; j < columns; ++j) {
      const T weight = exp(arguments.load(row[j]));
      if constexpr (Output::keeps_weights) row[j] = weight;
      state.sum += weight;
    }
    return state;
  }

  /// Whole chunks by all lanes, some at a time on their way; what the last team has left over, one
  /// by one.
  KOKKOS_FORCEINLINE_FUNCTION static void move(const T* from, T* to, int entries, int rank) {
    const auto* source = reinterpret_cast<const Run*>(from);
    auto* target = reinterpret_cast<Run*>(to);
    const int chunks = entries / Shape::width;
    for (int first = rank; first < chunks; first += Shape::items * lanes) {
      Run piece[Shape::items];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < Shape::items; ++i)
        if (first + i * lanes < chunks) piece[i] = source[first + i * lanes];
      KOKKOSSOFTMAX_IMPL_UNROLL
      for (int i = 0; i < Shape::items; ++i)
        if (first + i * lanes < chunks) target[first + i * lanes] = piece[i];
    }
    for (int j = chunks * Shape::width + rank; j < entries; j += lanes) to[j] = from[j];
  }
};

}  // namespace KokkosSoftmax::Impl

#endif
