// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrices and potentials of estimators and of optimal transport.
using Exec = Kokkos::DefaultHostExecutionSpace;
const Exec exec;
const int states = 3, samples = 5, m = 3, n = 5;
const double eps = 0.1;
const Kokkos::View<double**, Exec> u("u", states, samples), minus_cost("minus_cost", m, n);
const Kokkos::View<double**, Exec> free_energy("f", states, 1), counts("N", states, 1);
const Kokkos::View<double*, Exec> denominator("denominator", samples);
const Kokkos::View<double*, Exec> f("f", m), g("g", n), row("row", m);
