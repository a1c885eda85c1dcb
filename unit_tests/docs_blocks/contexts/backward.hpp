// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivatives of a loss by the output and by the input of a function.
#include "default.hpp"
const Kokkos::View<double**, Exec> log_y("log_y", m, n), dy("dy", m, n), dx("dx", m, n);
