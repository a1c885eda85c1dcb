// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operands of a matrix.
#include "default.hpp"
const Kokkos::View<double*, Exec> bias("bias", n), u("u", m), v("v", n);
const Kokkos::View<bool*, Exec> mask("mask", n), row_mask("row_mask", m);
const Kokkos::View<int*, Exec> lengths("lengths", m);
