// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reduction with LogSumExp.
#include "default.hpp"
using State = KokkosSoftmax::LogSumExpState<double>;
State all;
const auto add = KOKKOS_LAMBDA(int i, State& state) { state.update(lse(i)); };
