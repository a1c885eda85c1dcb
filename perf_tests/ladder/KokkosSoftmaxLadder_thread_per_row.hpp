// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_THREAD_PER_ROW_HPP
#define KOKKOSSOFTMAXLADDER_THREAD_PER_ROW_HPP

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder {

/// One kernel with one thread per row and three passes over the row: max, sum, write. A first port
/// of a serial loop looks like this. On a GPU, the addresses that neighbouring threads read differ
/// by a row's length.
template <class Exec, class X, class Y>
void thread_per_row(const Exec& exec, const X& x, const Y& y) {
  Impl::check_operands("thread_per_row", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const int rows = static_cast<int>(x.extent(0)), columns = static_cast<int>(x.extent(1));
  Kokkos::parallel_for(
      "KokkosSoftmaxLadder::thread_per_row", Kokkos::RangePolicy<Exec>(exec, 0, rows),
      KOKKOS_LAMBDA(const int row) {
        const T* from = &x(row, 0);
        T* to = &y(row, 0);
        T max = from[0];
        for (int column = 1; column < columns; ++column) max = Kokkos::fmax(max, from[column]);
        T sum = 0;
        for (int column = 0; column < columns; ++column) sum += Kokkos::exp(from[column] - max);
        const T inverse = 1 / sum;
        for (int column = 0; column < columns; ++column)
          to[column] = Kokkos::exp(from[column] - max) * inverse;
      });
}

}  // namespace KokkosSoftmaxLadder

#endif
