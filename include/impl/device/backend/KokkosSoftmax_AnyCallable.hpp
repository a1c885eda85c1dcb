// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_ANYCALLABLE_HPP
#define KOKKOSSOFTMAX_IMPL_DEVICE_BACKEND_ANYCALLABLE_HPP

/// \file
/// A macro for function templates that call one of their arguments.

// Stands before such a template if it is for hosts and devices. The argument may be a function for
// hosts alone if the caller is one, too; without the macro, nvcc warns of each such call.
#if defined(__NVCC__)
#define KOKKOSSOFTMAX_IMPL_ANY_CALLABLE _Pragma("nv_exec_check_disable")
#else
#define KOKKOSSOFTMAX_IMPL_ANY_CALLABLE
#endif

#endif
