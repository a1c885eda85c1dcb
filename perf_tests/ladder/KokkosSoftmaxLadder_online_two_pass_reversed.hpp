// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAXLADDER_ONLINE_TWO_PASS_REVERSED_HPP
#define KOKKOSSOFTMAXLADDER_ONLINE_TWO_PASS_REVERSED_HPP

#include <KokkosSoftmaxLadder_OnlineRow.hpp>

namespace KokkosSoftmaxLadder {

/// online_two_pass with the second pass backwards, which first reads what the first pass left in
/// the cache.
template <class Exec, class X, class Y>
void online_two_pass_reversed(const Exec& exec, const X& x, const Y& y) {
  Impl::run_online</*Backwards=*/true>(exec, "online_two_pass_reversed", x, y);
}

}  // namespace KokkosSoftmaxLadder

#endif
