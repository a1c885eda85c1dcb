// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scores of the neighbours of atoms.
const Kokkos::DefaultExecutionSpace exec;
const int atoms = 4, heads = 2, neighbours = 5;
const Kokkos::View<float***> x("x", atoms, heads, neighbours);
const Kokkos::View<double**> energies("energies", atoms, neighbours);
const Kokkos::View<int*> lengths("lengths", atoms);
const Kokkos::View<double*> free_energy("free_energy", atoms);
