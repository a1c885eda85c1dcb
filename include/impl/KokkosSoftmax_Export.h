/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef KOKKOSSOFTMAX_IMPL_EXPORT_H
#define KOKKOSSOFTMAX_IMPL_EXPORT_H

/// \file
/// KOKKOSSOFTMAX_EXPORT marks the functions that a shared library exports; everything else in it is
/// hidden. For C and C++.

#if defined(__GNUC__) && !defined(_WIN32)
#define KOKKOSSOFTMAX_EXPORT __attribute__((visibility("default")))
#else
#define KOKKOSSOFTMAX_EXPORT
#endif

#endif
