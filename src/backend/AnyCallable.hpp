// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_ANYCALLABLE_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_ANYCALLABLE_HPP

/// \file
/// Function templates for hosts and devices that call what they are given.

// Stands before a function template that calls one of its arguments. The argument may be a function
// for hosts alone if the caller is one, too. nvcc would warn of each such call.
#if defined(__NVCC__)
#define KOKKOSSOFTMAX_IMPL_ANY_CALLABLE _Pragma("nv_exec_check_disable")
#else
#define KOKKOSSOFTMAX_IMPL_ANY_CALLABLE
#endif

#endif
