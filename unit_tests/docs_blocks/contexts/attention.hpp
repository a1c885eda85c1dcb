// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tensor of rank 4 and its operands.
using Exec = Kokkos::DefaultHostExecutionSpace;
const Exec exec;
const int batches = 2, heads = 3, queries = 4, keys = 5;
const Kokkos::View<float****, Exec> scores("scores", batches, heads, queries, keys);
const Kokkos::View<float****, Exec> weights("weights", batches, heads, queries, keys);
const Kokkos::View<float***, Exec> slopes("slopes", heads, queries, keys);
const Kokkos::View<int***, Exec> lengths("lengths", batches, 1, 1);
