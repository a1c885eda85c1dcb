// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_THREAD_PER_ROW_ONLINE_HPP
#define KOKKOSSOFTMAXLADDER_THREAD_PER_ROW_ONLINE_HPP

#include <KokkosSoftmaxLadder_Common.hpp>
#include <KokkosSoftmax_LogSumExpState.hpp>

namespace KokkosSoftmaxLadder {

/// One thread per row and two passes: max and sum together in one pass, which rescales the sum
/// whenever the max grows, then write.
template <class Exec, class X, class Y>
void thread_per_row_online(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("thread_per_row_online", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Kokkos::parallel_for(
      "KokkosSoftmaxLadder::thread_per_row_online", Kokkos::RangePolicy<Exec>(exec, 0, rows),
      KOKKOS_LAMBDA(const int row) {
        const T* from = &x(row, 0);
        T* to = &y(row, 0);
        KokkosSoftmax::LogSumExpState<T> state;
        for (int column = 0; column < columns; ++column) state.update(from[column]);
        const T inverse = 1 / state.sum;
        for (int column = 0; column < columns; ++column)
          to[column] = Kokkos::exp(from[column] - state.max) * inverse;
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
