// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_HPP
#define KOKKOSSOFTMAX_HPP

/// \file
/// Includes the whole C++ interface: softmax, log_softmax and logsumexp along an axis of a View,
/// logsumexp along both axes of a matrix, backward passes, plans, the cross entropy, the functions
/// for ragged rows, calls of one row inside kernels, the state and the reducer that compute a
/// log-sum-exp inside any Kokkos reduction, and the version.

/// \namespace KokkosSoftmax
/// The whole C++ interface:
/// - \ref softmax
/// - \ref logsumexp, also along both axes of a matrix
/// - \ref backward
/// - \ref cross_entropy
/// - \ref segments
/// - \ref plans
/// - \ref options
/// - \ref operands
/// - \ref in_kernel_calls
/// - \ref in_a_kernel
/// - \ref version

#include <KokkosSoftmax_Backward.hpp>
#include <KokkosSoftmax_BackwardPlan.hpp>
#include <KokkosSoftmax_BothAxes.hpp>
#include <KokkosSoftmax_CrossEntropy.hpp>
#include <KokkosSoftmax_InKernel.hpp>
#include <KokkosSoftmax_LogSumExp.hpp>
#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Operands.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <KokkosSoftmax_Plan.hpp>
#include <KokkosSoftmax_Segments.hpp>
#include <KokkosSoftmax_Softmax.hpp>
#include <KokkosSoftmax_Version.hpp>

#endif
