// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KOKKOSSOFTMAX_SRC_BACKEND_READBACK_HPP
#define KOKKOSSOFTMAX_SRC_BACKEND_READBACK_HPP

#include <backend/Device.hpp>
#include <backend/GraphCapture.hpp>
#include <cstddef>

namespace KokkosSoftmax::Impl {

/// Copies memory of a device to the host as it is now, without waiting for work that runs on the
/// device. Returns false if the copy fails or if the library can't copy in this way from this
/// space.
template <class Exec>
bool read_back([[maybe_unused]] int device, [[maybe_unused]] const void* from,
               [[maybe_unused]] void* to, [[maybe_unused]] std::size_t bytes) {
#if defined(KOKKOS_ENABLE_CUDA)
  if constexpr (is_cuda<Exec>) {
    const AllocationsDuringCapture allowed;
    cudaSetDevice(device);
    cudaStream_t stream = nullptr;  // doesn't wait for any other stream
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) return false;
    const bool is_read =
        cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream) == cudaSuccess &&
        cudaStreamSynchronize(stream) == cudaSuccess;
    cudaStreamDestroy(stream);
    return is_read;
  }
#endif
  return false;
}

}  // namespace KokkosSoftmax::Impl

#endif
