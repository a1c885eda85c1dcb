# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# The examples, for scripts that build and run them all: each is a project in the folder of its name,
# with a program of the same name that returns 0 if its answer is right (see README.md).
set(KokkosSoftmax_EXAMPLES mbar sinkhorn hmm)
# these need Kokkos Kernels, too
set(KokkosSoftmax_KERNELS_EXAMPLES digits)
# and these a Fortran compiler
set(KokkosSoftmax_FORTRAN_EXAMPLES fortran)
