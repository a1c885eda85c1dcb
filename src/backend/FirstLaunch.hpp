// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_FIRSTLAUNCH_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_FIRSTLAUNCH_HPP

/// \file
/// What Kokkos does before the first kernel of each translation unit. For CUDA, it copies the
/// addresses of locks (for atomics) to constants of the unit, on the legacy stream. While a stream
/// that synchronizes with the legacy stream is being captured, such a copy ends the capture with an
/// error.

#include <Kokkos_Core.hpp>
#include <backend/Device.hpp>
#include <backend/GraphCapture.hpp>

#if defined(KOKKOS_ENABLE_CUDA)
#include <atomic>
#include <stdexcept>
#endif

namespace KokkosSoftmax::Impl {

#if defined(KOKKOS_ENABLE_CUDA)
/// Whether a stream that synchronizes with the legacy stream is being captured.
inline bool legacy_stream_is_blocked() {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(cudaStreamLegacy, &status) != cudaErrorStreamCaptureImplicit)
    return false;
  cudaGetLastError();
  return true;
}

/// Prepares the translation unit that calls it. Each unit has this function once, as it has the
/// function of Kokkos.
static inline void prepare_unit([[maybe_unused]] const Kokkos::Cuda& exec) {
#if !defined(DESUL_ATOMICS_ENABLE_CUDA_SEPARABLE_COMPILATION)
  static std::atomic<bool> is_prepared = false;
  if (is_prepared.load(std::memory_order_acquire)) return;
  cudaSetDevice(exec.cuda_device());
  if (legacy_stream_is_blocked())
    throw std::runtime_error(
        "KokkosSoftmax: the first call of a function for a type can't be made now (a stream that "
        "synchronizes with CUDA's default stream is being captured, and Kokkos copies to the "
        "device before its first kernel): make the same call before the capture, or create the "
        "stream with cudaStreamNonBlocking, see docs/graphs.md");
  const AllocationsDuringCapture allowed;
  desul::ensure_cuda_lock_arrays_on_device();
  is_prepared.store(true, std::memory_order_release);
#endif
}
#endif

/// Call it in functions that are compiled in one unit of the library alone, before they launch
/// kernels. Throws std::runtime_error if a capture would end with an error.
template <class Exec>
static void prepare_first_launch([[maybe_unused]] const Exec& exec) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<Exec>) prepare_unit(exec);
#endif
}

}  // namespace KokkosSoftmax::Impl

#endif
