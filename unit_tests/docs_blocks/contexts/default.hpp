// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What blocks of the pages use without a declaration, unless they name another context.
using Exec = Kokkos::DefaultHostExecutionSpace;
const Exec exec;
const int m = 1000, n = 500, steps = 10;
const Kokkos::View<double**, Exec> x("x", m, n), y("y", m, n);
const Kokkos::View<double*, Exec> lse("lse", m), max("max", m);
