// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_NOFASTMATH_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_NOFASTMATH_HPP

/// \file
/// Refuses to compile the library with -ffast-math. Programs that use it may be compiled so: the
/// functions that they call on a host are compiled in src/.

#if defined(__FAST_MATH__)
#error \
    "KokkosSoftmax: -ffast-math breaks infinities, NaN and compensated sums: build src/ without it"
#endif

#endif
