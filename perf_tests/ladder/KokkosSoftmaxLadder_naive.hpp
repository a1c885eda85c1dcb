// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_NAIVE_HPP
#define KOKKOSSOFTMAXLADDER_NAIVE_HPP

#include <KokkosSoftmaxLadder_Common.hpp>

namespace KokkosSoftmaxLadder {

/// The intermediate arrays of `naive`. A benchmark can allocate them beforehand, as the memory pool
/// of an array library would.
template <class Exec, class T>
struct NaiveWorkspace {
  Kokkos::View<T*, Exec> max, sum;
  Kokkos::View<T**, Kokkos::LayoutRight, Exec> shifted, exponentials;

  NaiveWorkspace(const Exec& exec, std::size_t rows, std::size_t columns)
      : max(uninitialized(exec, "max"), rows),
        sum(uninitialized(exec, "sum"), rows),
        shifted(uninitialized(exec, "shifted"), rows, columns),
        exponentials(uninitialized(exec, "exponentials"), rows, columns) {}

 private:
  static auto uninitialized(const Exec& exec, const char* name) {
    return Kokkos::view_alloc(exec, Kokkos::WithoutInitializing,
                              std::string("KokkosSoftmaxLadder::naive::") + name);
  }
};

namespace Impl {

/// One value per row: one team per row, with coalesced reads.
template <class Reducer, class Exec, class A, class R>
void naive_reduce_rows(const Exec& exec, const std::string& step, const A& a, const R& result) {
  const int columns = static_cast<int>(a.extent(1));
  run_teams(
      exec, step, static_cast<int>(a.extent(0)), warps_for_row(columns, 8, lanes<Exec>),
      KOKKOS_LAMBDA(const Member<Exec>& team) {
        const auto* row = &a(team.league_rank(), 0);
        typename R::value_type value;
        const Reducer reducer(value);
        Kokkos::parallel_reduce(
            Kokkos::TeamVectorRange(team, columns),
            [&](int column, typename R::value_type& partial) {
              reducer.join(partial, row[column]);
            },
            reducer);
        Kokkos::single(Kokkos::PerTeam(team), [&] { result(team.league_rank()) = value; });
      });
}

/// All elements, in tiles of up to 256 neighbours of a row, so that a GPU's accesses are coalesced.
template <class Exec, class A, class Kernel>
void naive_each_element(const Exec& exec, const std::string& step, const A& a,
                        const Kernel& kernel) {
  using Policy =
      Kokkos::MDRangePolicy<Exec, Kokkos::Rank<2, Kokkos::Iterate::Right, Kokkos::Iterate::Right>,
                            Kokkos::IndexType<std::int64_t>>;
  const auto rows = static_cast<std::int64_t>(a.extent(0));
  const auto columns = static_cast<std::int64_t>(a.extent(1));
  const auto tile_columns =
      static_cast<std::int64_t>(std::bit_ceil(std::min<std::uint64_t>(columns, 256)));
  Kokkos::parallel_for("KokkosSoftmaxLadder::" + step,
                       Policy(exec, {0, 0}, {rows, columns}, {256 / tile_columns, tile_columns}),
                       kernel);
}

}  // namespace Impl

/// Softmax as an array library would compute it: one kernel per step, each with its own array.
template <class Exec, class X, class Y>
void naive(const Exec& exec, const X& x, const Y& y,
           const NaiveWorkspace<Exec, typename Y::value_type>& workspace) {
  Impl::check_operands("naive", x, y);
  if (Impl::is_empty(x)) return;
  using T = typename Y::value_type;
  const auto max = workspace.max, sum = workspace.sum;
  const auto shifted = workspace.shifted, exponentials = workspace.exponentials;

  Impl::naive_reduce_rows<Kokkos::Max<T>>(exec, "naive[max]", x, max);
  Impl::naive_each_element(
      exec, "naive[subtract]", x,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { shifted(i, j) = x(i, j) - max(i); });
  Impl::naive_each_element(
      exec, "naive[exp]", x, KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) {
        exponentials(i, j) = Kokkos::exp(shifted(i, j));
      });
  Impl::naive_reduce_rows<Kokkos::Sum<T>>(exec, "naive[sum]", exponentials, sum);
  Impl::naive_each_element(
      exec, "naive[divide]", x,
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t j) { y(i, j) = exponentials(i, j) / sum(i); });
}

/// The same with arrays that are allocated for this call.
template <class Exec, class X, class Y>
void naive(const Exec& exec, const X& x, const Y& y) {
  naive(exec, x, y, NaiveWorkspace<Exec, typename Y::value_type>(exec, x.extent(0), x.extent(1)));
}

}  // namespace KokkosSoftmaxLadder

#endif
