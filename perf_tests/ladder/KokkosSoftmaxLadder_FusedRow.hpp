// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_FUSEDROW_HPP
#define KOKKOSSOFTMAXLADDER_FUSEDROW_HPP

/// \file
/// The common part of the two fused steps: a row that stays in level-0 scratch, with one read and
/// one write.

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder::Impl {

template <class Exec>
int scratch_limit(const Exec& exec) {
  return static_cast<int>(Kokkos::TeamPolicy<Exec>(exec, 1, Kokkos::AUTO).scratch_size_max(0));
}

/// Whether a row of this many entries of T fits a team's scratch.
template <class T, class Exec>
bool row_fits_scratch(const Exec& exec, std::size_t columns) {
  return ScratchArray<Exec, T>::shmem_size(columns) <=
         static_cast<std::size_t>(scratch_limit(exec));
}

template <class T, class Exec>
void check_row_fits_scratch(const Exec& exec, const std::string& step, std::size_t columns) {
  if (row_fits_scratch<T>(exec, columns)) return;
  throw std::invalid_argument("KokkosSoftmaxLadder::" + step + ": a row of " +
                              std::to_string(columns) + " columns does not fit level-0 scratch (" +
                              std::to_string(scratch_limit(exec)) +
                              " bytes): use a step that reads the row more than once");
}

/// A team with a row in scratch. It has one lane per 80 bytes of the row, so that the teams of a
/// full multiprocessor (2048 lanes) also fit its scratch.
template <class T, class Exec>
TeamWish fused_team(int columns) {
  TeamWish wish = warps_for_row(columns, 80 / sizeof(T), lanes<Exec>, 512);
  wish.scratch_bytes = static_cast<int>(ScratchArray<Exec, T>::shmem_size(columns));
  return wish;
}

/// Softmax of one row. A lane processes the same columns in all three loops, so the row in scratch
/// needs no barrier of its own.
template <class Member, class T>
KOKKOS_INLINE_FUNCTION void fused_row(const Member& team, T* kept, const T* from, T* to,
                                      int columns) {
  const auto row = Kokkos::TeamVectorRange(team, columns);
  T max;
  Kokkos::parallel_reduce(
      row,
      [&](int column, T& m) {
        kept[column] = from[column];
        m = Kokkos::fmax(m, kept[column]);
      },
      Kokkos::Max<T>(max));
  T sum;
  Kokkos::parallel_reduce(
      row,
      [&](int column, T& s) {
        kept[column] = Kokkos::exp(kept[column] - max);
        s += kept[column];
      },
      Kokkos::Sum<T>(sum));
  const T inverse = 1 / sum;
  Kokkos::parallel_for(row, [&](int column) { to[column] = kept[column] * inverse; });
}

}  // namespace KokkosSoftmaxLadder::Impl

#endif
