// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_HPP
#define KOKKOSSOFTMAXLADDER_HPP

/// \file
/// The ladder: ten ways to compute softmax along the rows of a matrix, from simple to good. They
/// are the baselines that the library is compared with. They support finite entries and -inf; not
/// every step handles other special values.

#include <KokkosSoftmaxLadder_fused_one_row.hpp>
#include <KokkosSoftmaxLadder_fused_persistent.hpp>
#include <KokkosSoftmaxLadder_naive.hpp>
#include <KokkosSoftmaxLadder_online_two_pass.hpp>
#include <KokkosSoftmaxLadder_online_two_pass_reversed.hpp>
#include <KokkosSoftmaxLadder_team_scratch.hpp>
#include <KokkosSoftmaxLadder_team_shuffle.hpp>
#include <KokkosSoftmaxLadder_thread_per_row.hpp>
#include <KokkosSoftmaxLadder_thread_per_row_online.hpp>
#include <KokkosSoftmaxLadder_tiled_three_pass.hpp>
#include <array>
#include <functional>
#include <string_view>

namespace KokkosSoftmaxLadder {

inline constexpr std::size_t step_count = 10;

/// One step of the ladder for Views X and Y on Exec.
template <class Exec, class X, class Y>
struct Step {
  std::string_view name;

  /// y = softmax(x) along the rows, enqueued on exec.
  void (*run)(const Exec& exec, const X& x, const Y& y);

  bool keeps_row_in_scratch = false;

  /// For a step that needs arrays of its own: allocates them, and returns a run() that uses them.
  std::function<void()> (*run_with_workspace)(const Exec&, const X&, const Y&) = nullptr;

  /// Whether run() supports this many rows and columns. If not, run() throws std::invalid_argument.
  bool can_serve(std::int64_t rows, std::int64_t columns, const Exec& exec) const {
    if (rows > INT_MAX || columns > INT_MAX) return false;
    if (rows == 0) return true;  // nothing to do
    return !keeps_row_in_scratch || Impl::row_fits_scratch<typename Y::value_type>(exec, columns);
  }

  /// A run() that allocates nothing in any call.
  std::function<void()> prepare(const Exec& exec, const X& x, const Y& y) const {
    if (run_with_workspace) return run_with_workspace(exec, x, y);
    return [run = run, exec, x, y] { run(exec, x, y); };
  }
};

namespace Impl {

template <class Exec, class X, class Y>
std::function<void()> naive_with_workspace(const Exec& exec, const X& x, const Y& y) {
  const NaiveWorkspace<Exec, typename Y::value_type> workspace(exec, x.extent(0), x.extent(1));
  return [=] { naive(exec, x, y, workspace); };
}

}  // namespace Impl

/// All steps, in the order of the ladder.
template <class Exec, class X, class Y>
std::array<Step<Exec, X, Y>, step_count> steps() {
  return {{
      {"naive", naive<Exec, X, Y>, false, Impl::naive_with_workspace<Exec, X, Y>},
      {"thread_per_row", thread_per_row<Exec, X, Y>},
      {"thread_per_row_online", thread_per_row_online<Exec, X, Y>},
      {"team_scratch", team_scratch<Exec, X, Y>},
      {"team_shuffle", team_shuffle<Exec, X, Y>},
      {"fused_one_row", fused_one_row<Exec, X, Y>, true},
      {"fused_persistent", fused_persistent<Exec, X, Y>, true},
      {"tiled_three_pass", tiled_three_pass<Exec, X, Y>},
      {"online_two_pass", online_two_pass<Exec, X, Y>},
      {"online_two_pass_reversed", online_two_pass_reversed<Exec, X, Y>},
  }};
}

}  // namespace KokkosSoftmaxLadder

#endif
