// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_HPP
#define KOKKOSSOFTMAX_HPP

/// \file
/// Everything: softmax, log_softmax and logsumexp along an axis of a View, and the state and
/// reducer that compute a log-sum-exp inside any Kokkos reduction; plans of these functions; the
/// version.

/// \namespace KokkosSoftmax
/// All of the C++ interface: \ref softmax, \ref logsumexp, \ref plans, \ref options,
/// \ref in_a_kernel.

#include <KokkosSoftmax_LogSumExp.hpp>
#include <KokkosSoftmax_LogSumExpState.hpp>
#include <KokkosSoftmax_Options.hpp>
#include <KokkosSoftmax_Plan.hpp>
#include <KokkosSoftmax_Softmax.hpp>
#include <KokkosSoftmax_Version.hpp>

#endif
