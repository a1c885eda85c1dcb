// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_ONLINE_TWO_PASS_HPP
#define KOKKOSSOFTMAXLADDER_ONLINE_TWO_PASS_HPP

#include <KokkosSoftmaxLadder_OnlineRow.hpp>

namespace KokkosSoftmaxLadder {

/// One large team per row, two passes in tiles: max and sum together, then write.
template <class Exec, class X, class Y>
void online_two_pass(const Exec& exec, const X& x, const Y& y) {
  Impl::run_online</*Backwards=*/false>(exec, "online_two_pass", x, y);
}

}  // namespace KokkosSoftmaxLadder

#endif
