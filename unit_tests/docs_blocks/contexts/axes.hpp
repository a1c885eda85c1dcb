// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor of which two axes are reduced together.
using Exec = Kokkos::DefaultHostExecutionSpace;
const Exec exec;
const Kokkos::View<double***, Exec> x("x", 10, 20, 30), y("y", 10, 20, 30);
const Kokkos::View<double*, Exec> of_batches("of_batches", 10);
