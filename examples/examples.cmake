# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The examples, for scripts that build and run all of them. Each is a project in the folder of its name. Its program
# has the same name and returns 0 if its answer is right (see README.md).
set(KokkosSoftmax_EXAMPLES mbar sinkhorn hmm mixture graph)
# these also need Kokkos Kernels
set(KokkosSoftmax_KERNELS_EXAMPLES digits)
# these need a Fortran compiler
set(KokkosSoftmax_FORTRAN_EXAMPLES fortran)
